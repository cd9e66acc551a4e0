"""Reading and writing chunks, page states and access conjunctions on any engine."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import asdict

from askwiki.data import Chunk, Clause, LegHit, Rights, Sparse
from askwiki.store.engine import Delete, Engine, Operation, Overwrite, Row, Scroll, Upsert, Where
from askwiki.store.payload import (
    acl_payload,
    chunk_payload,
    page_payload,
    point_id,
    to_chunk,
    to_readers,
    to_run,
    to_state,
)
from askwiki.store.port import Freshness, Leg, LegName, PageState, Point

CONJUNCTIONS_SECONDS = 10.0  # how long access keys are remembered where a collection changes in place


class RecordReader:
    """The question's way over one engine. ``immutable``: its content never changes (a version)."""

    def __init__(self, engine: Engine, *, immutable: bool) -> None:
        self._engine = engine
        self._remembered = float("inf") if immutable else CONJUNCTIONS_SECONDS
        self._conjunctions: dict[str, tuple[Clause, ...]] = {}
        self._learned: float | None = None  # clock reading when the conjunctions were read

    def search(self, legs: Sequence[Leg], rights: Rights) -> dict[LegName, dict[str, LegHit]]:
        asked = [leg for leg in legs if not isinstance(leg.query, Sparse) or leg.query.indices]
        where = Where(_readable(rights))
        found = self._engine.find(asked, where) if asked else []
        hits = {leg.name: _ranked(hits) for leg, hits in zip(asked, found, strict=True)}
        return {leg.name: hits.get(leg.name, {}) for leg in legs}

    def fetch(self, chunk_ids: Sequence[str], rights: Rights) -> dict[str, Chunk]:
        if not chunk_ids:
            return {}
        where = Where({"id": list(chunk_ids), **_readable(rights)})
        found = {chunk.id: chunk for chunk in self._chunks(where)}
        return {name: found[name] for name in chunk_ids if name in found}

    def chunks_of(self, page_ids: Collection[str], rights: Rights) -> dict[str, list[Chunk]]:
        where = Where({"page_id": list(page_ids), **_readable(rights)})
        distinct = {chunk.id: chunk for chunk in self._chunks(where)}
        found: dict[str, list[Chunk]] = {page_id: [] for page_id in page_ids}
        for chunk in sorted(distinct.values(), key=lambda chunk: (chunk.ordinal, chunk.part, chunk.id)):
            found[chunk.page_id].append(chunk)
        return found

    def visible_urls(self, urls: Collection[str], rights: Rights) -> frozenset[str]:
        if not urls:
            return frozenset()
        where = Where({"record": ["chunk"], "url": sorted(urls), **_readable(rights)})
        return frozenset(row.payload["url"] for row in self._engine.scroll(Scroll(where, ["url"])))

    def conjunctions(self) -> dict[str, tuple[Clause, ...]]:
        now = time.monotonic()
        if self._learned is None or now - self._learned > self._remembered:
            rows = self._engine.scroll(Scroll(Where({"record": ["acl"]})))
            self._conjunctions = {row.payload["key"]: to_readers(row.payload) for row in rows}
            self._learned = now
        return dict(self._conjunctions)

    def runs(self) -> list[Freshness]:
        return read_runs(self._engine)

    def count(self) -> int:
        return self._engine.count(Where({"record": ["chunk"]}))

    def _chunks(self, where: Where) -> list[Chunk]:
        """Oldest first: where two sources hold one page, the newer copy is the one that is kept."""
        rows = sorted(self._engine.scroll(Scroll(where)), key=lambda row: (row.payload["updated"], row.id))
        return [to_chunk(row.payload) for row in rows]


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


def read_runs(engine: Engine) -> list[Freshness]:
    rows = engine.scroll(Scroll(Where({"record": ["run"]})))
    return sorted((to_run(row.payload) for row in rows), key=lambda run: run.source)


def _readable(rights: Rights) -> dict[str, Sequence[str]]:
    """The fields of a filter that passes what these rights allow."""
    fields: dict[str, Sequence[str]] = {"acl": sorted(rights.keys)}
    return fields if rights.sources is None else {**fields, "source": sorted(rights.sources)}


def _page(source: str, page_id: str) -> dict[str, Sequence[str]]:
    return {"record": ["chunk"], "source": [source], "page_id": [page_id]}


def _access(chunks: Sequence[Chunk], readers: tuple[Clause, ...]) -> list[Operation]:
    """The conjunction comes before the first chunk that needs it."""
    keys = sorted({chunk.acl for chunk in chunks} - {""})
    return [Upsert([Row(point_id("acl", key), acl_payload(key, readers)) for key in keys])] if keys else []


def _state(source: str, state: PageState, chunks: Sequence[Chunk]) -> Upsert:
    key = chunks[0].acl if chunks else ""
    return Upsert([Row(point_id("page", source, state.page_id), page_payload(source, state, key))])


def _ranked(hits: Sequence[tuple[str, float]]) -> dict[str, LegHit]:
    """Best first, equal scores in the order of their ids; a page in two sources counts once."""
    best: dict[str, float] = {}
    for name, score in hits:
        best[name] = max(score, best.get(name, score))
    ordered = sorted(best.items(), key=lambda hit: (-hit[1], hit[0]))
    return {name: LegHit(rank, score) for rank, (name, score) in enumerate(ordered, start=1)}
