"""What only the server adapter has: leases, strangers' collections, the wire, faults and retries."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from askwiki.data import Rights
from askwiki.errors import StoreError
from askwiki.settings import StoreSettings
from askwiki.store import open_reader, open_writer
from askwiki.store.engine import Overwrite, Scroll, Where
from askwiki.store.port import Leg
from askwiki.store.qdrant.client import connect
from askwiki.store.qdrant.engine import ServerEngine
from askwiki.store.qdrant.server import QdrantServer, open_server
from askwiki.store.qdrant.store import server_reader, server_writer
from tests.support.stores import EMBEDDER, FINGERPRINT, SPARSE, OneAtATime, make_chunk, one_writes_a_source, write_page

SETTINGS = StoreSettings(collection="wiki", qdrant_url="memory", retries=0, grace=0.0, batch=2)


@pytest.fixture
def server() -> QdrantServer:
    double: Any = OneAtATime(QdrantClient(":memory:"))
    return QdrantServer([double], SETTINGS)


def test_a_source_has_one_indexer_at_a_time(server: QdrantServer) -> None:
    first, second = server_writer(server, FINGERPRINT), server_writer(server, FINGERPRINT)
    one_writes_a_source(first, second)


@pytest.mark.parametrize(
    "change",
    [{"process": 2**22 + 1}, {"until": 0.0}, {"host": "elsewhere", "until": 4e9}],
    ids=["its process died", "it ran out", "it is stamped in the far future"],
)
def test_a_lease_that_nobody_holds_any_more_is_free(server: QdrantServer, change: dict[str, Any]) -> None:
    first, second = server_writer(server, FINGERPRINT), server_writer(server, FINGERPRINT)
    first.claim("a")
    engine = ServerEngine(server, "wiki_v1")
    [row] = engine.scroll(Scroll(Where({"record": ["lock"]})))
    engine.write([Overwrite(row.id, {**row.payload, **change})])
    second.claim("a")
    [row] = engine.scroll(Scroll(Where({"record": ["lock"]})))
    first.close()
    assert [left.id for left in engine.scroll(Scroll(Where({"record": ["lock"]})))] == [row.id]
    second.close()


def test_several_indexers_fill_one_collection(server: QdrantServer) -> None:
    """Each its own sources, at the same time; the result is the union."""
    server_writer(server, FINGERPRINT).commit()

    def index(source: str) -> None:
        writer = server_writer(server, FINGERPRINT)
        writer.claim(source)
        for number in range(10):
            write_page(writer, make_chunk(f"{source}{number}", 0, f"страница {number}"), source=source)
        writer.commit()
        writer.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(index, ["a", "b"]))
    writer = server_writer(server, FINGERPRINT)
    assert (writer.count("a"), writer.count("b"), len(writer.pages("a"))) == (10, 10, 10)
    writer.close()


@pytest.mark.parametrize("name", ["wiki", "wiki_v1"])
def test_a_collection_of_somebody_else_is_left_alone(server: QdrantServer, name: str) -> None:
    server.clients[0].create_collection(name, models.VectorParams(size=2, distance=models.Distance.DOT))
    if name == "wiki_v1":
        server.switch(name, given=["wiki"])
    for attempt in (lambda: server_reader(server).count(), lambda: server_writer(server, FINGERPRINT)):
        with pytest.raises(StoreError, match=r"store\.collection"):
            attempt()
    assert server.collections() == [name]


def test_a_reader_survives_the_drop_of_its_collection(server: QdrantServer) -> None:
    writer = server_writer(server, FINGERPRINT)
    write_page(writer, make_chunk("1", 0, "старый"))
    writer.commit()
    reader = server_reader(server)
    assert reader.count() == 1
    rebuilt = server_writer(server, FINGERPRINT, rebuild=True)
    write_page(rebuilt, make_chunk("1", 0, "новый"), make_chunk("1", 1, "ещё"))
    rebuilt.commit()
    assert server.collections() == ["wiki_v2"]
    assert reader.count() == 2


# --- the wire --------------------------------------------------------------------------------------

Reply = tuple[int, dict[str, str], Any]


class _Handler(BaseHTTPRequestHandler):
    def _say(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server: Any = self.server
        server.requests.append((self.command, self.path, dict(self.headers), json.loads(body) if body else None))
        status, headers, said = server.answer(self.command, self.path)
        data = json.dumps(said).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Type": "application/json", "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = _say

    def log_message(self, format: str, *arguments: Any) -> None:
        """Quiet."""


@pytest.fixture
def stub() -> Iterator[Any]:
    """A server that answers as told and remembers what it was asked."""
    with another() as server:
        yield server


@contextmanager
def another() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.requests = []
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


ALIASES = (
    200,
    {},
    {"result": {"aliases": [{"alias_name": "wiki", "collection_name": "wiki_v3"}]}, "status": "ok", "time": 0},
)
COLLECTION = (
    200,
    {},
    {
        "status": "ok",
        "time": 0,
        "result": {
            "status": "green",
            "optimizer_status": "ok",
            "segments_count": 1,
            "payload_schema": {},
            "points_count": 1,
            "config": {
                "params": {},
                "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10},
                "optimizer_config": {"deleted_threshold": 0.2, "vacuum_min_vector_number": 1000,
                                     "default_segment_number": 0, "flush_interval_sec": 5},
                "metadata": {"fingerprint": {"schema": 1, "sizes": {"text": 64}}},
            },
        },
    },
)  # fmt: skip


def usual(further: Callable[[str, str], Reply]) -> Callable[[str, str], Reply]:
    def answer(method: str, path: str) -> Reply:
        if path.startswith("/aliases"):
            return ALIASES
        if method == "GET" and path.startswith("/collections/wiki_v3"):
            return COLLECTION
        return further(method, path)

    return answer


def point(number: int, score: float) -> dict[str, Any]:
    return {"id": number, "version": 1, "score": score, "payload": {"id": f"c{number}"}}


def test_all_legs_go_in_one_request_each_with_the_rights(stub: Any) -> None:
    legs = [[point(1, 0.9), point(2, 0.8)], [point(2, 5.0)]]
    found_there: dict[bool, Any] = {True: [{"points": leg} for leg in legs], False: [point(1, 0.0), point(2, 0.0)]}
    stub.answer = usual(
        lambda method, path: (200, {}, {"result": found_there["query" in path], "status": "ok", "time": 0})
    )
    settings = StoreSettings(
        qdrant_url=stub.url, qdrant_key="read-only", collection="wiki", retries=0, hnsw_ef=77, quantization="scalar"
    )
    reader = open_reader(settings)
    query = EMBEDDER.query("пароль")
    found = reader.search(
        [Leg("text", query, 7), Leg("sparse", SPARSE.query("пароль"), 9)], Rights(frozenset({"*", "team"}))
    )
    reader.close()
    assert {name: list(hits) for name, hits in found.items()} == {"text": ["c1", "c2"], "sparse": ["c2"]}
    [(method, path, headers, body)] = [asked for asked in stub.requests if "query" in asked[1]]
    assert (method, path.partition("?")[0]) == ("POST", "/collections/wiki_v3/points/query/batch")
    assert headers["api-key"] == "read-only"
    rights = {"must": [{"key": "acl", "match": {"any": ["*", "team"]}}]}
    assert [search["filter"] for search in body["searches"]] == [rights, rights]
    effort = {"hnsw_ef": 77, "quantization": {"rescore": True, "oversampling": 2.0}}
    assert [search["params"] for search in body["searches"]] == [effort, effort]
    assert [(search["using"], search["limit"]) for search in body["searches"]] == [("text", 7), ("sparse", 9)]


class Forgetful(OneAtATime):
    """Loses a point between the search and the question for its name; counts those questions."""

    gone = ""
    asked = 0

    def retrieve(self, collection: str, ids: list[Any], **named: Any) -> Any:
        self.asked += 1
        found = self._client.retrieve(collection, ids, **named)
        return [record for record in found if record.payload["id"] != self.gone]


def test_names_are_learnt_once_and_a_chunk_that_goes_meanwhile_is_no_hit() -> None:
    double: Any = Forgetful(QdrantClient(":memory:"))
    server = QdrantServer([double], SETTINGS)
    writer = server_writer(server, FINGERPRINT)
    kept, lost = make_chunk("1", 0, "пароль"), make_chunk("2", 0, "пароль и вход")
    for chunk in (kept, lost):
        write_page(writer, chunk)
    writer.commit()
    double.gone = lost.id
    reader = server_reader(server)
    legs = [Leg("text", EMBEDDER.query("пароль"), 5)]
    found = [reader.search(legs, Rights())["text"] for _ in range(2)]
    assert [list(hits) for hits in found] == [[kept.id], [kept.id]]
    double.gone = ""
    assert set(reader.search(legs, Rights())["text"]) == {kept.id, lost.id}
    asked = double.asked
    reader.search(legs, Rights())
    assert double.asked == asked


def test_a_busy_server_is_asked_again(stub: Any) -> None:
    replies = iter(
        [(503, {}, {"status": {"error": "busy"}}), (429, {"Retry-After": "0"}, {"status": {"error": "slow"}})]
    )
    count = (200, {}, {"result": {"count": 5}, "status": "ok", "time": 0})
    stub.answer = usual(lambda method, path: next(replies, count))
    reader = open_reader(StoreSettings(qdrant_url=stub.url, collection="wiki", retries=2))
    assert reader.count() == 5
    reader.close()


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ((401, {}, {"status": {"error": "no"}}), "refused the key; check ASKWIKI_QDRANT_KEY"),
        ((403, {}, {"status": {"error": "no"}}), "refused the key; check ASKWIKI_QDRANT_KEY"),
        ((400, {}, {"status": {"error": "Wrong input: bad"}}), "answered 400: .*Wrong input: bad"),
        ((500, {}, {"status": {"error": "panic"}}), "answered 500: .*panic"),
    ],
)
def test_what_the_server_refuses_is_a_sentence(stub: Any, reply: Reply, sentence: str) -> None:
    stub.answer = usual(lambda method, path: reply)
    reader = open_reader(StoreSettings(qdrant_url=stub.url, collection="wiki", retries=0))
    with pytest.raises(StoreError, match=sentence):
        reader.count()
    reader.close()


@pytest.mark.parametrize("grpc", [False, True])
def test_a_server_that_is_not_there_is_a_sentence(grpc: bool) -> None:
    settings = StoreSettings(qdrant_url="http://127.0.0.1:9", grpc=grpc, grpc_port=9, retries=0, timeout=1.0)
    reader = open_reader(settings)
    with pytest.raises(StoreError, match=r"The Qdrant server at http://127\.0\.0\.1:9 could not do it"):
        reader.count()
    reader.close()
    with pytest.raises(StoreError, match="could not do it"):
        open_writer(settings, FINGERPRINT)


def test_a_new_collection_is_made_as_the_settings_say(stub: Any) -> None:
    ok = (200, {}, {"result": True, "status": "ok", "time": 0})

    def answer(method: str, path: str) -> Reply:
        if path.startswith("/aliases"):
            return 200, {}, {"result": {"aliases": []}, "status": "ok", "time": 0}
        if method == "GET":
            return 200, {}, {"result": {"collections": []}, "status": "ok", "time": 0}
        return ok if "/index" not in path else (200, {}, {"result": {"status": "completed"}, "status": "ok", "time": 0})

    stub.answer = answer
    settings = StoreSettings(
        qdrant_url=stub.url, collection="wiki", shards=12, replicas=2, on_disk=True, quantization="scalar", retries=0
    )
    open_writer(settings, FINGERPRINT).close()
    [made] = [
        body
        for method, path, _, body in stub.requests
        if (method == "PUT" and path.startswith("/collections/wiki_v1?")) or path == "/collections/wiki_v1"
    ]
    assert (made["shard_number"], made["replication_factor"]) == (12, 2)
    assert made["vectors"]["text"] == {
        "size": 64, "distance": "Cosine", "on_disk": True, "memory": "cold",
        "multivector_config": {"comparator": "max_sim"},
    }  # fmt: skip
    assert made["vectors"]["context"] == {"size": 64, "distance": "Cosine", "on_disk": True, "memory": "cold"}
    assert made["sparse_vectors"] == {"sparse": {"index": {"on_disk": True, "memory": "cold"}, "modifier": "idf"}}
    scalar = {"type": "int8", "quantile": 0.99, "always_ram": True, "memory": "pinned"}
    assert made["quantization_config"] == {"scalar": scalar}
    assert made["metadata"] == {"fingerprint": FINGERPRINT}
    indexed = {body["field_name"]: body["field_schema"] for _, path, _, body in stub.requests if "/index" in path}
    assert {name: indexed[name] for name in ("page_id", "space", "kind", "screen", "labels", "acl", "updated")} == {
        "page_id": "keyword", "space": "keyword", "kind": "keyword", "screen": "bool", "labels": "keyword",
        "acl": "keyword", "updated": "datetime",
    }  # fmt: skip


def test_a_page_is_written_in_one_request_and_a_large_one_in_portions(stub: Any) -> None:
    done = {"result": [{"status": "completed"}] * 9, "status": "ok", "time": 0}
    stub.answer = lambda method, path: (200, {}, done)
    server = QdrantServer([QdrantClient(url=stub.url, check_compatibility=False)], replace(SETTINGS, batch=2))
    engine = ServerEngine(server, "wiki_v1")
    from askwiki.store.records import RecordWriter

    write_page(RecordWriter(engine), *(make_chunk("1", number, f"слово {number}") for number in range(5)))
    server.close()
    sent = [[next(iter(operation)) for operation in body["operations"]] for _, _, _, body in stub.requests]
    assert sent == [["upsert", "upsert"], ["upsert"], ["upsert", "delete", "upsert"]]


# --- whom it trusts -------------------------------------------------------------------------------


def test_a_file_of_certificates_that_is_none_is_a_sentence(tmp_path: Path) -> None:
    words = tmp_path / "words.pem"
    words.write_text("not a certificate", encoding="utf-8")
    settings = replace(SETTINGS, qdrant_url="https://127.0.0.1:1", qdrant_ca=str(words))
    with pytest.raises(StoreError, match=r"words\.pem holds no certificates in PEM form"):
        connect(settings)
    with pytest.raises(StoreError, match=r"missing\.pem cannot be read: No such file or directory\. It is named by"):
        connect(replace(settings, qdrant_ca=str(tmp_path / "missing.pem")))


def test_a_certificate_that_is_not_checked_is_refused_over_grpc_at_once() -> None:
    settings = replace(SETTINGS, qdrant_url="https://127.0.0.1:1", verify_tls=False)
    connect(settings).close()
    with pytest.raises(StoreError, match=r"store\.qdrant_ca .+ or set store\.grpc: false"):
        connect(replace(settings, grpc=True))
    connect(replace(settings, qdrant_url="http://127.0.0.1:1", grpc=True)).close()


# --- several addresses ----------------------------------------------------------------------------

NOBODY = "http://127.0.0.1:9"  # the discard port: nobody listens
COUNTED = (200, {}, {"result": {"count": 5}, "status": "ok", "time": 0})


def test_the_next_address_is_asked_at_once_where_nobody_is_and_from_then_on(
    stub: Any, caplog: pytest.LogCaptureFixture
) -> None:
    stub.answer = usual(lambda method, path: COUNTED)
    reader = open_reader(StoreSettings(qdrant_url=f"{NOBODY}, {stub.url}", collection="wiki", retries=0))
    with caplog.at_level("WARNING"):
        assert [reader.count(), reader.count()] == [5, 5]
    reader.close()
    assert [record.getMessage() for record in caplog.records] == [f"Qdrant is asked at {stub.url} from now on"]


def test_a_node_that_cannot_serve_just_now_sends_a_write_to_the_next(stub: Any) -> None:
    with another() as away:
        away.answer = lambda method, path: (503, {}, {"status": {"error": "not ready"}})
        stub.answer = usual(lambda method, path: (200, {}, {"result": [], "status": "ok", "time": 0}))
        server = open_server(StoreSettings(qdrant_url=f"{away.url},{stub.url}", collection="wiki", retries=0))
        ServerEngine(server, "wiki_v3").write([Overwrite(str(uuid.uuid4()), {"record": "lock"})])
        server.close()
        assert [len(away.requests), len(stub.requests)] == [1, 1]


@pytest.mark.parametrize("status", [400, 403, 500])
def test_what_one_node_refuses_no_other_is_asked(stub: Any, status: int) -> None:
    with another() as second:
        stub.answer = usual(lambda method, path: (status, {}, {"status": {"error": "no"}}))
        reader = open_reader(StoreSettings(qdrant_url=f"{stub.url},{second.url}", collection="wiki", retries=0))
        with pytest.raises(StoreError):
            reader.count()
        reader.close()
        assert second.requests == []


def test_all_addresses_gone_is_one_sentence_that_names_them() -> None:
    reader = open_reader(StoreSettings(qdrant_url=f"{NOBODY},{NOBODY}", retries=0, timeout=1.0))
    with pytest.raises(StoreError, match=rf"The Qdrant server at {NOBODY},{NOBODY} could not do it"):
        reader.count()
    reader.close()
