"""A writer's folder that was lost or damaged is filled again from the version in force: no model is asked."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from askwiki.errors import StoreError
from askwiki.store.embedded.edge import EdgeEngine
from askwiki.store.embedded.files import read_json
from askwiki.store.embedded.locks import private_copy
from askwiki.store.embedded.room import WRITING, ask_for_room, taken
from askwiki.store.embedded.runs import compare_again
from askwiki.store.embedded.versions import read_pointer
from askwiki.store.engine import Scroll, Upsert, Where
from askwiki.store.fingerprint import check_fingerprint

TOGETHER = 256  # points a write

logger = logging.getLogger(__name__)


def refill(root: Path, engine: EdgeEngine, fingerprint: Mapping[str, Any], why: str) -> None:
    """Every point of the version in force, where there is one; sources are then compared in full.

    Point by point: the log of the lost folder numbered its operations, so its files cannot simply be copied back.
    StoreError when that version cannot be read either: other sources' pages would be gone without a word.
    """
    try:
        pointer = read_pointer(root)
        if not pointer.number:
            compare_again(root)
            return
        copy = private_copy(root, pointer)
    except (StoreError, FileNotFoundError) as error:
        raise StoreError(
            f"The writer's folder of the index in {root} cannot be used ({why}), and neither can the version in "
            f"force ({error}). Run: python -m indexer rebuild"
        ) from error
    try:
        check_fingerprint(read_json(copy.folder / "fingerprint.json"), fingerprint)
        ask_for_room(root, 2 * taken(copy.folder) + WRITING, "fill the writer's folder again")
        logger.warning("the writer's folder is filled again from version %s: %s", pointer.number, why)
        source = EdgeEngine.load(copy.folder / "shard")
        rows = source.scroll(Scroll(Where({}), vectors=True))
        while some := list(itertools.islice(rows, TOGETHER)):
            engine.write([Upsert(some)])
        source.close()
    finally:
        copy.discard()
    compare_again(root)
