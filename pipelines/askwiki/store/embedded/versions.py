"""The folders of the embedded store: one the writer owns, published versions, private copies.

    writer/shard/  + fingerprint.json    only the one writer opens it
    building/shard + fingerprint.json    a rebuild in progress, becomes ``writer``
    versions/N/shard + fingerprint.json  published, opened by nobody
    current                              the number of the version in force
    readers/…/ + ….lock                  each reader's own copy of a version
    dirty                                the writer's folder holds more than the version in force
    runs.json                            the last successful run of every source
    writer.lock                          held as long as a writer is open

The engine locks its folder and touches files when it merely loads them, so no two processes ever
share one. A private copy costs milliseconds: the big files, which only insertions change, are hard
links. The engine's files are full of holes (its log alone claims 64 MB), so copying keeps holes.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from askwiki.errors import StoreError

# The engine's log: nothing in it is needed to read a closed shard. A shard that is written must keep it, though:
# operations are numbered by it, and after a crash those with a number below the shard's own are not repeated.
LOG = "wal"
_NEVER_REWRITTEN = ("chunk_", "page_")  # vectors and payloads: only a writer changes these files
PRIVATE, PRIVATE_FOLDER = 0o600, 0o700  # modes of files and of the folder: for the account of the index only
_ANEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_BLOCK = 1 << 24  # bytes copied at once


def read_pointer(root: Path) -> str:
    """The number of the version in force, empty when there is none yet."""
    try:
        return (root / "current").read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreError(f"The index folder {root} cannot be read: {error.strerror}.") from error


def keep_private(root: Path) -> None:
    """The index holds restricted pages: its folder and what the engine makes in it are this account's only."""
    with contextlib.suppress(OSError):  # another account's: its owner decided who may read it
        root.chmod(PRIVATE_FOLDER)
    for folder, _, files in os.walk(root):
        for name in files:
            with contextlib.suppress(OSError):  # also a reader's, gone meanwhile
                Path(folder, name).chmod(PRIVATE)


def publish(root: Path, folder: Path) -> None:
    """Copy the closed ``folder`` to a new version, then point to it in one step."""
    versions = root / "versions"
    versions.mkdir(exist_ok=True)
    number = max((int(path.name) for path in versions.iterdir() if path.name.isdigit()), default=0) + 1
    unfinished = versions / f"{number}.part"
    copy_shard(folder, unfinished, link=False)
    unfinished.rename(versions / str(number))
    write_text(root / "current", f"{number}\n")
    for path in versions.iterdir():
        if path.name != str(number):
            shutil.rmtree(path)


def copy_shard(source: Path, target: Path, *, link: bool) -> None:
    """Copy a closed shard for reading; with ``link`` the big files become hard links."""
    shutil.rmtree(target, ignore_errors=True)
    for folder, names, files in os.walk(source):
        here = target / Path(folder).relative_to(source)
        here.mkdir(parents=True)
        if LOG in names:
            names.remove(LOG)
        for name in files:
            linked = link and name.startswith(_NEVER_REWRITTEN) and _linked(Path(folder, name), here / name)
            if not linked:
                _copy_with_holes(Path(folder, name), here / name)


def write_text(path: Path, text: str) -> None:
    """Either the old text or the new one is there, whatever happens."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    with os.fdopen(os.open(unfinished, _ANEW, PRIVATE), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(path)


def read_json(path: Path) -> dict[str, Any]:
    """Empty when the file does not exist."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} of the index is damaged ({error}); run: python -m indexer rebuild") from error
    if not isinstance(content, dict):
        raise StoreError(f"{path} of the index is damaged; run: python -m indexer rebuild")
    return content


def _linked(source: Path, target: Path) -> bool:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without hard links
        return False
    return True


def _copy_with_holes(source: Path, target: Path) -> None:
    """Copy only what is really there; the rest of the length stays a hole."""
    with source.open("rb") as reading, os.fdopen(os.open(target, _ANEW, PRIVATE), "wb") as writing:
        size = os.fstat(reading.fileno()).st_size
        os.truncate(writing.fileno(), size)
        start = _next(reading.fileno(), 0, os.SEEK_DATA, size)
        while start < size:
            end = _next(reading.fileno(), start, os.SEEK_HOLE, size)
            _copy_range(reading.fileno(), writing.fileno(), start, end)
            start = _next(reading.fileno(), end, os.SEEK_DATA, size)


def _copy_range(reading: int, writing: int, start: int, end: int) -> None:
    while start < end:
        block = os.pread(reading, min(_BLOCK, end - start), start)
        if not block:
            return
        start += os.pwrite(writing, block, start)


def _next(file: int, offset: int, what: int, size: int) -> int:
    """Where data or a hole begins at or after ``offset``; the end when there is none."""
    try:
        return os.lseek(file, offset, what)
    except OSError:  # ENXIO: nothing but a hole up to the end
        return size
