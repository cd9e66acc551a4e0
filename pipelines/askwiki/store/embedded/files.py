"""Files of the embedded store: copied with their holes, replaced in one step, read with a sentence for damage."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from askwiki.errors import StoreError

# The engine's log: nothing in it is needed to read a closed shard. A shard that is written must keep it, though:
# operations are numbered by it, and after a crash those with a number below the shard's own are not repeated.
LOG = "wal"
NEVER_REWRITTEN = ("chunk_", "page_")  # vectors and payloads: only a writer changes these files
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600  # the index holds what not everybody may read
_BLOCK = 1 << 16  # bytes looked at at once
_ZEROS = bytes(_BLOCK)
_ONE_MASK = threading.Lock()  # the process has one; of two that change it one would keep the other's


def copy_shard(source: Path, target: Path, *, link: bool) -> None:
    """Copy a closed shard for reading; with ``link`` the big files become hard links."""
    shutil.rmtree(target, ignore_errors=True)
    for folder, names, files in os.walk(source):
        here = target / Path(folder).relative_to(source)
        here.mkdir(parents=True, mode=PRIVATE_FOLDER)
        if LOG in names:
            names.remove(LOG)
        for name in files:
            linked = link and name.startswith(NEVER_REWRITTEN) and _linked(Path(folder, name), here / name)
            if not linked:
                _copy_with_holes(Path(folder, name), here / name)


def data_blocks(file: int, size: int) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of the blocks of an open file that hold anything but zeros."""
    done, start = 0, _next(file, 0, os.SEEK_DATA, size)
    while start < size:
        end = _next(file, start, os.SEEK_HOLE, size)
        done = max(done, start - start % _BLOCK)
        while done < end:
            block = os.pread(file, min(_BLOCK, size - done), done)
            if block != _ZEROS[: len(block)]:
                yield done, block
            done += _BLOCK
        start = _next(file, end, os.SEEK_DATA, size)


def write_text(path: Path, text: str) -> None:
    """Either the old text or the new one is there, whatever happens."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with made(unfinished).open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def made(path: Path) -> Path:
    """An empty file that only its owner may read, unless there is one already."""
    path.touch(mode=PRIVATE_FILE)
    return path


@contextlib.contextmanager
def only_own() -> Iterator[None]:
    """What the engine makes meanwhile only its owner may read. Another thread's new file may be closed as well."""
    with _ONE_MASK:
        before = os.umask(0o077)
        try:
            yield
        finally:
            os.umask(before)


def close_to_others(folder: Path) -> None:
    """Files that the engine made later, as it went on."""
    for here, _, names in os.walk(folder):
        Path(here).chmod(PRIVATE_FOLDER)
        for name in names:
            Path(here, name).chmod(PRIVATE_FILE)


def read_json(path: Path) -> dict[str, Any]:
    """Empty when the file does not exist."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
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
    """Copy only what is not zero; the rest of the length stays a hole."""
    with source.open("rb") as reading, made(target).open("wb") as writing:
        size = os.fstat(reading.fileno()).st_size
        os.truncate(writing.fileno(), size)
        for offset, block in data_blocks(reading.fileno(), size):
            writing.seek(offset)
            writing.write(block)


def _next(file: int, offset: int, what: int, size: int) -> int:
    """Where data or a hole begins at or after ``offset``; the end when there is none."""
    try:
        return os.lseek(file, offset, what)
    except OSError:  # ENXIO: nothing but a hole up to the end
        return size
