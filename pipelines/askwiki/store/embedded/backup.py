"""The version in force of the embedded store, into a backup and back."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from askwiki.errors import StoreError
from askwiki.store.archive import About, add, writing
from askwiki.store.embedded.calibration import read_calibration, write_calibration
from askwiki.store.embedded.files import PRIVATE_FOLDER, made, read_json
from askwiki.store.embedded.locks import only_writer
from askwiki.store.embedded.manifest import FILE as MANIFEST
from askwiki.store.embedded.manifest import damage, write_manifest
from askwiki.store.embedded.room import WRITING, ask_for_room
from askwiki.store.embedded.runs import compare_again, read_runs, write_runs
from askwiki.store.embedded.versions import publish, read_pointer
from askwiki.store.embedded.writing import BUILDING, WRITER
from askwiki.store.payload import to_run

VERSION = "version"  # folder in the archive
BLOCK = 1 << 16  # bytes written at once; those that are all zero stay a hole


def save(root: Path, path: Path) -> None:
    """Under the writer's lock, so that version and runs belong together; readers are not held up."""
    if not root.is_dir():
        raise StoreError(f"There is no index in {root} yet.")
    with only_writer(root):
        number = read_pointer(root).number
        version = root / "versions" / number
        if not number or not version.is_dir():
            raise StoreError(f"There is no index in {root} yet.")
        if problem := damage(version):
            raise StoreError(f"Version {number} of the index in {root} is damaged ({problem}); sync first.")
        runs = read_runs(root)
        if (root / "dirty").exists():  # pages after this version may be in the runs already
            runs = [dataclasses.replace(run, digest="", reconciled="") for run in runs]
        about = About(
            store="embedded",
            chunks=sum(run.chunks for run in runs),
            fingerprint=read_json(version / "fingerprint.json"),
            runs=[dataclasses.asdict(run) for run in runs],
            more={"calibration": read_calibration(root)},
        )
        with writing(path, about) as archive:
            for file in sorted(_files(version)):
                with file.open("rb") as content:
                    add(archive, f"{VERSION}/{file.relative_to(version)}", content, os.fstat(content.fileno()).st_size)


def take_back(root: Path, about: About, files: Iterator[tuple[str, int, IO[bytes]]]) -> None:
    """Published as a new version; the writer's folder is filled from it by the next sync, which asks no model."""
    root.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
    folder = root / "restoring"
    with only_writer(root):
        shutil.rmtree(folder, ignore_errors=True)
        try:
            for name, _, content in files:
                head, _, rest = name.partition("/")
                if head != VERSION:
                    raise StoreError(f"The backup holds {name!r}, which does not belong there.")
                _write(folder / rest, content, root)
            _check(folder, about)
            for old in (WRITER, BUILDING):
                shutil.rmtree(root / old, ignore_errors=True)
            (root / "dirty").unlink(missing_ok=True)
            publish(root, folder)
            write_runs(root, [to_run(run) for run in about.runs])
            compare_again(root)
            write_calibration(root, about.more.get("calibration", {}))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _check(folder: Path, about: About) -> None:
    if not (folder / "shard").is_dir() or read_json(folder / "fingerprint.json") != about.fingerprint:
        raise StoreError("The backup is not whole: its index or its fingerprint is missing.")
    if problem := damage(folder):
        raise StoreError(f"The backup is damaged ({problem}); nothing was changed.")
    if not (folder / MANIFEST).exists():
        write_manifest(folder)


def _write(path: Path, content: IO[bytes], root: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
    zeros, size = bytes(BLOCK), 0
    ask_for_room(root, WRITING, "restore the index")
    with made(path).open("wb") as file:
        while block := content.read(BLOCK):
            size += len(block)
            if block == zeros[: len(block)]:
                file.seek(size)
            else:
                file.write(block)
        file.truncate(size)


def _files(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(FileNotFoundError):
        for here, _, names in os.walk(folder):
            yield from (Path(here, name) for name in names)
