"""Dense encoders behind one small Protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from askwiki.settings import EmbeddingSettings


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


def make_embedder(settings: EmbeddingSettings) -> Embedder:
    """The encoder that the settings name; libraries are loaded here and nowhere else."""
    if settings.kind == "sentence-transformers":
        from askwiki.encoders.sentence import SentenceEncoder

        return SentenceEncoder(settings)
    if settings.kind == "flagembedding":
        from askwiki.encoders.bge_m3 import BgeM3Dense

        return BgeM3Dense(settings)
    if settings.kind == "openai":
        from askwiki.encoders.endpoint import EndpointEmbedder

        return EndpointEmbedder(settings)
    from askwiki.encoders.embedded import EmbeddedE5

    return EmbeddedE5(settings)
