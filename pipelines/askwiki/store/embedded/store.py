"""The embedded store: a folder, one writer, any number of readers that never block one another."""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
import weakref
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from askwiki.data import Chunk, Clause, LegHit, Rights
from askwiki.errors import StoreError
from askwiki.store.embedded.edge import EdgeEngine
from askwiki.store.embedded.locks import PrivateCopy, only_writer, private_copy
from askwiki.store.embedded.versions import keep_private, publish, read_json, read_pointer, write_text
from askwiki.store.fingerprint import check_fingerprint, dense_sizes, uses_idf
from askwiki.store.payload import to_run
from askwiki.store.port import Freshness, Leg, LegName, PageState, Point
from askwiki.store.records import RecordReader, RecordWriter
from askwiki.system.memory import give_back

WRITER, BUILDING = "writer", "building"
_ATTEMPTS = 20  # to copy a version while an indexer publishes newer ones


class EmbeddedReader:
    """Reads a private copy of the version in force and moves on when the pointer moves."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._opened: _Opened | None = None

    def search(self, legs: Sequence[Leg], rights: Rights) -> dict[LegName, dict[str, LegHit]]:
        opened = self._current()
        return opened.records.search(legs, rights) if opened else {leg.name: {} for leg in legs}

    def fetch(self, chunk_ids: Sequence[str], rights: Rights) -> dict[str, Chunk]:
        opened = self._current()
        return opened.records.fetch(chunk_ids, rights) if opened else {}

    def chunks_of(self, page_ids: Collection[str], rights: Rights) -> dict[str, list[Chunk]]:
        opened = self._current()
        return opened.records.chunks_of(page_ids, rights) if opened else {page_id: [] for page_id in page_ids}

    def visible_urls(self, urls: Collection[str], rights: Rights) -> frozenset[str]:
        opened = self._current()
        return opened.records.visible_urls(urls, rights) if opened else frozenset()

    def conjunctions(self) -> dict[str, tuple[Clause, ...]]:
        opened = self._current()
        return opened.records.conjunctions() if opened else {}

    def fingerprint(self) -> Mapping[str, Any]:
        opened = self._current()
        return opened.fingerprint if opened else {}

    def count(self) -> int:
        opened = self._current()
        return opened.records.count() if opened else 0

    def freshness(self) -> list[Freshness]:
        return _read_runs(self._root)

    def close(self) -> None:
        with self._lock:
            self._opened = None

    def _current(self) -> _Opened | None:
        """A version still in use by another thread stays open until that thread lets go of it."""
        number = read_pointer(self._root)
        if not number:
            return None
        opened = self._opened
        if opened is not None and opened.number == number:
            return opened
        with self._lock:
            if self._opened is None or self._opened.number != read_pointer(self._root):
                self._opened = _open_version(self._root)
            return self._opened


class EmbeddedWriter:
    """Writes into its own folder; ``commit`` publishes a copy of it. See ``versions`` for the folders."""

    def __init__(self, root: Path, fingerprint: Mapping[str, Any], *, rebuild: bool = False) -> None:
        self._root, self._rebuild = root, rebuild
        with contextlib.ExitStack() as opening:
            try:
                root.mkdir(parents=True, exist_ok=True)
                keep_private(root)
                opening.enter_context(only_writer(root))
                _adopt_complete(root)
                self._folder = root / (BUILDING if rebuild else WRITER)
                self._engine: EdgeEngine | None = _open_folder(self._folder, fingerprint, rebuild=rebuild)
            except OSError as error:
                raise StoreError(f"The index folder {root} cannot be written: {error.strerror}.") from error
            self._held = opening.pop_all()

    @property
    def _records(self) -> RecordWriter:
        """Opened again only when something is asked after a commit."""
        if self._engine is None:
            self._engine = EdgeEngine.load(self._folder / "shard")
        return RecordWriter(self._engine)

    def claim(self, source: str) -> None:
        """The writer's lock holds all sources."""

    def pages(self, source: str) -> dict[str, str]:
        return self._records.pages(source)

    def page(self, source: str, page_id: str) -> PageState | None:
        return self._records.page(source, page_id)

    def replace_page(self, source: str, state: PageState, points: Sequence[Point], readers: tuple[Clause, ...]) -> None:
        self._changing()
        self._records.replace_page(source, state, points, readers)

    def update_payload(
        self, source: str, state: PageState, chunks: Sequence[Chunk], readers: tuple[Clause, ...]
    ) -> None:
        self._changing()
        self._records.update_payload(source, state, chunks, readers)

    def remove_page(self, source: str, page_id: str) -> None:
        self._changing()
        self._records.remove_page(source, page_id)

    def access(self, source: str) -> dict[str, str]:
        return self._records.access(source)

    def update_access(self, source: str, page_id: str, key: str, readers: tuple[Clause, ...]) -> None:
        self._changing()
        self._records.update_access(source, page_id, key, readers)

    def count(self, source: str = "") -> int:
        return self._records.count(source)

    def freshness(self) -> list[Freshness]:
        return [] if self._rebuild else _read_runs(self._root)

    def finish(self, run: Freshness) -> None:
        runs = {item.source: item for item in _read_runs(self._root)} | {run.source: run}
        write_text(self._root / "runs.json", json.dumps({name: asdict(item) for name, item in sorted(runs.items())}))

    def commit(self) -> None:
        """Nothing is copied when nothing was written since the version in force."""
        dirty = self._root / "dirty"
        if not self._rebuild and not dirty.exists():
            return
        self._records.forget_unused_access()
        if self._engine is not None:
            self._engine.tidy()
        self._close_engine()
        try:
            if self._rebuild:
                write_text(self._folder / "complete", "")
                _adopt_complete(self._root)
                self._folder, self._rebuild = self._root / WRITER, False
            keep_private(self._root)
            publish(self._root, self._folder)
            dirty.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(
                f"The index could not be published in {self._root}: {error.strerror}. The old one stays in force."
            ) from error

    def close(self) -> None:
        self._close_engine()
        self._held.close()

    def _close_engine(self) -> None:
        if self._engine is not None:
            self._engine.flush()
            self._engine.close()
            self._engine = None
            give_back()

    def _changing(self) -> None:
        if not self._rebuild:
            (self._root / "dirty").touch()


class _Opened:
    """One version as this process reads it; its copy goes when the last user lets go."""

    def __init__(self, number: str, copy: PrivateCopy) -> None:
        self.number = number
        self.fingerprint = read_json(copy.folder / "fingerprint.json")
        engine = EdgeEngine.load(copy.folder / "shard")
        self.records = RecordReader(engine, immutable=True)
        weakref.finalize(self, _let_go, engine, copy)


def _let_go(engine: EdgeEngine, copy: PrivateCopy) -> None:
    with contextlib.suppress(StoreError):  # nothing of a reader's copy is worth keeping
        engine.close()
    copy.discard()
    give_back()  # else each new version leaves the room of an old one taken


def _open_version(root: Path) -> _Opened:
    for _ in range(_ATTEMPTS):
        number = read_pointer(root)
        try:
            return _Opened(number, private_copy(root, number))
        except FileNotFoundError:  # replaced between reading the pointer and copying
            continue
        except OSError as error:
            raise StoreError(f"The index in {root} cannot be opened: {error.strerror}.") from error
    raise StoreError(f"The index in {root} points to version {number}, which is not there; run: python -m indexer sync")


def _open_folder(folder: Path, fingerprint: Mapping[str, Any], *, rebuild: bool) -> EdgeEngine:
    """The fingerprint is written last: a folder without one is the rest of a creation that was cut off."""
    found = read_json(folder / "fingerprint.json")
    if found and not rebuild:
        check_fingerprint(found, fingerprint)
    if found == fingerprint:
        return EdgeEngine.load(folder / "shard")
    shutil.rmtree(folder, ignore_errors=True)
    engine = EdgeEngine.create(folder / "shard", dense_sizes(fingerprint), idf=uses_idf(fingerprint))
    write_text(folder / "fingerprint.json", json.dumps(fingerprint, ensure_ascii=False, indent=1))
    return engine


def _adopt_complete(root: Path) -> None:
    """A rebuilt folder takes the writer's place; cut off at any moment, the next writer ends it."""
    building = root / BUILDING
    if (building / "complete").exists():
        (root / "dirty").touch()
        shutil.rmtree(root / WRITER, ignore_errors=True)
        building.rename(root / WRITER)
    (root / WRITER / "complete").unlink(missing_ok=True)


def _read_runs(root: Path) -> list[Freshness]:
    return [to_run(item) for _, item in sorted(read_json(root / "runs.json").items())]
