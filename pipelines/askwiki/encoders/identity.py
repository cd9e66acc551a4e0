"""What makes two dense encoders interchangeable: the index remembers it and refuses another."""

from __future__ import annotations

from collections.abc import Mapping

from askwiki.settings import EmbeddingSettings


def dense_identity(kind: str, settings: EmbeddingSettings, size: int, limit: int) -> Mapping[str, object]:
    """For every encoder whose prefixes are set by us. ``size``: numbers in a vector, ``limit``: tokens."""
    return {
        "kind": kind,
        "model": settings.model,
        "size": size,
        "limit": limit,
        "query_prefix": settings.query_prefix,
        "document_prefix": settings.document_prefix,
    }
