"""The encoder service over real HTTP, and the remote encoders that talk to it and to other servers."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
import requests
import uvicorn

from askwiki.encoders.endpoint import estimated_tokens
from askwiki.encoders.factory import make_embedder, make_sparse
from askwiki.encoders.rerankers import make_reranker
from askwiki.errors import ModelError, SettingsError
from askwiki.server.encoder import MOST_BYTES, MOST_TERMS, MOST_WORDS, Batcher, encoder_app
from askwiki.settings import ChunkingSettings, EmbeddingSettings, RerankSettings, SparseSettings
from askwiki.store.fingerprint import fingerprint_of
from tests.support.fakes import HashEmbedder
from tests.support.waiting import PATIENCE, until

KEY = "secret"
LOCAL, SPARSE = HashEmbedder(), make_sparse(SparseSettings())


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(encoder_app(LOCAL, SPARSE, key=KEY), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        until(lambda: server.started, "the service has started")
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def remote(url: str, **fields: Any) -> EmbeddingSettings:
    return EmbeddingSettings(kind="openai", url=url, key=KEY, timeout=PATIENCE, retries=1, **fields)


def test_the_service_gives_the_vectors_of_its_model(service: str) -> None:
    embedder = make_embedder(remote(service))
    texts = ["сброс пароля", "машина", ""]
    assert embedder.documents(texts) == pytest.approx(LOCAL.documents(texts), abs=1e-6)
    assert embedder.query("пароль") == pytest.approx(LOCAL.query("пароль"), abs=1e-6)
    assert embedder.count(texts) == LOCAL.count(texts)
    assert (embedder.size, embedder.limit) == (LOCAL.size, LOCAL.limit)


def test_the_service_gives_the_sparse_vectors_of_its_model(service: str) -> None:
    encoder = make_sparse(SparseSettings(kind="remote", url=service, key=KEY, batch=2))
    texts = ["сброс пароля", "машина", "ключ"]
    assert encoder.documents(texts) == SPARSE.documents(texts)
    assert encoder.query("сброс", ["ключ"]) == SPARSE.query("сброс", ["ключ"])
    assert (encoder.idf, encoder.identity()) == (True, SPARSE.identity())


def test_an_index_made_through_the_service_fits_one_made_in_the_process(service: str) -> None:
    chunking = ChunkingSettings()
    far = make_embedder(remote(service)), make_sparse(SparseSettings(kind="remote", url=service, key=KEY))
    near = fingerprint_of(LOCAL, SPARSE, chunking, contexts=True)
    assert fingerprint_of(*far, chunking, contexts=True) == near


@pytest.mark.parametrize("path", ["embeddings", "sparse", "count"])
def test_without_the_key_nothing_is_encoded(service: str, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        assert (
            requests.post(f"{service}/v1/{path}", json={"input": ["a"]}, headers=headers, timeout=PATIENCE).status_code
            == 401
        )
    assert requests.get(f"{service}/v1/identity", timeout=PATIENCE).status_code == 401


def test_health_is_open(service: str) -> None:
    assert requests.get(f"{service}/health", timeout=PATIENCE).json() == {"status": "ok"}


def test_openai_clients_understand_the_answer(service: str) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    answer = requests.post(
        f"{service}/v1/embeddings", json={"input": "ключ", "model": "any"}, headers=headers, timeout=PATIENCE
    )
    found = answer.json()
    assert (found["object"], found["model"], found["usage"]) == (
        "list",
        "hash",
        {"prompt_tokens": 3, "total_tokens": 3},
    )
    assert [row["index"] for row in found["data"]] == [0]
    assert np.array(found["data"][0]["embedding"]) == pytest.approx(LOCAL.query("ключ"), abs=1e-6)


def test_requests_that_come_while_the_model_works_share_a_batch() -> None:
    """The first batch is held until nine more requests wait: they are encoded as one."""
    waiting, release = threading.Event(), threading.Event()

    def encode(texts: Any) -> Any:
        if list(texts) == ["first"]:
            waiting.set()
            release.wait(PATIENCE)
        return np.array([[len(text)] for text in texts], dtype=np.float32)

    batcher = Batcher(encode)
    with ThreadPoolExecutor(10) as pool:
        first = pool.submit(batcher, ["first"])
        assert waiting.wait(PATIENCE)
        others = [pool.submit(batcher, ["x" * number]) for number in range(1, 10)]
        until(lambda: batcher.waiting() == len(others), "nine requests wait")
        release.set()
        assert first.result().tolist() == [[5.0]]
        assert [other.result().tolist() for other in others] == [[[float(number)]] for number in range(1, 10)]
    assert batcher.batches == 2


def test_an_error_of_the_model_reaches_whoever_waits_and_the_next_batch_works() -> None:
    def encode(texts: Any) -> Any:
        if "bad" in texts:
            raise ModelError("The model failed.")
        return np.zeros((len(texts), 1), dtype=np.float32)

    batcher = Batcher(encode)
    with pytest.raises(ModelError, match="The model failed"):
        batcher(["bad"])
    assert batcher(["good"]).shape == (1, 1)


# --- other servers --------------------------------------------------------------------------------

Answer = Callable[[str, Any], tuple[int, Any]]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._say(body)

    def do_GET(self) -> None:
        self._say(None)

    def _say(self, body: Any) -> None:
        status, said = self.server.answer(self.path, body)  # type: ignore[attr-defined]
        data = json.dumps(said).encode() if not isinstance(said, bytes) else said
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Quiet."""


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], str]]:
    servers: list[ThreadingHTTPServer] = []

    def start(answer: Answer) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        server.answer = answer  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def plain_server(vectors: Callable[[list[str]], Any]) -> Answer:
    """Any other server: it knows only /v1/embeddings."""

    def answer(path: str, body: Any) -> tuple[int, Any]:
        if path != "/v1/embeddings":
            return 404, {"detail": "Not Found"}
        rows = [{"index": number, "embedding": vector} for number, vector in enumerate(vectors(body["input"]))]
        return 200, {"data": rows[::-1]}

    return answer


def test_another_server_gets_the_prefixes_and_may_answer_in_any_order(serve: Callable[[Answer], str]) -> None:
    asked: list[str] = []

    def vectors(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[float(len(text)), 0.0] if "машина" in text else [0.0, 1.0] for text in texts]

    settings = remote(serve(plain_server(vectors)), query_prefix="q: ", document_prefix="d: ", model="m")
    embedder = make_embedder(settings)
    assert embedder.documents(["машина", "ключ"]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert embedder.query("ключ").tolist() == [0.0, 1.0]
    assert asked == ["d: size", "d: машина", "d: ключ", "q: ключ"]
    assert embedder.identity()["size"] == 2
    assert embedder.count(["12345"]) == [10]  # d : 1 2 3 4 5, a blank, begin and end


def test_a_server_that_changes_its_model_is_noticed(serve: Callable[[Answer], str]) -> None:
    sizes = iter([2, 3, 3])

    def vectors(texts: list[str]) -> list[list[float]]:
        size = next(sizes)
        return [[1.0] * size for _ in texts]

    embedder = make_embedder(remote(serve(plain_server(vectors))))
    assert embedder.size == 2
    with pytest.raises(ModelError, match="another model"):
        embedder.documents(["a"])
    with pytest.raises(ModelError, match="gave 3 numbers where 2"):
        embedder.query("a")


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ((200, {"data": [{"index": 0, "embedding": [float("nan"), 1.0]}]}), "no direction"),
        ((200, {"data": [{"index": 0, "embedding": [0.0, 0.0]}]}), "no direction"),
        ((200, {"data": []}), "gave 0 vectors for 1"),
        ((200, {"error": "x"}), "one vector for each text"),
        ((200, b"<html>"), "did not answer with JSON"),
        ((400, {"error": "unknown model m"}), "answered 400: .*unknown model m"),
    ],
)
def test_an_unusable_answer_is_a_sentence(serve: Callable[[Answer], str], said: Any, sentence: str) -> None:
    embedder = make_embedder(remote(serve(lambda path, body: said if path.endswith("embeddings") else (404, {}))))
    with pytest.raises(ModelError, match=sentence):
        embedder.query("a")


def test_a_busy_server_is_asked_again(serve: Callable[[Answer], str]) -> None:
    answers = iter([(503, {}), (200, {"data": [{"index": 0, "embedding": [1.0, 0.0]}]})])
    embedder = make_embedder(remote(serve(lambda path, body: next(answers) if body else (404, {}))))
    assert embedder.size == 2


def test_a_server_that_is_not_there_is_a_sentence_when_it_is_needed() -> None:
    embedder = make_embedder(EmbeddingSettings(kind="openai", url="http://127.0.0.1:9", timeout=1.0, retries=0))
    with pytest.raises(ModelError, match=r"http://127.0.0.1:9/v1/\w+ does not answer"):
        embedder.query("a")


@pytest.mark.parametrize("url", ["", "host:8080", "ftp://host"])
def test_an_address_that_is_none_is_a_sentence(url: str) -> None:
    with pytest.raises((ModelError, SettingsError), match=r"embedding\.url"):
        make_embedder(EmbeddingSettings(kind="openai", url=url))


@pytest.mark.parametrize(
    "text",
    [
        "Заявку подают на портале.",
        "| b4a1351f2a09 | 0 шт. | 3 шт. |",
        ", @, #, $, %, ^, *, (, ), ,, .",
        "10.0.12.255/24 и 2026-12-01T04:50",
        '-H "$H_SDN" \\',
    ],
)
def test_a_server_that_does_not_count_is_never_given_more_than_it_reads(text: str) -> None:
    """Where tokens are estimated they are estimated from above, and more of them are kept free."""
    exact = make_embedder(EmbeddingSettings())
    text = " ".join([text] * 20)
    assert estimated_tokens("passage: " + text) >= exact.count([text])[0]


def test_more_room_is_kept_free_where_tokens_are_estimated(serve: Callable[[Answer], str]) -> None:
    assert make_embedder(remote(serve(lambda path, body: (404, {})))).limit == 512 - 32


def head(service: str, *, key: str, length: int, body: bytes = b"") -> bytes:
    """The first line of the answer to a request whose body does not come, or only in part."""
    host, _, port = service.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        connection.sendall(
            f"POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode()
            + body
        )
        return connection.recv(4096).split(b"\r\n")[0]


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/sparse", "/v1/count", "/v1/identity", "/nowhere", "/health/"])
def test_the_key_is_looked_at_before_a_body(service: str, path: str) -> None:
    assert b"401" in head(service, key="wrong", length=10**9)
    for body in (b"", b"{", b'{"input": 1}'):
        assert requests.post(service + path, data=body, timeout=PATIENCE).status_code == 401


def test_a_body_over_the_limit_is_not_read(service: str) -> None:
    assert b"413" in head(service, key=KEY, length=MOST_BYTES + 1)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("embeddings", {"input": "a " * (MOST_WORDS + 1)}, 413),
        ("sparse", {"input": ["a " * (MOST_WORDS // 2)] * 3}, 413),
        ("count", {"input": ["a " * (MOST_WORDS + 1)]}, 413),
        ("count", {"input": ["a " * MOST_WORDS]}, 200),
        ("sparse", {"input": ["a"], "input_type": "query", "terms": ["a"] * (MOST_TERMS + 1)}, 422),
        ("sparse", {"input": ["a"], "input_type": "query", "terms": ["a " * (MOST_WORDS + 1)]}, 413),
    ],
)
def test_words_over_the_limit_are_refused(service: str, path: str, body: dict[str, Any], status: int) -> None:
    answer = requests.post(
        f"{service}/v1/{path}", json=body, headers={"Authorization": f"Bearer {KEY}"}, timeout=PATIENCE
    )
    assert answer.status_code == status
    assert status == 200 or answer.json()["detail"]


def test_a_server_that_takes_the_call_and_says_nothing_is_left_after_the_time_of_the_settings() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        sparse = make_sparse(SparseSettings(kind="remote", url=url, timeout=0.2, retries=0))
        reranker = make_reranker(RerankSettings(kind="endpoint", url=url, timeout=0.2))
        begun = time.monotonic()
        with pytest.raises(ModelError):
            sparse.query("пароль")
        assert reranker is not None
        with pytest.raises(ModelError):
            reranker.scores("пароль", ["сброс пароля"])
        assert time.monotonic() - begun < SparseSettings().timeout / 2
