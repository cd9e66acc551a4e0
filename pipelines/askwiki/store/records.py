"""The one writer of both stores: chunks, page states and access conjunctions on any engine. Reading: ``reader``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Protocol

from askwiki.data import Chunk, Clause, Vectors
from askwiki.store.engine import Delete, Engine, Operation, Overwrite, Row, Scroll, Upsert, Where
from askwiki.store.payload import (
    acl_payload,
    chunk_payload,
    page_payload,
    point_id,
    to_run,
    to_state,
)
from askwiki.store.port import Freshness, PageState, Point


class RecordWriter:
    """The page's way over one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def pages(self, source: str) -> dict[str, str]:
        rows = self._engine.scroll(Scroll(Where({"record": ["page"], "source": [source]}), ["page_id", "hash"]))
        return {row.payload["page_id"]: row.payload["hash"] for row in rows}

    def page(self, source: str, page_id: str) -> PageState | None:
        where = Where({"record": ["page"], "source": [source], "page_id": [page_id]})
        states = [to_state(row.payload) for row in self._engine.scroll(Scroll(where))]
        return states[0] if states else None

    def replace_page(self, source: str, state: PageState, points: Sequence[Point], readers: tuple[Clause, ...]) -> None:
        rows = [
            Row(point_id("chunk", source, point.chunk.id), chunk_payload(source, point.chunk), point.vectors)
            for point in points
        ]
        old = Where(_page(source, state.page_id), [row.id for row in rows])
        chunks = [point.chunk for point in points]
        self._engine.write([*_access(chunks, readers), Upsert(rows), Delete(old), _state(source, state, chunks)])

    def update_payload(
        self, source: str, state: PageState, chunks: Sequence[Chunk], readers: tuple[Clause, ...]
    ) -> None:
        changes = [Overwrite(point_id("chunk", source, chunk.id), chunk_payload(source, chunk)) for chunk in chunks]
        self._engine.write([*_access(chunks, readers), *changes, _state(source, state, chunks)])

    def remove_page(self, source: str, page_id: str) -> None:
        """The state goes last: a removal that was cut off is seen and finished by the next run."""
        record = Where({"record": ["page"], "source": [source], "page_id": [page_id]})
        self._engine.write([Delete(Where(_page(source, page_id))), Delete(record)])

    def access(self, source: str) -> dict[str, str]:
        rows = self._engine.scroll(Scroll(Where({"record": ["page"], "source": [source]}), ["page_id", "key"]))
        return {row.payload["page_id"]: row.payload["key"] for row in rows}

    def update_access(self, source: str, page_id: str, key: str, readers: tuple[Clause, ...]) -> None:
        """The state goes last, so that an update that was cut off is done again."""
        known = Upsert([Row(point_id("acl", key), acl_payload(key, readers))])
        chunks = self._engine.scroll(Scroll(Where(_page(source, page_id))))
        changes = [Overwrite(row.id, {**row.payload, "acl": key}) for row in chunks]
        states = self._engine.scroll(Scroll(Where({"record": ["page"], "source": [source], "page_id": [page_id]})))
        given_up = [Overwrite(row.id, {**row.payload, "key": key, "hash": ""}) for row in states]
        self._engine.write([known, *changes, *given_up])

    def count(self, source: str = "") -> int:
        return self._engine.count(Where({"record": ["chunk"], **({"source": [source]} if source else {})}))

    def runs(self) -> list[Freshness]:
        return read_runs(self._engine)

    def remember_run(self, run: Freshness) -> None:
        self._engine.write([Upsert([Row(point_id("run", run.source), {"record": "run", **asdict(run)})])])

    def forget_unused_access(self) -> None:
        """Conjunctions that no page of any source has any more."""
        pages = self._engine.scroll(Scroll(Where({"record": ["page"]}), ["key"]))
        used = {row.payload["key"] for row in pages}
        known = {row.payload["key"] for row in self._engine.scroll(Scroll(Where({"record": ["acl"]}), ["key"]))}
        if unused := sorted(known - used):
            self._engine.write([Delete(Where({"record": ["acl"], "key": unused}))])


class WrittenIndex(Protocol):
    """An index under way, wherever it lies: its records, and what else of the port is its own."""

    @property
    def records(self) -> RecordWriter: ...

    def changing(self, chunks: Sequence[Chunk], vectors: Sequence[Vectors]) -> None:
        """Before a page is written: what of it is; StoreError when there is no room for it."""
        ...

    def claim(self, source: str) -> None: ...

    def freshness(self) -> list[Freshness]: ...

    def finish(self, run: Freshness) -> None: ...

    def commit(self) -> None: ...

    def close(self) -> None: ...


class IndexWriter:
    """The port's ``Writer``."""

    def __init__(self, index: WrittenIndex) -> None:
        self._index = index

    def pages(self, source: str) -> dict[str, str]:
        return self._index.records.pages(source)

    def page(self, source: str, page_id: str) -> PageState | None:
        return self._index.records.page(source, page_id)

    def replace_page(self, source: str, state: PageState, points: Sequence[Point], readers: tuple[Clause, ...]) -> None:
        self._index.changing([point.chunk for point in points], [point.vectors for point in points])
        self._index.records.replace_page(source, state, points, readers)

    def update_payload(
        self, source: str, state: PageState, chunks: Sequence[Chunk], readers: tuple[Clause, ...]
    ) -> None:
        self._index.changing(chunks, ())
        self._index.records.update_payload(source, state, chunks, readers)

    def remove_page(self, source: str, page_id: str) -> None:
        self._index.changing((), ())
        self._index.records.remove_page(source, page_id)

    def access(self, source: str) -> dict[str, str]:
        return self._index.records.access(source)

    def update_access(self, source: str, page_id: str, key: str, readers: tuple[Clause, ...]) -> None:
        self._index.changing((), ())
        self._index.records.update_access(source, page_id, key, readers)

    def count(self, source: str = "") -> int:
        return self._index.records.count(source)

    def claim(self, source: str) -> None:
        self._index.claim(source)

    def freshness(self) -> list[Freshness]:
        return self._index.freshness()

    def finish(self, run: Freshness) -> None:
        self._index.finish(run)

    def commit(self) -> None:
        self._index.commit()

    def close(self) -> None:
        self._index.close()


def read_runs(engine: Engine) -> list[Freshness]:
    rows = engine.scroll(Scroll(Where({"record": ["run"]})))
    return sorted((to_run(row.payload) for row in rows), key=lambda run: run.source)


def _page(source: str, page_id: str) -> dict[str, Sequence[str]]:
    return {"record": ["chunk"], "source": [source], "page_id": [page_id]}


def _access(chunks: Sequence[Chunk], readers: tuple[Clause, ...]) -> list[Operation]:
    """The conjunction comes before the first chunk that needs it."""
    keys = sorted({chunk.acl for chunk in chunks} - {""})
    return [Upsert([Row(point_id("acl", key), acl_payload(key, readers)) for key in keys])] if keys else []


def _state(source: str, state: PageState, chunks: Sequence[Chunk]) -> Upsert:
    key = chunks[0].acl if chunks else ""
    return Upsert([Row(point_id("page", source, state.page_id), page_payload(source, state, key))])
