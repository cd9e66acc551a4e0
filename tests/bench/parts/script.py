"""The plainest hybrid search, which every part must beat: BM25 over stems, whole chunks as vectors, z-scores added."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askwiki.data import Question
from askwiki.encoders.bm25 import Bm25
from askwiki.encoders.port import Embedder
from askwiki.markdown.plain_text import plain_text
from askwiki.settings import SparseSettings
from indexer.enrich.cache import Cache, content_key
from tests.bench.parts.memory import MemoryIndex

Array = NDArray[np.float32]


class Script:
    """A chunk is its whole way and its text, once for the words and once for the encoder, which cuts what is long."""

    def __init__(self, index: MemoryIndex, embedder: Embedder, cache: Path) -> None:
        texts = [f"{' / '.join((*each.path, each.title))}\n{plain_text(each.text)}" for each in index.chunks]
        self._index, self._embedder = index, embedder
        self._dense = _vectors(texts, embedder, Cache(cache))
        self._bm25 = Bm25(SparseSettings(gram_weight=0.0))
        columns: dict[int, int] = {}
        entries = [
            (row, columns.setdefault(term, len(columns)), value)
            for row, sparse in enumerate(self._bm25.documents(texts))
            for term, value in zip(sparse.indices, sparse.values, strict=True)
        ]
        self._columns, self._words = columns, np.zeros((len(texts), len(columns)), dtype=np.float32)
        for row, column, value in entries:
            self._words[row, column] = value
        having = (self._words > 0).sum(axis=0)
        self._words *= np.log(1 + (len(texts) - having + 0.5) / (having + 0.5)).astype(np.float32)

    def ranking(self, question: Question) -> list[str]:
        asked = [self._columns[term] for term in self._bm25.query(question.text).indices if term in self._columns]
        words = self._words[:, asked].sum(axis=1)
        score = _standard(words) + _standard(self._dense @ self._embedder.query(question.text))
        return [self._index.chunks[at].id for at in np.argsort(-score, kind="stable")[:50]]


def _standard(scores: Array) -> Array:
    return np.asarray((scores - scores.mean()) / (scores.std() or 1.0), dtype=np.float32)


def _vectors(texts: Sequence[str], embedder: Embedder, cache: Cache) -> Array:
    """From the sync's cache where they are there: the script's own are put beside them."""
    model = json.dumps(dict(embedder.identity()), sort_keys=True)
    keys = [content_key(model, text) for text in texts]
    known = cache.get_many("vector", sorted(set(keys)))
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    if missing:
        made = embedder.documents(list(missing.values()))
        new = {key: vector.astype("<f4").tobytes() for key, vector in zip(missing, made, strict=True)}
        cache.put_many("vector", new)
        known.update(new)
    cache.close()
    return np.stack([np.frombuffer(known[key], "<f4") for key in keys])
