"""Sparse encoders behind one small Protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from askwiki.data import Sparse
from askwiki.settings import SparseSettings


class SparseEncoder(Protocol):
    """Texts to sparse vectors. Thread-safe."""

    @property
    def idf(self) -> bool:
        """Whether the store multiplies the query's weights by inverse document frequency."""
        ...

    def documents(self, texts: Sequence[str]) -> list[Sparse]: ...

    def query(self, text: str, terms: Sequence[str] = ()) -> Sparse:
        """``terms`` are further words (other spellings, expansions) at a lower weight."""
        ...

    def identity(self) -> Mapping[str, object]: ...

    def collisions(self) -> int:
        """Terms of all documents so far whose index already belonged to another one."""
        ...


def make_sparse(settings: SparseSettings) -> SparseEncoder:
    """The encoder that the settings name; libraries are loaded here and nowhere else."""
    if settings.kind == "bge-m3":
        from askwiki.encoders.bge_m3 import BgeM3Sparse

        return BgeM3Sparse(settings)
    if settings.kind == "gte":
        from askwiki.encoders.gte import GteSparse

        return GteSparse(settings)
    if settings.kind == "remote":
        from askwiki.encoders.endpoint import RemoteSparse

        return RemoteSparse(settings)
    from askwiki.encoders.bm25 import Bm25

    return Bm25(settings)
