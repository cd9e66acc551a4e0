"""The version of the embedded index that a process reads: opened, kept while a newer one cannot be, let go."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from askwiki.errors import StoreError
from askwiki.store.embedded.calibration import read_calibration
from askwiki.store.embedded.edge import EdgeEngine, EnginePanic
from askwiki.store.embedded.files import read_json
from askwiki.store.embedded.locks import PrivateCopy, private_copy
from askwiki.store.embedded.runs import read_runs
from askwiki.store.embedded.versions import AGAIN, Pointer, read_pointer
from askwiki.store.fingerprint import dense_sizes
from askwiki.store.port import Freshness
from askwiki.store.reader import RecordReader
from askwiki.system.memory import give_back

ATTEMPTS = 20  # to copy a version while an indexer publishes newer ones
TRY_AGAIN = 10.0  # seconds until a version that could not be opened is tried again; a newer one is at once
Result = TypeVar("Result")

logger = logging.getLogger(__name__)


class Opened:
    """One version as this process reads it; its copy goes when the last user lets go."""

    def __init__(self, pointer: Pointer, copy: PrivateCopy) -> None:
        self.pointer = pointer
        try:
            self.fingerprint = read_json(copy.folder / "fingerprint.json")
            engine = EdgeEngine.load(copy.folder / "shard")
        except StoreError:
            copy.discard()
            raise
        self.records = RecordReader(engine, immutable=True, vectors=dense_sizes(self.fingerprint))
        weakref.finalize(self, _let_go, engine, copy)


class InForce:
    """Thread-safe. Answers go on from the version that is open while the disk is full or the newer one is damaged."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._opened: Opened | None = None
        self._failed: tuple[Pointer, float, StoreError] | None = None  # which, until when, why

    def ask(self, call: Callable[[RecordReader], Result], empty: Result) -> Result:
        opened = self.current()
        if opened is None:
            return empty
        try:
            return call(opened.records)
        except EnginePanic:
            self.drop(opened)
            raise

    def fingerprint(self) -> Mapping[str, Any]:
        opened = self.current()
        return opened.fingerprint if opened else {}

    def freshness(self) -> list[Freshness]:
        return read_runs(self._root)

    def calibration(self) -> Mapping[str, Any]:
        return read_calibration(self._root)

    def whole(self) -> bool:
        """A folder's index is published when it is whole."""
        return True

    def current(self) -> Opened | None:
        """A version still in use by another thread stays open until that thread lets go of it."""
        opened = self._opened
        if opened is not None and self._points_to(opened):
            return opened
        with self._lock:
            try:
                self._move_on()
            except StoreError:
                if self._opened is None:
                    raise
            return self._opened

    def drop(self, opened: Opened) -> None:
        """Open this version anew before the next question."""
        with self._lock:
            if self._opened is opened:
                self._opened = None

    def close(self) -> None:
        with self._lock:
            self._opened = None

    def _points_to(self, opened: Opened) -> bool:
        try:
            return read_pointer(self._root) == opened.pointer
        except StoreError:
            return False

    def _move_on(self) -> None:
        pointer = read_pointer(self._root)
        if not pointer.number or (self._opened is not None and self._opened.pointer == pointer):
            return
        if self._failed and self._failed[0] == pointer and time.monotonic() < self._failed[1]:
            raise self._failed[2]
        try:
            self._opened, self._failed = _open_version(self._root), None
        except StoreError as error:
            self._failed = pointer, time.monotonic() + TRY_AGAIN, error
            if self._opened is not None:
                logger.error("answers go on from version %s of the index: %s", self._opened.pointer.number, error)
            raise


def _let_go(engine: EdgeEngine, copy: PrivateCopy) -> None:
    with contextlib.suppress(StoreError):  # nothing of a reader's copy is worth keeping
        engine.close()
    copy.discard()
    give_back()  # else each new version leaves the room of an old one taken


def _open_version(root: Path) -> Opened:
    for _ in range(ATTEMPTS):
        pointer = read_pointer(root)
        try:
            return Opened(pointer, private_copy(root, pointer))
        except FileNotFoundError:  # replaced between reading the pointer and copying
            continue
        except OSError as error:
            raise StoreError(f"The index in {root} cannot be opened: {error.strerror}.") from error
    raise StoreError(f"The index in {root} points to version {pointer.number}, which is not there; {AGAIN}")
