"""An export as files by name, whether it is a folder, a zip or a single file; nothing outside it is touched."""

from __future__ import annotations

import lzma
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from askwiki.data import Loss
from askwiki.errors import SourceError
from indexer.sources import INSIDE_ZIP, files_below, not_whole

# A page or a picture is far smaller; a zip entry that says more is a bomb or no part of an export.
MAXIMUM_ENTRY = 8 << 30  # bytes, entities.xml of a large space included
MAXIMUM_READ = 256 << 20  # bytes that are read into memory at once: a page, a picture, a drawing
MAXIMUM_RATIO = 2000  # unpacked to packed; text packs at most about 1000 to 1
# What reading a file can end with: no rights, a wrong checksum, a broken stream, an unknown packing, a password.
UNREADABLE = (OSError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError)
BLOCK = 1 << 20  # bytes read at once to test an entry
SKIPPED = ("__MACOSX/", ".git/", ".DS_Store")


class Archive(Protocol):
    """``names`` are relative, with "/"; ``losses`` say which entries were refused."""

    names: list[str]
    losses: tuple[Loss, ...]

    def read(self, name: str) -> bytes: ...

    def open(self, name: str) -> IO[bytes]: ...

    def place(self, name: str) -> str:
        """Where the file is on this machine, for ``Attachment.file``; "" when it is not there."""
        ...


class Folder:
    def __init__(self, root: Path) -> None:
        self._root = root
        self.losses: tuple[Loss, ...] = ()
        self.names = []
        whole = root.resolve()
        for path in files_below(root):
            name = path.relative_to(root).as_posix()
            if any(part.startswith(SKIPPED) for part in (name, name.rsplit("/", 1)[-1])):
                continue
            if not path.resolve().is_relative_to(whole):
                self.losses += (Loss("entry", name, detail="a link that leads out of the export"),)
                continue
            self.names.append(name)
        self._known = set(self.names)

    def read(self, name: str) -> bytes:
        return (self._root / name).read_bytes()

    def open(self, name: str) -> IO[bytes]:
        return (self._root / name).open("rb")

    def place(self, name: str) -> str:
        return str(self._root / name) if name in self._known else ""


class Zip:
    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
            raise SourceError(f"{path} is no readable zip file ({error}). Export the space again.") from error
        self._path = path
        self._entries: dict[str, zipfile.ZipInfo] = {}
        self.losses: tuple[Loss, ...] = ()
        for entry in self._zip.infolist():
            self._admit(entry)
        self.names = list(self._entries)
        if faults := list(self._faults()):
            raise not_whole(str(path), faults)

    def read(self, name: str) -> bytes:
        if self._entries[name].file_size > MAXIMUM_READ:
            raise OSError(f"{name} is larger than {MAXIMUM_READ >> 20} MB")
        return self._zip.read(self._entries[name])

    def open(self, name: str) -> IO[bytes]:
        return self._zip.open(self._entries[name])

    def place(self, name: str) -> str:
        return f"{self._path}{INSIDE_ZIP}{name}" if name in self._entries else ""

    def _faults(self) -> Iterator[str]:
        """Entries that cannot be read to their end with the right checksum, or that stand there twice."""
        seen: set[str] = set()
        for entry in self._zip.infolist():
            name = entry.filename.replace("\\", "/")
            if name in seen:
                yield f"two entries have the name {name}"
            seen.add(name)
            if name not in self._entries and not entry.is_dir():
                continue  # left out as unsafe or no part of an export, and never read
            try:
                with self._zip.open(entry) as file:
                    while file.read(BLOCK):
                        pass
            except UNREADABLE as error:
                yield f"the entry {name} cannot be read ({error})"

    def _admit(self, entry: zipfile.ZipInfo) -> None:
        name = entry.filename.replace("\\", "/")
        if entry.is_dir() or name.startswith(SKIPPED):
            return
        reason = ""
        if name.startswith("/") or ":" in name.split("/")[0] or ".." in PurePosixPath(name).parts:
            reason = "a path that leads out of the archive"
        elif stat.S_ISLNK(entry.external_attr >> 16):
            reason = "a link"
        elif entry.file_size > MAXIMUM_ENTRY or entry.file_size > MAXIMUM_RATIO * max(entry.compress_size, 1024):
            reason = "unpacks to far more than its size"
        if reason:
            self.losses += (Loss("entry", name, detail=reason),)
        elif name not in self._entries:
            self._entries[name] = entry


class OneFile:
    """A single file in the place of an export; its neighbours are not part of it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.names = [path.name]
        self.losses: tuple[Loss, ...] = ()

    def read(self, name: str) -> bytes:
        return self._path.read_bytes()

    def open(self, name: str) -> IO[bytes]:
        return self._path.open("rb")

    def place(self, name: str) -> str:
        return str(self._path) if name == self._path.name else ""


def open_archive(path: str, *, what: str, single: Callable[[Path], bool] = lambda path: False) -> Archive:
    """The files at ``path``; ``single`` says whether a plain file there is the export itself."""
    place = Path(path)
    if not place.exists():
        raise SourceError(f"{path} does not exist; give the path of {what}.")
    if place.is_dir():
        folder = Folder(place)
        if not folder.names:
            raise SourceError(f"The folder {path} is empty; give the path of {what}.")
        return folder
    if single(place) and not zipfile.is_zipfile(place):
        return OneFile(place)
    archive = Zip(place)
    if not archive.names:
        refused = f" {len(archive.losses)} entries were refused as unsafe." if archive.losses else ""
        raise SourceError(f"The zip file {path} holds no files.{refused}")
    return archive
