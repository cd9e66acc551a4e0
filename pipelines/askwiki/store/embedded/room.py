"""Whether a disk has the room that the engine will take: it maps its files, and a full disk then ends the process.

A write into a mapped file that finds no block is SIGBUS, not an error. So everything that makes the engine take
blocks is preceded by a look at the room, and where the mere reading of a hole takes a block (tmpfs), the holes are
filled by asking the system for the blocks, which fails as an error does. Measured with qdrant-edge 0.9: a new shard
takes 28 MB on tmpfs (0.2 MB on ext4), loading one fills its holes on tmpfs (150 MB) and takes 1 MB on ext4.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import tempfile
from pathlib import Path

from askwiki.errors import StoreError
from askwiki.store.embedded.files import LOG

MEGABYTE = 1_000_000
CREATING = 48 * MEGABYTE  # a new shard with its indexes, and something to begin with
OPENING = 16 * MEGABYTE  # what loading writes: the log's first pages, journals
WRITING = 24 * MEGABYTE  # kept free beyond the data: the engine's indexes grow in steps, closing writes too
_BLOCK = 512  # bytes; the unit of st_blocks


class NoRoom(StoreError):
    """The disk is too full for what was asked; nothing was begun."""


def free_room(folder: Path) -> int | None:
    """Bytes that may still be written here; None where the file system does not say."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize if found.f_blocks else None


def ask_for_room(folder: Path, needed: int, purpose: str) -> None:
    """NoRoom when fewer than ``needed`` bytes are free. ``purpose`` ends the sentence: "to …"."""
    there = free_room(folder)
    if there is not None and there < needed:
        raise _no_room(folder, there, needed, purpose)


def taken(folder: Path, *, without: tuple[str, ...] = ()) -> int:
    """Bytes that the files below take on the disk, holes left out; ``without``: beginnings of names to leave out.

    A file that goes meanwhile takes nothing: the engine makes and removes some of its own accord.
    """
    total = 0
    for path in _files(folder):
        if not path.name.startswith(without):
            with contextlib.suppress(FileNotFoundError):
                total += _BLOCK * path.stat().st_blocks
    return total


def fill_holes(folder: Path, purpose: str) -> None:
    """Where reading a hole takes a block, take all of them now; elsewhere nothing happens."""
    if not holes_cost(folder):
        return
    files = [(path, path.stat()) for path in _files(folder) if LOG not in path.parts]  # the log grows page by page
    holes = sum(max(state.st_size - _BLOCK * state.st_blocks, 0) for _, state in files)
    ask_for_room(folder, holes + OPENING, purpose)
    for path, state in files:
        if state.st_size > _BLOCK * state.st_blocks:
            _solid(path, state, folder, purpose)


def holes_cost(folder: Path) -> bool:
    """Whether a hole that is read through a mapping takes a block here; found by trying it."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.truncate(2 * mmap.PAGESIZE)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            before = os.fstat(file.fileno()).st_blocks
            there = free_room(folder)
            if there is not None and there < 2 * mmap.PAGESIZE:  # trying it might be what it is to prevent
                return True
            return mapped[mmap.PAGESIZE] != 0 or os.fstat(file.fileno()).st_blocks > before


def _solid(path: Path, state: os.stat_result, folder: Path, purpose: str) -> None:
    """The same content without holes; its times stay."""
    try:
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, state.st_size)
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise _no_room(folder, free_room(folder) or 0, state.st_size, purpose) from error


def _no_room(folder: Path, there: int, needed: int, purpose: str) -> NoRoom:
    return NoRoom(
        f"The disk of {folder} has {there / MEGABYTE:.0f} MB free, and {needed / MEGABYTE:.0f} MB are needed "
        f"to {purpose}. Make room and try again; nothing was changed."
    )


def _files(folder: Path) -> list[Path]:
    return [Path(here, name) for here, _, names in os.walk(folder) for name in names]
