"""The one reader of both stores: what the port asks for, put to whatever index is in force at the moment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from askwiki.data import Chunk, Clause, LegHit, Rights
from askwiki.store.port import Freshness, Leg, LegName
from askwiki.store.records import RecordReader

Result = TypeVar("Result")


class Index(Protocol):
    """An index that may be replaced at any time by a newer one."""

    def ask(self, call: Callable[[RecordReader], Result], empty: Result) -> Result:
        """``call`` on the index in force, ``empty`` when there is none yet."""
        ...

    def fingerprint(self) -> Mapping[str, Any]: ...

    def freshness(self) -> list[Freshness]: ...

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

    def close(self) -> None:
        self._index.close()
