"""What askwiki asks of a vector store: the port that both adapters implement."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from askwiki.data import Calibration, Chunk, Clause, LegHit, Rights, Sparse, Vectors

LegName = Literal["text", "context", "sparse"]


@dataclass(frozen=True, slots=True)
class Leg:
    """One search of the batch: a dense vector or a sparse one against the representation ``name``."""

    name: LegName
    query: NDArray[np.float32] | Sparse
    depth: int


@dataclass(frozen=True, slots=True)
class Point:
    """A chunk with its vectors, ready to be written."""

    chunk: Chunk
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class PageState:
    """What the store holds of a page, for the plan of a sync.

    ``hash`` covers everything that leads to a change; it is written last, so a page whose writing
    was cut off still has its old hash. An empty one is that of no page: one that a model could not fully
    describe, or whose readers changed, is done again next time. ``chunks``: chunk id -> hash of what was embedded.
    """

    page_id: str
    hash: str
    chunks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Freshness:
    """The last successful run over one source: when it began (ISO 8601, UTC), what it left there."""

    source: str
    started: str
    pages: int
    chunks: int
    reconciled: str = ""  # when the last full comparison began; equals ``started`` for exports
    digest: str = ""  # of everything the run depended on, empty when it did not fully succeed
    report: Mapping[str, Any] = field(default_factory=dict)  # its ledger, as JSON
    rights: str = ""  # when who may read each page was last compared with the source; began then


class Reader(Protocol):
    """The question's way. Every method sees only what ``rights`` passes; none raises but StoreError."""

    def search(self, legs: Sequence[Leg], rights: Rights) -> dict[LegName, dict[str, LegHit]]:
        """All legs in one batch: for each leg chunk id -> place; ties are broken by id."""
        ...

    def fetch(self, chunk_ids: Sequence[str], rights: Rights) -> dict[str, Chunk]:
        """The chunks with these ids, again under the filter; missing ones are left out."""
        ...

    def chunks_of(self, page_ids: Collection[str], rights: Rights) -> dict[str, list[Chunk]]:
        """All chunks of each page in page order, in one call."""
        ...

    def visible_urls(self, urls: Collection[str], rights: Rights) -> frozenset[str]:
        """Those of the addresses that a chunk has, letter for letter."""
        ...

    def conjunctions(self) -> dict[str, tuple[Clause, ...]]:
        """Every distinct access key in use with its readers' conjunction."""
        ...

    def fingerprint(self) -> Mapping[str, Any]:
        """What the index was built with; empty when there is no index yet."""
        ...

    def count(self) -> int:
        """Chunks in the index."""
        ...

    def freshness(self) -> list[Freshness]:
        """The last successful run of every source, by name."""
        ...

    def calibration(self) -> Calibration | None:
        """What confidence is measured by; None when it was not made for the index in force."""
        ...

    def sample(self, count: int, rights: Rights) -> list[Chunk]:
        """So many chunks, the same ones each time, chosen by nothing that is in them."""
        ...

    def whole(self) -> bool:
        """False while the very first index is being filled: it answers already, of the pages that it has."""
        ...

    def close(self) -> None: ...


class Writer(Protocol):
    """The page's way. One writer a collection (or a disjoint set of pages) at a time."""

    def claim(self, source: str) -> None:
        """Before anything of a source is written; StoreError when another indexer is writing it."""
        ...

    def pages(self, source: str) -> dict[str, str]:
        """Page id -> hash of every page that the store holds of this source."""
        ...

    def page(self, source: str, page_id: str) -> PageState | None: ...

    def replace_page(self, source: str, state: PageState, points: Sequence[Point], readers: tuple[Clause, ...]) -> None:
        """New points first, then the old ones of the page go, its state last: half a page is never found."""
        ...

    def update_payload(
        self, source: str, state: PageState, chunks: Sequence[Chunk], readers: tuple[Clause, ...]
    ) -> None:
        """The same points and vectors with changed payload (moved, relabelled, other readers)."""
        ...

    def remove_page(self, source: str, page_id: str) -> None: ...

    def access(self, source: str) -> dict[str, str]:
        """Page id -> access key of every page that the store holds of this source."""
        ...

    def update_access(self, source: str, page_id: str, key: str, readers: tuple[Clause, ...]) -> None:
        """The same chunks for other readers. The page's hash is given up: what reads it next writes it anew."""
        ...

    def count(self, source: str = "") -> int:
        """Chunks of this source, or of all."""
        ...

    def freshness(self) -> list[Freshness]: ...

    def finish(self, run: Freshness) -> None:
        """Remember a successful run; readers see it at once and nothing is copied for it."""
        ...

    def commit(self) -> None:
        """Make what was written visible to readers (embedded: a new version and the pointer)."""
        ...

    def close(self) -> None: ...
