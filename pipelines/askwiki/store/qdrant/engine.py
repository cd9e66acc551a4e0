"""One collection of a Qdrant server as an ``Engine``: our operations and rows in its client's words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from qdrant_client import models

from askwiki.data import Sparse
from askwiki.settings import StoreSettings
from askwiki.store.engine import Delete, Operation, Overwrite, Row, Scroll, Upsert, Where
from askwiki.store.payload import MANY, SPARSE, dense_vectors, to_vectors
from askwiki.store.port import Leg
from askwiki.store.qdrant.server import QdrantServer

_PAGE = 500  # points read at once
_NAMES = 200_000  # point id -> chunk id that are remembered, about 40 MB


class ServerEngine:
    """One collection of the server."""

    def __init__(self, server: QdrantServer, collection: str) -> None:
        self._server = server
        self._collection = collection
        self._names: dict[Any, str] = {}  # a point's id is made of its chunk's, so what was learnt stays true

    def write(self, operations: Sequence[Operation]) -> None:
        """One request for all of it; only what is too large for one goes ahead in portions."""
        ready: list[Any] = []
        for operation in operations:
            if isinstance(operation, Upsert):
                *ahead, last = _portions(operation.rows, self._server.settings.batch)
                for portion in ahead:
                    self._send([*ready, _upsert(portion)])
                    ready = []
                ready.append(_upsert(last))
            else:
                ready.append(_change(operation))
        self._send(ready)

    def find(self, legs: Sequence[Leg], where: Where) -> list[list[tuple[str, float]]]:
        wanted = _filter(where)
        seen = effort(self._server.settings)
        requests = [
            models.QueryRequest(
                query=_query(leg), using=leg.name, filter=wanted, limit=leg.depth, with_payload=False, params=seen
            )
            for leg in legs
        ]
        found = [answer.points for answer in self._call("query_batch_points", requests=requests)]
        names = self._learnt(list({point.id for points in found for point in points}))
        return [[(names[point.id], point.score) for point in points if point.id in names] for points in found]

    def _learnt(self, ids: list[Any]) -> dict[Any, str]:
        """Their chunks' ids, without those that are gone; the server reads a whole payload to give one field of it."""
        names = self._names
        known = {one: names[one] for one in ids if one in names}
        if unknown := [one for one in ids if one not in known]:
            records = self._call("retrieve", ids=unknown, with_payload=["id"], with_vectors=False)
            learnt = {record.id: record.payload["id"] for record in records}
            known |= learnt
            if len(names) > _NAMES:
                self._names = names = {}
            names.update(learnt)
        return known

    def scroll(self, scroll: Scroll) -> Iterator[Row]:
        offset = None
        while True:
            records, offset = self._call(
                "scroll",
                scroll_filter=_filter(scroll.where),
                limit=_PAGE,
                offset=offset,
                with_payload=list(scroll.fields) or True,
                with_vectors=scroll.vectors,
            )
            yield from (_row(record) for record in records)
            if offset is None:
                return

    def count(self, where: Where) -> int:
        return int(self._call("count", count_filter=_filter(where), exact=True).count)

    def insert(self, row: Row, *, replacing: Where | None = None) -> None:
        """Write a point only if there is none yet, or only if the one that is there matches ``replacing``."""
        self._call(
            "upsert",
            points=[_point(row)],
            wait=True,
            update_mode=models.UpdateMode.INSERT_ONLY if replacing is None else models.UpdateMode.UPDATE_ONLY,
            update_filter=_filter(replacing) if replacing else None,
        )

    def _send(self, operations: list[Any]) -> None:
        self._call("batch_update_points", update_operations=operations, wait=True)

    def _call(self, method: str, **named: Any) -> Any:
        return self._server.call(method, self._collection, **named)


def _portions(rows: Sequence[Row], size: int) -> list[Sequence[Row]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)] or [rows]


def _upsert(rows: Sequence[Row]) -> models.UpsertOperation:
    return models.UpsertOperation(upsert=models.PointsList(points=[_point(row) for row in rows]))


def _change(operation: Overwrite | Delete) -> models.OverwritePayloadOperation | models.DeleteOperation:
    if isinstance(operation, Overwrite):
        content = models.SetPayload(payload=dict(operation.payload), points=[operation.id])
        return models.OverwritePayloadOperation(overwrite_payload=content)
    return models.DeleteOperation(delete=models.FilterSelector(filter=_filter(operation.where)))


def _point(row: Row) -> models.PointStruct:
    vectors: dict[str, Any] = {}
    if row.vectors is not None:
        vectors = {name: vector.tolist() for name, vector in dense_vectors(row.vectors).items()}
        vectors[SPARSE] = _sparse(row.vectors.sparse)
    return models.PointStruct(id=row.id, vector=vectors, payload=dict(row.payload))


def _row(record: models.Record) -> Row:
    payload = record.payload or {}
    if not isinstance(record.vector, dict) or not record.vector:
        return Row(str(record.id), payload)
    found: dict[str, Any] = dict(record.vector)
    sparse = found.get(SPARSE) or models.SparseVector(indices=[], values=[])
    return Row(str(record.id), payload, to_vectors(found, list(sparse.indices), list(sparse.values)))


def _filter(where: Where) -> models.Filter:
    must: list[Any] = [
        models.FieldCondition(key=name, match=models.MatchAny(any=list(values)))
        for name, values in where.fields.items()
    ]
    spared: list[Any] = [models.HasIdCondition(has_id=list(where.spared))] if where.spared else []
    return models.Filter(must=must, must_not=spared or None)


def effort(settings: StoreSettings) -> models.SearchParams:
    """How far a dense search looks. With int8, twice as many are found; the originals say which are nearest."""
    again = models.QuantizationSearchParams(rescore=True, oversampling=2.0)
    return models.SearchParams(
        hnsw_ef=settings.hnsw_ef, quantization=again if settings.quantization == "scalar" else None
    )


def _query(leg: Leg) -> Any:
    if isinstance(leg.query, Sparse):
        return _sparse(leg.query)
    return [leg.query.tolist()] if leg.name in MANY else leg.query.tolist()


def _sparse(vector: Sparse) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))
