"""A file that an admin edits: read again when it has changed, and kept as it was while it is invalid."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from askwiki.errors import SettingsError

logger = logging.getLogger(__name__)
T = TypeVar("T")
Stamp = tuple[int, int, int]  # time of the last change (ns), bytes, inode

LOOK_SECONDS = 2.0  # between two looks at the file's time stamp


class Watched(Generic[T]):
    """What ``read`` makes of the file, or ``start`` where there is none. Thread-safe."""

    def __init__(
        self,
        start: T,
        read: Callable[[Path], T],
        file: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        strict: bool = True,
    ) -> None:
        """``strict`` raises SettingsError when the file is there and invalid; else it is as one that breaks later."""
        self._file, self._read, self._clock = file, read, clock
        self._lock = threading.Lock()
        self._stamp, self._looked = stamp(file), clock()
        self._content = start
        if file and file.exists():
            try:
                self._content = read(file)
            except SettingsError as error:
                if strict:
                    raise
                logger.error("Nothing of it is in force until it is mended: %s", error)

    def get(self) -> T:
        """The content, at most ``LOOK_SECONDS`` old."""
        now = self._clock()
        if self._file is None or now - self._looked < LOOK_SECONDS:
            return self._content
        with self._lock:
            self._looked = now
            state = stamp(self._file)
            if state != self._stamp:
                self._stamp = state
                try:
                    self._content = self._read(self._file)
                    logger.info("%s was read again", self._file)
                except SettingsError as error:
                    logger.error("It stays as it was: %s", error)
        return self._content


def stamp(file: Path | None) -> Stamp | None:
    """What changes with the file; None where there is none."""
    try:
        status = file.stat() if file else None
    except OSError:
        status = None
    return (status.st_mtime_ns, status.st_size, status.st_ino) if status else None
