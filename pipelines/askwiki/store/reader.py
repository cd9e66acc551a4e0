"""The one reader of both stores: what the port asks for, on any engine, put to the index that is in force."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from askwiki.data import Calibration, Chunk, Clause, LegHit, Rights, Sparse
from askwiki.store.calibrated import to_calibration
from askwiki.store.engine import Engine, Scroll, Where
from askwiki.store.payload import to_chunk, to_readers
from askwiki.store.port import Freshness, Leg, LegName
from askwiki.store.records import read_runs

CONJUNCTIONS_SECONDS = 10.0  # how long access keys are remembered where a collection changes in place
Result = TypeVar("Result")


class RecordReader:
    """The question's way over one engine. ``immutable``: its content never changes (a version).

    ``vectors``: the dense ones that its chunks have; a leg over another one finds nothing.
    """

    def __init__(self, engine: Engine, *, immutable: bool, vectors: Collection[str]) -> None:
        self._engine = engine
        self._vectors = frozenset(vectors)
        self._remembered = float("inf") if immutable else CONJUNCTIONS_SECONDS
        self._conjunctions: dict[str, tuple[Clause, ...]] = {}
        self._learned: float | None = None  # clock reading when the conjunctions were read

    def search(self, legs: Sequence[Leg], rights: Rights) -> dict[LegName, dict[str, LegHit]]:
        asked = [
            leg for leg in legs if (leg.query.indices if isinstance(leg.query, Sparse) else leg.name in self._vectors)
        ]
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

    def sample(self, count: int, rights: Rights) -> list[Chunk]:
        """The first by the ids of their points, which are hashes."""
        where = Where({"record": ["chunk"], **_readable(rights)})
        return [to_chunk(row.payload) for row in itertools.islice(self._engine.scroll(Scroll(where)), count)]

    def calibration(self) -> Mapping[str, Any]:
        """As it was written, empty when it was not."""
        return next((row.payload for row in self._engine.scroll(Scroll(Where({"record": ["calibration"]})))), {})

    def count(self) -> int:
        return self._engine.count(Where({"record": ["chunk"]}))

    def _chunks(self, where: Where) -> list[Chunk]:
        """Oldest first: where two sources hold one page, the newer copy is the one that is kept."""
        rows = sorted(self._engine.scroll(Scroll(where)), key=lambda row: (row.payload["updated"], row.id))
        return [to_chunk(row.payload) for row in rows]


class Index(Protocol):
    """An index that may be replaced at any time by a newer one."""

    def ask(self, call: Callable[[RecordReader], Result], empty: Result) -> Result:
        """``call`` on the index in force, ``empty`` when there is none yet."""
        ...

    def fingerprint(self) -> Mapping[str, Any]: ...

    def freshness(self) -> list[Freshness]: ...

    def calibration(self) -> Mapping[str, Any]: ...

    def whole(self) -> bool: ...

    def close(self) -> None: ...


class IndexReader:
    """The port's ``Reader``."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def search(self, legs: Sequence[Leg], rights: Rights) -> dict[LegName, dict[str, LegHit]]:
        return self._index.ask(lambda records: records.search(legs, rights), {leg.name: {} for leg in legs})

    def fetch(self, chunk_ids: Sequence[str], rights: Rights) -> dict[str, Chunk]:
        return self._index.ask(lambda records: records.fetch(chunk_ids, rights), {})

    def chunks_of(self, page_ids: Collection[str], rights: Rights) -> dict[str, list[Chunk]]:
        nothing: dict[str, list[Chunk]] = {page_id: [] for page_id in page_ids}
        return self._index.ask(lambda records: records.chunks_of(page_ids, rights), nothing)

    def visible_urls(self, urls: Collection[str], rights: Rights) -> frozenset[str]:
        return self._index.ask(lambda records: records.visible_urls(urls, rights), frozenset())

    def conjunctions(self) -> dict[str, tuple[Clause, ...]]:
        return self._index.ask(lambda records: records.conjunctions(), {})

    def count(self) -> int:
        return self._index.ask(lambda records: records.count(), 0)

    def fingerprint(self) -> Mapping[str, Any]:
        return self._index.fingerprint()

    def freshness(self) -> list[Freshness]:
        return self._index.freshness()

    def sample(self, count: int, rights: Rights) -> list[Chunk]:
        return self._index.ask(lambda records: records.sample(count, rights), [])

    def calibration(self) -> Calibration | None:
        return to_calibration(self._index.calibration(), self._index.fingerprint())

    def whole(self) -> bool:
        return self._index.whole()

    def close(self) -> None:
        self._index.close()


def _readable(rights: Rights) -> dict[str, Sequence[str]]:
    """The fields of a filter that passes what these rights allow."""
    fields: dict[str, Sequence[str]] = {"acl": sorted(rights.keys)}
    return fields if rights.sources is None else {**fields, "source": sorted(rights.sources)}


def _ranked(hits: Sequence[tuple[str, float]]) -> dict[str, LegHit]:
    """Best first, equal scores in the order of their ids; a page in two sources counts once."""
    best: dict[str, float] = {}
    for name, score in hits:
        best[name] = max(score, best.get(name, score))
    ordered = sorted(best.items(), key=lambda hit: (-hit[1], hit[0]))
    return {name: LegHit(rank, score) for rank, (name, score) in enumerate(ordered, start=1)}
