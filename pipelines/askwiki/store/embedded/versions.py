"""The folders of the embedded store: one the writer owns, published versions, private copies.

    writer/shard/  + fingerprint.json    only the one writer opens it
    building/shard + fingerprint.json    a rebuild in progress, becomes ``writer``
    versions/N/shard + fingerprint.json  published, opened by nobody
    current                              the number of the version in force
    readers/…/ + ….lock                  each reader's own copy of a version
    dirty                                the writer's folder holds more than the version in force
    runs.json                            the last successful run of every source
    calibration.json                     what confidence is measured by
    writer.lock                          held as long as a writer is open

``manifest.json`` beside a fingerprint says what a closed folder holds (see ``manifest``).

The engine locks its folder and touches files when it merely loads them, so no two processes ever
share one. A private copy costs milliseconds: the big files, which only insertions change, are hard
links. The engine's files are full of holes (its log alone claims 64 MB), so copying keeps holes.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from askwiki.errors import StoreError
from askwiki.store.embedded.files import PRIVATE_FOLDER, copy_shard, write_text
from askwiki.store.embedded.manifest import FILE as MANIFEST
from askwiki.store.embedded.manifest import content_of, damage, write_manifest
from askwiki.store.embedded.room import WRITING, ask_for_room

AGAIN = "run: python -m indexer sync"  # it publishes a version that is lost or damaged once more
NOTHING = "nothing was published yet"
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")
_POINTER_BYTES = 100  # more is no pointer


@dataclass(frozen=True, slots=True)
class Pointer:
    """Which version is in force and when that was written; no number when there is no index yet."""

    number: str = ""
    written: int = 0  # nanoseconds; tells a version that was published again from the one before


def read_pointer(root: Path) -> Pointer:
    """StoreError when the pointer is lost or holds something else than a number."""
    path = root / "current"
    try:
        with path.open("rb") as file:
            number = file.read(_POINTER_BYTES).decode("ascii", "replace").strip()
            written = os.fstat(file.fileno()).st_mtime_ns
    except FileNotFoundError:
        if _numbers(root):
            raise StoreError(f"The index in {root} does not say which version is in force; {AGAIN}") from None
        return Pointer()
    except IsADirectoryError:
        number = ""
    except OSError as error:
        raise StoreError(f"The index folder {root} cannot be read: {error.strerror}.") from error
    if not _NUMBER.fullmatch(number):
        raise StoreError(f"{path} of the index is damaged: it names no version; {AGAIN}")
    return Pointer(number, written)


def publish(root: Path, folder: Path) -> None:
    """Copy the closed ``folder`` to a new version, then point to it in one step."""
    ask_for_room(root, content_of(folder) + WRITING, "publish the index")
    versions = root / "versions"
    versions.mkdir(exist_ok=True, mode=PRIVATE_FOLDER)
    number = max(_numbers(root) | _pointed(root) | {0}) + 1
    unfinished = versions / f"{number}.part"
    try:
        copy_shard(folder, unfinished, link=False)
        write_manifest(unfinished)
        unfinished.rename(versions / str(number))
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    if (root / "current").is_dir():  # nothing of ours; a file cannot take its place
        _remove(root / "current")
    write_text(root / "current", f"{number}\n")
    for path in versions.iterdir():
        if path.name != str(number):
            _remove(path)


def lost(root: Path) -> str:
    """Why the version in force cannot be read, or is not sure to be whole. Empty when it is; NOTHING: there is none.

    A version of an older askwiki has no manifest: it is published again once.
    """
    try:
        number = read_pointer(root).number
    except StoreError as error:
        return str(error)
    folder = root / "versions" / number
    if number and not (folder / MANIFEST).is_file():
        return f"version {number} is not there or has no manifest"
    return damage(folder) if number else NOTHING


def _numbers(root: Path) -> set[int]:
    """Published versions, in force or not."""
    with contextlib.suppress(OSError):
        return {int(path.name) for path in (root / "versions").iterdir() if _NUMBER.fullmatch(path.name)}
    return set()


def _pointed(root: Path) -> set[int]:
    """A number that was used is not used again, also when its version was lost."""
    with contextlib.suppress(StoreError):
        return {int(number) for number in [read_pointer(root).number] if number}
    return set()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
