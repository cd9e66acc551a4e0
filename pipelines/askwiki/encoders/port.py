"""Encoders behind two small Protocols: dense and sparse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from askwiki.data import Sparse
from askwiki.settings import EmbeddingSettings

TERM_WEIGHT = 0.5  # in a question's sparse vector, of further terms beside its own words


class Embedder(Protocol):
    """Texts to unit vectors. Thread-safe: many chats share one model."""

    @property
    def size(self) -> int:
        """Numbers in a vector."""
        ...

    @property
    def limit(self) -> int:
        """Tokens a text may have, prefix and special tokens included."""
        ...

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts to be found, shape (len(texts), size), rows of length 1."""
        ...

    def query(self, text: str) -> NDArray[np.float32]:
        """Vector of a question, shape (size,), length 1."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as ``documents`` would read it, prefix and special tokens included."""
        ...

    def identity(self) -> Mapping[str, object]:
        """What makes two encoders interchangeable: kind, model, size, limit, prefixes."""
        ...


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


def dense_identity(kind: str, settings: EmbeddingSettings, size: int, limit: int) -> Mapping[str, object]:
    """What makes two encoders the same to an index, for every one whose prefixes are set by us.

    ``size``: numbers in a vector, ``limit``: tokens.
    """
    return {
        "kind": kind,
        "model": settings.model,
        "size": size,
        "limit": limit,
        "query_prefix": settings.query_prefix,
        "document_prefix": settings.document_prefix,
    }
