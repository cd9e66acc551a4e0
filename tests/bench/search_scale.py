"""50,000 chunks: what our search with its rights filter adds to the same three legs asked of the engine."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import qdrant_edge as edge
from numpy.typing import NDArray

from askwiki.data import PUBLIC, Chunk, Rights, Sparse, Vectors
from askwiki.store.embedded.files import copy_shard
from askwiki.store.embedded.store import embedded_reader, embedded_writer
from askwiki.store.embedded.versions import read_pointer
from askwiki.store.port import Leg, PageState, Point
from tests.support.stores import FINGERPRINT, make_chunk

CHUNKS = 50_000
A_PAGE = 50  # chunks of a page: only the writing is the faster for it
SIZE = 384
PIECES = 2
DEPTH = 100
QUESTIONS = 30
KEYS = [PUBLIC, *(f"team {number}" for number in range(20))]
GOAL = 1.10


def rows() -> list[dict[str, Any]]:
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "store")
        _fill(root, random)
        asked = [(unit_vector(random, SIZE), sparse_vector(random, 12)) for _ in range(QUESTIONS)]
        ours, theirs = _seconds(root, Path(folder, "raw"), asked)
    ratio = ours / theirs
    return [
        {
            "name": f"search of {CHUNKS} chunks through the store / through the engine alone",
            "value": round(ratio, 3),
            "unit": "x",
            "goal": GOAL,
            "met": ratio <= GOAL,
            "against": "qdrant-edge, the same three legs with the same filter in one batch, processor time",
            "why": f"{ours * 1e3:.1f} ms against {theirs * 1e3:.1f} ms",
        }
    ]


def _seconds(root: Path, raw: Path, asked: list[tuple[NDArray[np.float32], Sparse]]) -> tuple[float, float]:
    """Median processor seconds of a question, in turns."""
    copy_shard(root / "versions" / read_pointer(root).number, raw, link=True)
    shard = edge.EdgeShard.load(str(raw / "shard"))
    reader, rights = embedded_reader(root), Rights(frozenset(KEYS[:11]))
    reader.count()
    ours, theirs = list[float](), list[float]()
    for dense, sparse in asked * 2:
        begun = time.process_time()
        shard.query_batch(_batch(dense, sparse, sorted(rights.keys)))
        between = time.process_time()
        reader.search([Leg("text", dense, DEPTH), Leg("context", dense, DEPTH), Leg("sparse", sparse, DEPTH)], rights)
        theirs.append(between - begun)
        ours.append(time.process_time() - between)
    reader.close()
    shard.close()
    return statistics.median(ours), statistics.median(theirs)


def _batch(dense: NDArray[np.float32], sparse: Sparse, keys: list[str]) -> edge.QueryBatchRequest:
    allowed = edge.Filter(must=[edge.FieldCondition(key="acl", match=edge.MatchAny(keys))])
    vector = edge.SparseVector(list(sparse.indices), list(sparse.values))
    queries = [
        edge.Query.Nearest([dense.tolist()], using="text"),
        edge.Query.Nearest(dense.tolist(), using="context"),
        edge.Query.Nearest(vector, using="sparse"),
    ]
    return edge.QueryBatchRequest(
        [edge.QueryRequest(limit=DEPTH, query=query, filter=allowed, with_payload=["id"]) for query in queries]
    )


def _fill(root: Path, random: np.random.Generator) -> None:
    writer = embedded_writer(root, {**FINGERPRINT, "sizes": {"text": SIZE, "context": SIZE}})
    for page in range(CHUNKS // A_PAGE):
        points = list(_points(page, random))
        state = PageState(str(page), "hash", {point.chunk.id: "" for point in points})
        writer.replace_page("html:wiki", state, points, ())
    writer.commit()
    writer.close()


def _points(page: int, random: np.random.Generator) -> Iterator[Point]:
    for number in range(A_PAGE):
        chunk: Chunk = make_chunk(str(page), number, "слово " * 60, acl=KEYS[page % len(KEYS)])
        text = np.stack([unit_vector(random, SIZE) for _ in range(PIECES)])
        yield Point(chunk, Vectors(text, unit_vector(random, SIZE), sparse_vector(random, 60)))


def unit_vector(random: np.random.Generator, size: int) -> NDArray[np.float32]:
    vector = random.normal(size=size).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector))


def sparse_vector(random: np.random.Generator, terms: int) -> Sparse:
    """Terms as in a text: few are frequent."""
    indices = sorted(set((random.zipf(1.3, size=terms) % 100_000).tolist()))
    return Sparse(tuple(indices), tuple(1.0 for _ in indices))
