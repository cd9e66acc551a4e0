"""The folder that the writer fills: opened, made anew, filled again after damage, taken over from a rebuild."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from askwiki.errors import StoreError, StoreMismatch
from askwiki.store.embedded.edge import EdgeEngine
from askwiki.store.embedded.files import PRIVATE_FOLDER, read_json, write_text
from askwiki.store.embedded.manifest import FILE as MANIFEST
from askwiki.store.embedded.manifest import damage
from askwiki.store.embedded.restore import refill
from askwiki.store.embedded.room import CREATING, OPENING, NoRoom, ask_for_room, fill_holes
from askwiki.store.fingerprint import check_fingerprint, dense_sizes, uses_idf

WRITER, BUILDING = "writer", "building"


def open_folder(root: Path, folder: Path, fingerprint: Mapping[str, Any], *, rebuild: bool) -> EdgeEngine:
    """The fingerprint is written last: a folder without one is the rest of a creation that was cut off."""
    try:
        found = read_json(folder / "fingerprint.json")
        if found and not rebuild:
            check_fingerprint(found, fingerprint)
        if found == fingerprint:
            return load_folder(folder)
        why = "it is not there"
    except (StoreMismatch, NoRoom):
        raise
    except StoreError as error:
        why = str(error)
    return _new_folder(root, folder, fingerprint, "" if rebuild else why)


def load_folder(folder: Path) -> EdgeEngine:
    """StoreError when something in it has changed since it was closed. A crash leaves no manifest, but the log."""
    if problem := damage(folder):
        raise StoreError(f"{folder} of the index is damaged ({problem}).")
    ask_for_room(folder, OPENING, "open the index for writing")
    fill_holes(folder, "open the index for writing")
    (folder / MANIFEST).unlink(missing_ok=True)
    return EdgeEngine.load(folder / "shard")


def adopt_complete(root: Path) -> None:
    """A rebuilt folder takes the writer's place; cut off at any moment, the next writer ends it."""
    building = root / BUILDING
    if (building / "complete").exists():
        (root / "dirty").touch()
        shutil.rmtree(root / WRITER, ignore_errors=True)
        building.rename(root / WRITER)
    if (root / WRITER / "complete").exists():
        (root / WRITER / "complete").unlink()


def _new_folder(root: Path, folder: Path, fingerprint: Mapping[str, Any], lost: str) -> EdgeEngine:
    """Empty for a rebuild, else with what the version in force holds. ``lost``: why the folder cannot be used."""
    ask_for_room(root, CREATING, "make a new index")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=PRIVATE_FOLDER)
    engine = EdgeEngine.create(folder / "shard", dense_sizes(fingerprint), idf=uses_idf(fingerprint))
    try:
        if lost:
            refill(root, engine, fingerprint, lost)
        write_text(folder / "fingerprint.json", json.dumps(fingerprint, ensure_ascii=False, indent=1))
    except (OSError, StoreError):
        engine.close()
        raise
    return engine
