"""A connection whose request never comes whole is closed; one that works is not."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

from askwiki.server.asgi import Receive, Scope, Send
from askwiki.server.connections import HEAD_SECONDS, ImpatientProtocol
from tests.support.waiting import PATIENCE, until

SECONDS = 0.4


class Quick(ImpatientProtocol):
    head_seconds = SECONDS


async def slow(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers late to ``/late`` and at once to all else, without reading the body."""
    await asyncio.sleep(3 * SECONDS if scope["path"] == "/late" else 0)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(slow, http=Quick, ws="none", lifespan="off", log_level="error", timeout_keep_alive=60)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        until(lambda: server.started, "the server has started")
        yield listening.getsockname()
        server.should_exit = True
        thread.join()


def closed(connection: socket.socket) -> bytes:
    """What comes until the server closes."""
    received = b""
    while piece := connection.recv(4096):
        received += piece
    return received


@pytest.mark.parametrize("sent", [b"", b"GET", b"GET /x HTTP/1.1\r\nHost: x\r\nX-Half: "])
def test_half_a_head_is_not_waited_for(address: tuple[str, int], sent: bytes) -> None:
    with socket.create_connection(address, timeout=PATIENCE) as connection:
        started = time.monotonic()
        connection.sendall(sent)
        assert closed(connection) == b""
        assert time.monotonic() - started >= SECONDS / 2


def test_a_head_that_trickles_in_is_not_waited_for(address: tuple[str, int]) -> None:
    with socket.create_connection(address, timeout=PATIENCE) as connection, pytest.raises(OSError):
        for _ in range(200):
            connection.sendall(b"G")
            time.sleep(SECONDS / 10)


def test_half_a_head_behind_a_whole_request_is_not_waited_for(address: tuple[str, int]) -> None:
    with socket.create_connection(address, timeout=PATIENCE) as connection:
        connection.sendall(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /y HTTP/1.1\r\nHo")
        assert b"200" not in closed(connection)


def test_a_body_that_trickles_in_behind_the_answer_is_not_waited_for(address: tuple[str, int]) -> None:
    with socket.create_connection(address, timeout=PATIENCE) as connection, pytest.raises(OSError):
        connection.sendall(b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        for _ in range(200):
            connection.sendall(b"x")
            time.sleep(SECONDS / 10)


def test_an_answer_that_takes_longer_and_a_pause_between_requests_are_waited_for(address: tuple[str, int]) -> None:
    with socket.create_connection(address, timeout=PATIENCE) as connection:
        for path in (b"/late", b"/x"):
            connection.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = b""
            while not answer.endswith(b"ok"):
                answer += connection.recv(4096)
            time.sleep(2 * SECONDS)


def test_the_limit_is_some_seconds() -> None:
    assert 2.0 <= HEAD_SECONDS <= 30.0
