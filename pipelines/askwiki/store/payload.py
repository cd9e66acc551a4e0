"""How chunks, page states and access conjunctions look as points: the one schema of both stores.

Several kinds of points live in one collection, told apart by the field ``record``, so that a switch
of versions changes all of them at once: ``chunk`` with vectors; ``page``, ``acl``, ``run``, ``lock``
without any.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askwiki.data import Chunk, Clause, Sparse, Vectors
from askwiki.store.port import Freshness, PageState

SCHEMA = 1  # part of the fingerprint: raise it when points of older code can no longer be read
DENSE = ("text", "context")  # named dense vectors; each is a field of Vectors
MANY = {"text"}  # of them those with several rows a chunk; the best row counts
SPARSE = "sparse"

IndexKind = Literal["keyword", "bool", "datetime"]
INDEXES: Mapping[str, IndexKind] = {
    "record": "keyword",
    "source": "keyword",
    "id": "keyword",
    "page_id": "keyword",
    "space": "keyword",
    "kind": "keyword",
    "screen": "bool",
    "labels": "keyword",
    "acl": "keyword",
    "url": "keyword",
    "updated": "datetime",
}

_NAMESPACE = uuid.UUID("6f0c8a52-6d7e-5d0a-9c39-2b8a7c4f5e11")  # of our point ids; constant for ever
_TUPLES = {"path", "headings", "labels"}


def point_id(record: str, *names: str) -> str:
    """The same thing always gets the same id, so that writing twice is writing once."""
    return str(uuid.uuid5(_NAMESPACE, "\x00".join((record, *names))))


def chunk_payload(source: str, chunk: Chunk) -> dict[str, Any]:
    payload = chunk._asdict()
    payload.update({name: list(payload[name]) for name in _TUPLES})
    return {"record": "chunk", "source": source, **payload}


def to_chunk(payload: Mapping[str, Any]) -> Chunk:
    """Fields that an older writer did not know keep their defaults."""
    known = {name: payload[name] for name in Chunk._fields if name in payload}
    known.update({name: tuple(known[name]) for name in _TUPLES if name in known})
    return Chunk(**known)


def page_payload(source: str, state: PageState, key: str) -> dict[str, Any]:
    """``key`` is the page's access key; the field is not called ``acl``, no search may find it."""
    chunks = [[name, value] for name, value in state.chunks.items()]
    return {
        "record": "page",
        "source": source,
        "page_id": state.page_id,
        "hash": state.hash,
        "chunks": chunks,
        "key": key,
    }


def to_state(payload: Mapping[str, Any]) -> PageState:
    return PageState(payload["page_id"], payload["hash"], dict(payload["chunks"]))


def acl_payload(key: str, readers: tuple[Clause, ...]) -> dict[str, Any]:
    clauses = [{"users": list(clause.users), "groups": list(clause.groups)} for clause in readers]
    return {"record": "acl", "key": key, "readers": clauses}


def to_readers(payload: Mapping[str, Any]) -> tuple[Clause, ...]:
    return tuple(Clause(tuple(clause["users"]), tuple(clause["groups"])) for clause in payload["readers"])


def to_run(payload: Mapping[str, Any]) -> Freshness:
    return Freshness(**{item.name: payload[item.name] for item in fields(Freshness) if item.name in payload})


def dense_vectors(vectors: Vectors) -> dict[str, NDArray[np.float32]]:
    """Those that the chunk has."""
    return {name: vector for name in DENSE if (vector := getattr(vectors, name)) is not None}


def to_vectors(dense: Mapping[str, Any], indices: list[int], values: list[float]) -> Vectors:
    order = sorted(range(len(indices)), key=indices.__getitem__)
    sparse = Sparse(tuple(indices[i] for i in order), tuple(values[i] for i in order))
    context = dense.get("context")
    return Vectors(
        text=np.asarray(dense["text"], dtype=np.float32),
        context=None if context is None else np.asarray(context, dtype=np.float32),
        sparse=sparse,
    )
