"""Sparse encoders behind one small Protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from askwiki.data import Sparse


class SparseEncoder(Protocol):
    """Texts to sparse vectors. Thread-safe."""

    idf: bool  # the store multiplies the query's weights by inverse document frequency

    def documents(self, texts: Sequence[str]) -> list[Sparse]: ...

    def query(self, text: str, terms: Sequence[str] = ()) -> Sparse:
        """``terms`` are further words (other spellings, expansions) at a lower weight."""
        ...

    def identity(self) -> Mapping[str, object]: ...
