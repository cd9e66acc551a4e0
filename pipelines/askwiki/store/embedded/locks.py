"""Who uses which folder of the embedded store: locks that the system frees when a process dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from askwiki.errors import StoreError
from askwiki.store.embedded.versions import copy_shard, read_pointer


@contextlib.contextmanager
def only_writer(root: Path) -> Iterator[None]:
    """Hold the writer's lock; StoreError at once when another process has it."""
    with (root / "writer.lock").open("a+", encoding="ascii") as file:
        if not _locked(file):
            file.seek(0)
            owner = file.read().strip() or "unknown"
            raise StoreError(
                f"Another indexer (process {owner}) is writing to the index in {root}; "
                "wait for it to end and run again."
            )
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


@dataclass(frozen=True, slots=True)
class PrivateCopy:
    """A reader's own copy of a version; ``lock`` is held as long as the copy is in use."""

    folder: Path
    lock: IO[str]

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        Path(self.lock.name).unlink(missing_ok=True)
        self.lock.close()


def private_copy(root: Path, number: str) -> PrivateCopy:
    """Copy version ``number``. FileNotFoundError: a newer one has replaced it meanwhile."""
    readers = _readers_folder(root)
    with (readers / "lock").open("a") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        _remove_abandoned(readers)
        name = uuid.uuid4().hex
        copy = PrivateCopy(readers / name, (readers / f"{name}.lock").open("a"))
        fcntl.flock(copy.lock, fcntl.LOCK_EX)
    try:
        copy_shard(root / "versions" / number, copy.folder, link=True)
        if read_pointer(root) != number or not (copy.folder / "fingerprint.json").exists():
            raise FileNotFoundError(number)  # what goes while it is copied is left out without an error
    except OSError:
        copy.discard()
        raise
    return copy


def _readers_folder(root: Path) -> Path:
    """In the store, where links work; in the temporary folder when the store is mounted read-only."""
    folder = root / "readers"
    try:
        folder.mkdir(exist_ok=True)
        (folder / "lock").open("a").close()
    except OSError:
        folder = Path(tempfile.gettempdir(), "askwiki-readers")
        folder.mkdir(exist_ok=True, mode=0o700)
    return folder


def _remove_abandoned(readers: Path) -> None:
    """Copies of processes that have died: nobody holds their lock."""
    for path in readers.glob("*.lock"):
        with path.open("a") as file:
            if _locked(file):
                shutil.rmtree(path.with_suffix(""), ignore_errors=True)
                path.unlink(missing_ok=True)


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
