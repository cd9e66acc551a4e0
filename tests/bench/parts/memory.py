"""A published embedded index as arrays: the port's ``search`` and ``fetch``, some fifty times as fast to ask."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askwiki.data import Chunk, LegHit, Rights, Sparse
from askwiki.store.embedded.edge import EdgeEngine
from askwiki.store.embedded.files import copy_shard
from askwiki.store.embedded.versions import read_pointer
from askwiki.store.engine import Scroll, Where
from askwiki.store.payload import to_chunk
from askwiki.store.port import Leg, LegName

Array = NDArray[np.float32]
Weights = dict[int, tuple[NDArray[np.int64], Array]]  # sparse index -> chunks that have it, with their weights


@dataclass
class MemoryIndex:
    """Everybody reads everything: rights are not what is measured."""

    chunks: list[Chunk]
    text: Array  # pieces x size, unit rows
    first_piece: NDArray[np.int64]  # of each chunk in ``text``
    context: Array | None  # chunks x size, unit rows; None where no model wrote them
    words: Weights
    by_id: Mapping[str, Chunk] = field(init=False)

    def __post_init__(self) -> None:
        self.by_id = {chunk.id: chunk for chunk in self.chunks}

    def scores(self, name: LegName, query: Array | Sparse) -> Array:
        """Of every chunk, in the order of ``chunks``."""
        if isinstance(query, Sparse):
            return self._sparse(query)
        unit = query / np.float32(np.linalg.norm(query) or 1.0)
        if name == "context" and self.context is not None:
            return np.asarray(self.context @ unit, dtype=np.float32)
        return np.maximum.reduceat(self.text @ unit, self.first_piece)

    def search(self, legs: Sequence[Leg], rights: Rights) -> dict[LegName, dict[str, LegHit]]:
        return {leg.name: self._listed(leg) for leg in legs}

    def fetch(self, chunk_ids: Sequence[str], rights: Rights) -> dict[str, Chunk]:
        return {name: self.by_id[name] for name in chunk_ids}

    def chunks_of(self, page_ids: Collection[str], rights: Rights) -> dict[str, list[Chunk]]:
        found: dict[str, list[Chunk]] = {}
        for chunk in sorted(self.chunks, key=lambda each: (each.ordinal, each.part)):
            if chunk.page_id in page_ids:
                found.setdefault(chunk.page_id, []).append(chunk)
        return found

    def _listed(self, leg: Leg) -> dict[str, LegHit]:
        if leg.name == "context" and self.context is None:
            return {}
        scores = self.scores(leg.name, leg.query)
        best = [at for at in np.argsort(-scores, kind="stable") if leg.name != "sparse" or scores[at] > 0]
        found = sorted((-float(scores[at]), self.chunks[at].id) for at in best[: leg.depth])
        return {name: LegHit(rank, -score) for rank, (score, name) in enumerate(found, start=1)}

    def _sparse(self, query: Sparse) -> Array:
        scores = np.zeros(len(self.chunks), dtype=np.float32)
        for index, weight in zip(query.indices, query.values, strict=True):
            if index in self.words:
                rows, weights = self.words[index]
                scores[rows] += np.float32(weight * _rarity(len(self.chunks), len(rows))) * weights
        return scores


def load(root: Path) -> MemoryIndex:
    """The version in force below ``root``, read from a copy."""
    with tempfile.TemporaryDirectory() as folder:
        shard = Path(folder, "shard")
        copy_shard(root / "versions" / read_pointer(root).number / "shard", shard, link=False)
        engine = EdgeEngine.load(shard)
        rows = list(engine.scroll(Scroll(Where({"record": ["chunk"]}), vectors=True)))
        engine.close()
    rows.sort(key=lambda row: str(row.payload["id"]))
    vectors = [row.vectors for row in rows if row.vectors is not None]
    contexts = [each.context for each in vectors if each.context is not None]
    found: dict[int, list[tuple[int, float]]] = {}
    for row, each in enumerate(vectors):
        for index, value in zip(each.sparse.indices, each.sparse.values, strict=True):
            found.setdefault(index, []).append((row, value))
    return MemoryIndex(
        chunks=[to_chunk(row.payload) for row in rows],
        text=_unit(np.concatenate([each.text for each in vectors])),
        first_piece=np.cumsum([0, *(len(each.text) for each in vectors[:-1])]),
        context=_unit(np.stack(contexts)) if len(contexts) == len(vectors) else None,
        words={
            index: (np.array([row for row, _ in of]), np.array([value for _, value in of], dtype=np.float32))
            for index, of in found.items()
        },
    )


def _unit(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _rarity(texts: int, having: int) -> float:
    """Inverse document frequency as Qdrant has it."""
    return math.log(1 + (texts - having + 0.5) / (having + 0.5))
