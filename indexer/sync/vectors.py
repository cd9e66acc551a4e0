"""Chunks to points: what is not in the cache is embedded, many pages' chunks together."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from askwiki.data import Chunk, Vectors
from askwiki.store.port import Point
from indexer.chunking.embedded import embedded_texts
from indexer.enrich.cache import content_key
from indexer.sync.tools import Tools

KIND = "vector"  # of the cache's entries: float32, little endian


def make_points(chunks: Sequence[Chunk], *, using: Tools) -> list[Point]:
    """The chunks with their vectors, in their order."""
    embedder = using.embedder
    texts = [embedded_texts(each, using.settings, count=embedder.count, reads=embedder.limit) for each in chunks]
    dense = iter(_dense([text for each in texts for text in each.dense()], using))
    sparse = using.sparse.documents([each.sparse for each in texts])
    return [
        Point(
            chunk,
            Vectors(np.stack([next(dense) for _ in each.text]), next(dense) if each.context else None, weights),
        )
        for chunk, each, weights in zip(chunks, texts, sparse, strict=True)
    ]


def _dense(texts: Sequence[str], using: Tools) -> list[NDArray[np.float32]]:
    """One vector a text; the same text is embedded once."""
    model = json.dumps(dict(using.embedder.identity()), sort_keys=True)
    keys = [content_key(model, text) for text in texts]
    known = {key: np.frombuffer(data, "<f4") for key, data in using.vectors.get_many(KIND, sorted(set(keys))).items()}
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    if missing:
        known.update(_embedded(missing, using))
    return [known[key] for key in keys]


def _embedded(missing: dict[str, str], using: Tools) -> dict[str, NDArray[np.float32]]:
    texts = list(missing.values())
    over = sum(count > using.embedder.limit for count in using.embedder.count(texts))
    using.desk.counters.add("embedding.truncated", over)
    using.desk.counters.add("embedding.calls")
    made = dict(zip(missing, using.embedder.documents(texts), strict=True))
    using.vectors.put_many(KIND, {key: vector.astype("<f4").tobytes() for key, vector in made.items()})
    return made
