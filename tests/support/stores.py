"""Small indexes for the tests: points from texts, and every kind of store under one name."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from askwiki.data import PUBLIC, Chunk, Vectors
from askwiki.encoders.factory import make_sparse
from askwiki.errors import StoreError
from askwiki.settings import ChunkingSettings, SparseSettings, StoreSettings
from askwiki.store.embedded.edge import EdgeEngine
from askwiki.store.embedded.locks import private_copy
from askwiki.store.embedded.store import embedded_reader, embedded_writer
from askwiki.store.embedded.versions import read_pointer
from askwiki.store.engine import Row, Scroll, Where
from askwiki.store.fingerprint import fingerprint_of
from askwiki.store.payload import dense_vectors
from askwiki.store.port import PageState, Point, Reader, Writer
from askwiki.store.qdrant.client import connect
from askwiki.store.qdrant.engine import ServerEngine
from askwiki.store.qdrant.server import QdrantServer, open_server
from askwiki.store.qdrant.store import server_reader, server_writer
from tests.support.fakes import HashEmbedder

EMBEDDER = HashEmbedder()
SPARSE = make_sparse(SparseSettings())
FINGERPRINT = fingerprint_of(EMBEDDER, SPARSE, ChunkingSettings(), contexts=True)
SOURCE = "html:wiki"
EVERYTHING = Scroll(Where({}), vectors=True)


class OneAtATime:
    """The client in memory is not thread-safe: every call goes through one lock."""

    def __init__(self, client: QdrantClient) -> None:
        self._client = client
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._client, name)

        def locked(*arguments: Any, **named: Any) -> Any:
            with self._lock:
                return member(*arguments, **named)

        return locked if callable(member) else member

    def query_batch_points(self, collection: str, *, requests: Sequence[Any]) -> Any:
        """In memory every search is exact."""
        exact = [request.model_copy(update={"params": None}) for request in requests]
        with self._lock:
            return self._client.query_batch_points(collection, requests=exact)

    def create_payload_index(self, *_: Any) -> None:
        """In memory there are none."""

    def upsert(self, collection: str, *, points: Sequence[Any], update_mode: Any = None, **named: Any) -> Any:
        """A deleted point can be inserted again on a server; client 1.19 holds it for still there in memory."""
        with self._lock:
            if update_mode and not self._client.retrieve(collection, [point.id for point in points]):
                update_mode = update_mode if update_mode == models.UpdateMode.UPDATE_ONLY else None
            return self._client.upsert(collection, points=points, update_mode=update_mode, **named)

    def close(self) -> None:
        """It lives as long as the test: readers and writers come and go."""


class Lasting:
    """A client that readers and writers do not close."""

    def __init__(self, client: QdrantClient) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def close(self) -> None:
        """It lives as long as the test."""


@dataclass(frozen=True)
class Store:
    """One empty place for an index, and how to open it."""

    reader: Callable[[], Reader]
    writer: Callable[..., Writer]
    rows: Callable[[], list[Row]]  # of the index in force, vectors too

    def contents(self) -> dict[str, Any]:
        """Everything of the index in force, point by point: id -> (payload, vectors rounded); runs left out."""
        rows = [row for row in self.rows() if row.payload["record"] != "run"]
        return {row.id: (dict(row.payload), _rounded(row.vectors)) for row in rows}


def embedded(folder: Path) -> Store:
    return Store(
        lambda: embedded_reader(folder),
        lambda fingerprint=FINGERPRINT, **named: embedded_writer(folder, fingerprint, **named),
        lambda: _rows_of_version(folder),
    )


def in_memory() -> Store:
    double: Any = OneAtATime(QdrantClient(":memory:"))
    return _server(double, StoreSettings(collection="wiki", qdrant_url="memory", retries=0, grace=0.0, batch=2))


@contextmanager
def real_server(place: StoreSettings) -> Iterator[Store]:
    """A collection of its own on the server of ``place``; dropped afterwards."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    settings = replace(place, collection=name)
    client = connect(settings)
    shared: Any = Lasting(client)
    yield _server(shared, settings)
    for item in client.get_collections().collections:
        if item.name.startswith(f"{name}_v"):
            client.delete_collection(item.name)
    client.close()


def on_server(settings: StoreSettings) -> Store:
    """The index that ``settings`` name; every reader and writer has a client of its own, as in production."""
    return Store(
        lambda: server_reader(open_server(settings)),
        lambda fingerprint=FINGERPRINT, **named: server_writer(open_server(settings), fingerprint, **named),
        lambda: _rows_of_server(settings),
    )


def _rows_of_server(settings: StoreSettings) -> list[Row]:
    server = open_server(settings)
    rows = list(ServerEngine(server, server.aliased(settings.collection)).scroll(EVERYTHING))
    server.close()
    return rows


def _server(client: Any, settings: StoreSettings) -> Store:
    server = QdrantServer([client], settings)
    return Store(
        lambda: server_reader(QdrantServer([client], settings)),
        lambda fingerprint=FINGERPRINT, **named: server_writer(QdrantServer([client], settings), fingerprint, **named),
        lambda: list(ServerEngine(server, server.aliased(settings.collection)).scroll(EVERYTHING)),
    )


def _rows_of_version(folder: Path) -> list[Row]:
    copy = private_copy(folder, read_pointer(folder))
    engine = EdgeEngine.load(copy.folder / "shard")
    rows = list(engine.scroll(EVERYTHING))
    engine.close()
    copy.discard()
    return rows


def _rounded(vectors: Vectors | None) -> Any:
    if vectors is None:
        return None
    values = [round(value, 4) for value in vectors.sparse.values]
    dense = [vector.round(4).tolist() for vector in dense_vectors(vectors).values()]
    return (dense, vectors.sparse.indices, values)


def make_chunk(page: str, ordinal: int, text: str, **fields: Any) -> Chunk:
    values: dict[str, Any] = {
        "id": f"{page}#{ordinal}", "page_id": page, "space": "DOC", "title": f"Page {page}", "path": ("Home",),
        "headings": ("Heading",), "url": f"https://wiki/{page}#h", "kind": "section", "screen": False,
        "ordinal": ordinal, "part": 1, "parts": 1, "text": text, "context": f"About {text}", "acl": PUBLIC,
        "updated": "2026-01-01T00:00:00Z", "labels": ("howto",), "hash": f"hash of {text}",
    }  # fmt: skip
    return Chunk(**{**values, **fields})


def make_point(chunk: Chunk) -> Point:
    return Point(
        chunk,
        Vectors(EMBEDDER.documents([chunk.text]), EMBEDDER.query(chunk.context), SPARSE.documents([chunk.text])[0]),
    )


def make_state(chunks: Sequence[Chunk], mark: str = "") -> PageState:
    known: Mapping[str, str] = {chunk.id: chunk.hash for chunk in chunks}
    return PageState(chunks[0].page_id, f"page hash {mark}", known)


def write_page(writer: Writer, *chunks: Chunk, source: str = SOURCE, readers: Any = (), mark: str = "") -> None:
    writer.replace_page(source, make_state(chunks, mark), [make_point(chunk) for chunk in chunks], readers)


def one_writes_a_source(first: Writer, second: Writer) -> None:
    """Of two indexers one writes a source at a time, and the other is told by whom it is written."""
    first.claim("a")
    with pytest.raises(StoreError, match=r"Another indexer \(process \d+ on .+\) is writing a;"):
        second.claim("a")
    second.claim("b")
    first.close()
    second.claim("a")
    second.close()
