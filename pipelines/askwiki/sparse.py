"""Sparse encoders behind one small Protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from askwiki.data import Sparse
from askwiki.errors import SettingsError
from askwiki.settings import SparseSettings


class SparseEncoder(Protocol):
    """Texts to sparse vectors. Thread-safe."""

    idf: bool  # the store multiplies the query's weights by inverse document frequency

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
    if settings.kind == "bm25":
        from askwiki.encoders.bm25 import Bm25

        return Bm25(settings)
    raise SettingsError(f"sparse.kind is {settings.kind}, which is not built in yet.")
