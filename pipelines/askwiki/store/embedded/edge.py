"""The embedded engine (qdrant-edge): one shard in this process behind ``Engine``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import qdrant_edge as edge

from askwiki.data import Sparse
from askwiki.errors import StoreError
from askwiki.store.embedded.files import PRIVATE_FOLDER, only_own
from askwiki.store.engine import Delete, Operation, Overwrite, Row, Scroll, Upsert, Where
from askwiki.store.payload import INDEXES, MANY, SPARSE, dense_vectors, to_vectors
from askwiki.store.port import Leg

_PAGE = 1000  # points read at once
_INDEX_KINDS = {
    "keyword": edge.PayloadSchemaType.Keyword,
    "bool": edge.PayloadSchemaType.Bool,
    "datetime": edge.PayloadSchemaType.Datetime,
}
# One segment without graphs: every search is exact, and only dead points make it worth rewriting.
_OPTIMIZERS = edge.EdgeOptimizersConfig(
    deleted_threshold=0.2, vacuum_min_vector_number=200, default_segment_number=1, indexing_threshold=2**40
)


class EnginePanic(StoreError):
    """The engine came upon something it holds for impossible: what it has open is to be opened anew."""


class EdgeEngine:
    """Thread-safe; every call holds the interpreter's lock for its own few milliseconds."""

    def __init__(self, shard: edge.EdgeShard) -> None:
        self._shard = shard
        self._names: dict[int, str] = {}  # point id -> chunk id of what was found: reading it takes as long as finding

    @classmethod
    def create(cls, folder: Path, sizes: Mapping[str, int], *, idf: bool) -> EdgeEngine:
        """A new shard with its payload indexes. ``sizes``: dense vector -> numbers in it."""
        best = edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim)
        dense = {
            name: edge.EdgeVectorParams(
                size=size, distance=edge.Distance.Cosine, multivector_config=best if name in MANY else None
            )
            for name, size in sizes.items()
        }
        sparse = {SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf if idf else None)}
        folder.mkdir(parents=True, mode=PRIVATE_FOLDER)
        config = edge.EdgeConfig(vectors=dense, sparse_vectors=sparse, optimizers=_OPTIMIZERS)
        with only_own():
            engine = cls(_called(edge.EdgeShard.create, str(folder), config))
        for name, kind in INDEXES.items():
            engine._update(edge.UpdateOperation.create_field_index(name, _INDEX_KINDS[kind]))
        return engine

    @classmethod
    def load(cls, folder: Path) -> EdgeEngine:
        with only_own():
            return cls(_called(edge.EdgeShard.load, str(folder)))

    def tidy(self) -> None:
        """Give back the room of deleted points once a fifth is dead; safe to be cut off, free when there is little."""
        _called(self._shard.optimize)

    def write(self, operations: Sequence[Operation]) -> None:
        for operation in operations:
            self._update(_update(operation))

    def find(self, legs: Sequence[Leg], where: Where) -> list[list[tuple[str, float]]]:
        wanted = _filter(where)
        queries = [
            edge.QueryRequest(
                limit=leg.depth,
                query=edge.Query.Nearest(_query(leg), using=leg.name),
                filter=wanted,
            )
            for leg in legs
        ]
        answers = _called(self._shard.query_batch, edge.QueryBatchRequest(queries))
        found = [[(hit.id.int, hit.score) for hit in hits] for hits in answers]  # ``id`` is made anew at each look
        self._learn({point for hits in found for point, _ in hits})
        return [[(self._names[point], score) for point, score in hits] for hits in found]

    def _learn(self, points: Collection[int]) -> None:
        unknown = [UUID(int=point) for point in points if point not in self._names]
        for record in _called(self._shard.retrieve, unknown, ["id"], False) if unknown else ():
            self._names[record.id.int] = record.payload["id"]

    def scroll(self, scroll: Scroll) -> Iterator[Row]:
        offset = None
        while True:
            request = edge.ScrollRequest(
                offset=offset,
                limit=_PAGE,
                filter=_filter(scroll.where),
                with_payload=list(scroll.fields) or True,
                with_vector=scroll.vectors,
            )
            records, offset = _called(self._shard.scroll, request)
            yield from (_row(record, with_vectors=scroll.vectors) for record in records)
            if offset is None:
                return

    def count(self, where: Where) -> int:
        return int(_called(self._shard.count, edge.CountRequest(filter=_filter(where), exact=True)))

    def flush(self) -> None:
        _called(self._shard.flush)

    def close(self) -> None:
        _called(self._shard.close)

    def _update(self, operation: edge.UpdateOperation) -> None:
        _called(self._shard.update, operation)


def _called(call: Callable[..., Any], *arguments: object) -> Any:
    """The engine raises bare exceptions with a text; a panic of its Rust code is no ``Exception`` at all."""
    try:
        return call(*arguments)
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        said = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise (EnginePanic if is_panic(error) else StoreError)(f"The embedded index failed: {said}") from error


def is_panic(error: BaseException) -> bool:
    """Its class is made when it is first raised and can be imported from nowhere."""
    return type(error).__name__ == "PanicException"


def _update(operation: Operation) -> edge.UpdateOperation:
    if isinstance(operation, Upsert):
        return edge.UpdateOperation.upsert_points([_point(row) for row in operation.rows])
    if isinstance(operation, Overwrite):
        return edge.UpdateOperation.overwrite_payload([operation.id], dict(operation.payload))
    assert isinstance(operation, Delete)
    return edge.UpdateOperation.delete_points_by_filter(_filter(operation.where))


def _point(row: Row) -> edge.Point:
    vectors: dict[str, Any] = {}
    if row.vectors is not None:
        vectors = {name: vector.tolist() for name, vector in dense_vectors(row.vectors).items()}
        vectors[SPARSE] = _sparse(row.vectors.sparse)
    return edge.Point(row.id, vectors, dict(row.payload))


def _row(record: edge.Record, *, with_vectors: bool) -> Row:
    payload = record.payload or {}
    found: Any = record.vector if with_vectors else None
    if not found:
        return Row(str(record.id), payload)
    sparse = found.get(SPARSE)
    indices, values = (list(sparse.indices), list(sparse.values)) if sparse else ([], [])
    return Row(str(record.id), payload, to_vectors(found, indices, values))


def _filter(where: Where) -> edge.Filter:
    fields: list[Any] = [
        edge.FieldCondition(key=name, match=edge.MatchAny(list(values))) for name, values in where.fields.items()
    ]
    return edge.Filter(must=fields, must_not=[edge.HasIdCondition(set(where.spared))] if where.spared else None)


def _query(leg: Leg) -> Any:
    if isinstance(leg.query, Sparse):
        return _sparse(leg.query)
    return [leg.query.tolist()] if leg.name in MANY else leg.query.tolist()


def _sparse(vector: Sparse) -> edge.SparseVector:
    return edge.SparseVector(list(vector.indices), list(vector.values))
