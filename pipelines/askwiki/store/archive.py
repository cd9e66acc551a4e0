"""The file of a backup: a tar whose first member says what it holds, then the files of the store.

``askwiki.json``: format, kind of store, time, chunks, fingerprint and runs, and what the store needs to take it back.
"""

from __future__ import annotations

import io
import json
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Literal

from askwiki.errors import StoreError

FORMAT = 1  # raise it when an older askwiki could not read a new backup
FIRST = "askwiki.json"
MOST_OF_FIRST = 64 << 20  # bytes of the first member; a foreign file is not read into memory
PRIVATE = 0o600  # of the file: it holds pages that not everybody may read
Kind = Literal["embedded", "qdrant"]


@dataclass(frozen=True, slots=True)
class About:
    """The first member. ``more`` is the store's own: shards and their checksums, or nothing."""

    store: Kind
    chunks: int
    fingerprint: Mapping[str, Any]
    runs: list[Mapping[str, Any]]
    more: Mapping[str, Any] = field(default_factory=dict)
    made: str = ""
    format: int = FORMAT


@contextmanager
def writing(path: Path, about: About) -> Iterator[tarfile.TarFile]:
    """The archive appears under its name when it is complete. Files of an embedded store are mostly holes: packed."""
    unfinished = path.with_name(f"{path.name}.part")
    made = datetime.now(UTC).isoformat(timespec="seconds")
    first = json.dumps({**asdict(about), "made": made}, ensure_ascii=False).encode()
    try:
        unfinished.touch(mode=PRIVATE, exist_ok=False)
    except FileExistsError as error:
        raise StoreError(f"{unfinished} is there: another backup is being written, or one was cut off.") from error
    except OSError as error:
        raise StoreError(f"The backup {path} cannot be written: {error.strerror or error}.") from error
    try:
        with unfinished.open("wb") as file, _tar(file, about.store) as archive:
            archive.addfile(_member(FIRST, len(first)), io.BytesIO(first))
            yield archive
        unfinished.rename(path)
    except OSError as error:
        raise StoreError(f"The backup {path} cannot be written: {error.strerror or error}.") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _tar(file: IO[bytes], store: Kind) -> tarfile.TarFile:
    if store == "embedded":
        return tarfile.open(fileobj=file, mode="w:gz", compresslevel=1)
    return tarfile.open(fileobj=file, mode="w")


def add(archive: tarfile.TarFile, name: str, content: IO[bytes], size: int) -> None:
    archive.addfile(_member(name, size), content)


@contextmanager
def reading(path: Path) -> Iterator[tuple[About, Iterator[tuple[str, int, IO[bytes]]]]]:
    """What the backup says of itself, and its files one after another: name, size, content."""
    try:
        with tarfile.open(path, mode="r:*") as archive:
            yield _about(archive, path), _files(archive, path)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise StoreError(f"{path} is no whole backup of askwiki: {error}.") from error
    except OSError as error:
        raise StoreError(f"The backup {path} cannot be read: {error.strerror or error}.") from error


def _about(archive: tarfile.TarFile, path: Path) -> About:
    first = archive.next()
    content = archive.extractfile(first) if first and first.name == FIRST and first.size < MOST_OF_FIRST else None
    try:
        said = json.loads(content.read()) if content else {}
        about = About(**said)
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreError(f"{path} is no backup of askwiki: its {FIRST} cannot be read.") from error
    if about.format > FORMAT:
        raise StoreError(f"{path} was made by a newer askwiki; restore it with that one.")
    return about


def _files(archive: tarfile.TarFile, path: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    for member in archive:
        if member.name == FIRST:
            continue
        content = archive.extractfile(member) if member.isreg() else None
        if content is None or Path(member.name).is_absolute() or ".." in Path(member.name).parts:
            raise StoreError(f"{path} is no backup of askwiki: {member.name!r} does not belong there.")
        yield member.name, member.size, content


def _member(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, PRIVATE
    return info
