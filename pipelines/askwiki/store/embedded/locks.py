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
from askwiki.store.embedded.files import NEVER_REWRITTEN, PRIVATE_FOLDER, copy_shard, made
from askwiki.store.embedded.manifest import damage
from askwiki.store.embedded.room import OPENING, NoRoom, ask_for_room, fill_holes, taken
from askwiki.store.embedded.versions import AGAIN, Pointer, read_pointer


@contextlib.contextmanager
def only_writer(root: Path) -> Iterator[None]:
    """Hold the writer's lock; StoreError at once when another process has it."""
    with made(root / "writer.lock").open("a+", encoding="utf-8", errors="replace") as file:
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


def private_copy(root: Path, pointer: Pointer) -> PrivateCopy:
    """Copy the version in force. FileNotFoundError: a newer one has replaced it meanwhile.

    In the store, where links work; in the temporary folder when the store is full or mounted read-only.
    """
    places = [place for place in (_in_store, _elsewhere) if place is _elsewhere or _can_be_written(root)]
    full: NoRoom | None = None
    for place in places:
        try:
            return _copied(root, pointer, place(root))
        except NoRoom as error:
            full = full or error
    raise full or StoreError(f"The index in {root} cannot be copied.")


def _copied(root: Path, pointer: Pointer, readers: Path) -> PrivateCopy:
    version, purpose = root / "versions" / pointer.number, f"open version {pointer.number} of the index"
    copy = _place_of_one(readers)
    try:
        links = version.exists() and version.stat().st_dev == readers.stat().st_dev
        ask_for_room(readers, taken(version, without=NEVER_REWRITTEN if links else ()) + OPENING, purpose)
        copy_shard(version, copy.folder, link=True)
        if read_pointer(root) != pointer or not copy.folder.exists():
            raise FileNotFoundError(pointer.number)  # what goes while it is copied is left out without an error
        if problem := damage(copy.folder):
            raise StoreError(f"Version {pointer.number} of the index in {root} is damaged ({problem}); {AGAIN}")
        if not (copy.folder / "fingerprint.json").exists():
            raise FileNotFoundError(pointer.number)
        fill_holes(copy.folder, purpose)
    except (OSError, StoreError):
        copy.discard()
        raise
    return copy


def _place_of_one(readers: Path) -> PrivateCopy:
    with made(readers / "lock").open("a") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        _remove_abandoned(readers)
        name = uuid.uuid4().hex
        copy = PrivateCopy(readers / name, made(readers / f"{name}.lock").open("a"))
        fcntl.flock(copy.lock, fcntl.LOCK_EX)
    return copy


def _can_be_written(root: Path) -> bool:
    try:
        made(_in_store(root) / "lock").open("a").close()
    except OSError:
        return False
    return True


def _in_store(root: Path) -> Path:
    folder = root / "readers"
    folder.mkdir(exist_ok=True, mode=PRIVATE_FOLDER)
    return folder


def _elsewhere(_: Path) -> Path:
    folder = Path(tempfile.gettempdir(), "askwiki-readers")
    folder.mkdir(exist_ok=True, mode=PRIVATE_FOLDER)
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
