"""The encoders that the settings name; libraries are loaded here and nowhere else."""

from __future__ import annotations

from askwiki.encoders.port import Embedder, SparseEncoder
from askwiki.settings import EmbeddingSettings, SparseSettings


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
