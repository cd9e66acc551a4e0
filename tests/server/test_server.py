"""The guard alone, around small apps: who gets in, what is limited, what leaves when the app fails."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
from starlette.routing import Route

from askwiki.commands.serve import _listen
from askwiki.errors import SettingsError
from askwiki.logs import JsonFormatter, add_request
from askwiki.metrics import METRICS, Metrics
from askwiki.openwebui.sealing import MAX_AGE, STOCK_KEY, Signer
from askwiki.request import Request, current_request, set_request
from askwiki.server import stock
from askwiki.server.asgi import Receive, Send
from askwiki.server.guarded import ServerGuard
from askwiki.server.routes import Routes
from askwiki.settings import ServerSettings
from tests.support.asgi import Reply, call
from tests.support.waiting import PATIENCE

KEY = "a-secret-of-the-test"
Scope = MutableMapping[str, Any]
INLET = "/wiki_condense/filter/inlet"
SERVED = Routes(
    [
        Route(path, lambda request: None, methods=[method])
        for method, path in [
            ("GET", "/"),
            ("GET", "/models"),
            ("POST", "/{pipeline_id}/filter/inlet"),
            ("POST", "/chat/completions"),
            ("POST", "/v1/chat/completions"),
        ]
    ],
    lambda: ["wiki_condense"],
)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with what reached it."""
    message = await receive()
    request = current_request()
    seen = {
        "path": scope["path"],
        "size": len(message["body"]),
        "headers": dict(request.headers),
        "busy": request.busy,
        "origin": any(name == b"origin" for name, _ in scope["headers"]),
    }
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps(seen).encode()})


def guard(app: Any = echo, **settings: Any) -> ServerGuard:
    return ServerGuard(app, routes=SERVED, key=KEY, settings=ServerSettings(**settings))


def ask(app: ServerGuard, method: str, path: str, **options: Any) -> Reply:
    return asyncio.run(call(app, method, path, **options))


ROUTES = [
    ("GET", "/v1"),
    ("GET", "/models"),
    ("GET", "/v1/models"),
    ("GET", "/pipelines"),
    ("GET", "/docs"),
    ("GET", "/openapi.json"),
    ("GET", "/metrics"),
    ("GET", "/wiki_answer/valves"),
    ("GET", "/v1/wiki_answer/valves/spec"),
    ("POST", "/wiki_answer/valves/update"),
    ("POST", "/wiki_condense/filter/inlet"),
    ("POST", "/v1/wiki_condense/filter/outlet"),
    ("POST", "/chat/completions"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/pipelines/upload"),
    ("POST", "/"),
    ("HEAD", "/"),
    ("OPTIONS", "/chat/completions"),
    ("GET", "/health/"),
    ("GET", "//"),
    ("GET", "/nowhere"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Bearer {STOCK_KEY}"},
        {"authorization": KEY},
        {"authorization": f"Basic {KEY}"},
        {"authorization": "Bearer "},
        {"authorization": f"Bearer {KEY}x"},
        {"authorization": "Bearer ключ"},
    ],
    ids=["none", "wrong", "stock", "bare", "basic", "empty", "longer", "cyrillic"],
)
def test_every_route_but_two_needs_the_key(method: str, path: str, headers: dict[str, str]) -> None:
    assert ask(guard(), method, path, headers=headers).status == 401


@pytest.mark.parametrize("path", ["/", "/health"])
def test_two_routes_are_open(path: str) -> None:
    assert ask(guard(), "GET", path).status == 200


def test_the_key_opens_the_rest() -> None:
    reply = ask(guard(), "POST", "/chat/completions", key=KEY, body=b"{}")
    assert (reply.status, reply.json()["size"]) == (200, 2)


def test_a_refusal_is_a_sentence_in_both_usual_forms() -> None:
    error = ask(guard(), "GET", "/models").json()
    assert error["detail"] == error["error"]["message"]
    assert error["detail"].endswith("PIPELINES_API_KEY.")


@pytest.mark.parametrize(
    ("headers", "parts"),
    [({"content-length": "11"}, [b""]), ({}, [b"x" * 6, b"x" * 5]), ({"content-length": "5"}, [b"x" * 11])],
    ids=["announced", "in parts", "lying"],
)
def test_a_body_over_the_limit_is_refused(headers: dict[str, str], parts: list[bytes]) -> None:
    assert ask(guard(max_body=10), "POST", INLET, key=KEY, headers=headers, parts=parts).status == 413


def test_a_body_within_the_limit_arrives_whole() -> None:
    assert ask(guard(max_body=10), "POST", INLET, key=KEY, parts=[b"xxxxx", b"yyyyy"]).json()["size"] == 10


def test_headers_reach_the_work_and_origins_do_not_reach_the_app() -> None:
    reply = ask(guard(), "POST", INLET, key=KEY, headers={"x-user-groups": "a", "origin": "https://evil.example"})
    assert (reply.json()["headers"]["x-user-groups"], reply.json()["origin"]) == ("a", False)


def test_the_request_id_goes_from_the_chat_to_the_answer() -> None:
    assert ask(guard(), "GET", "/models", key=KEY, headers={"x-message-id": "m-1"}).headers["x-request-id"] == "m-1"
    made = ask(guard(), "GET", "/models", key=KEY, headers={"x-message-id": "m 1\u00e9"}).headers["x-request-id"]
    assert len(made) == 32


async def raising(scope: Scope, receive: Receive, send: Send) -> None:
    raise RuntimeError("the words of the chat")


async def erring(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 500, "headers": []})
    await send({"type": "http.response.body", "body": b"Traceback: the words of the chat"})


async def rejecting(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 422, "headers": []})
    await send({"type": "http.response.body", "body": b'{"input": "the words of the chat"}'})


@pytest.mark.parametrize(("app", "status"), [(raising, 503), (erring, 503), (rejecting, 422)])
def test_what_fails_inside_leaves_as_a_sentence(app: Any, status: int) -> None:
    reply = ask(guard(app), "POST", INLET, key=KEY)
    assert reply.status == status
    assert "words of the chat" not in reply.body.decode()
    assert reply.json()["detail"].endswith((".", "says why."))


def test_a_failure_amid_the_answer_ends_it_without_a_second_one() -> None:
    async def breaking(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        raise RuntimeError

    reply = ask(guard(breaking), "POST", INLET, key=KEY)
    assert (reply.status, reply.body) == (200, b"begun")


def test_a_websocket_is_closed() -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def run() -> None:
        async def receive() -> MutableMapping[str, Any]:
            return {"type": "websocket.connect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        await guard()({"type": "websocket", "path": "/", "headers": []}, receive, send)

    asyncio.run(run())
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_the_thread_limit_is_raised_at_start_up() -> None:
    async def run() -> float:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            return None

        async def nothing(*_: Any) -> Any:
            return None

        await guard(app, threads=123)({"type": "lifespan"}, nothing, nothing)
        return anyio.to_thread.current_default_thread_limiter().total_tokens

    assert asyncio.run(run()) == 123


def test_chats_over_the_limit_are_turned_away_before_the_app_and_what_needs_no_place_is_let_in() -> None:
    release, inside = asyncio.Event(), asyncio.Semaphore(0)

    async def waiting(scope: Scope, receive: Receive, send: Send) -> None:
        if not current_request().busy:
            inside.release()
            await release.wait()
        await echo(scope, receive, send)

    def away(body: bytes, request: Request) -> tuple[bytes, str] | None:
        return None if body == b"a title" else (b'{"busy": "turned away"}', "application/json")

    async def run() -> list[Any]:
        app = ServerGuard(waiting, routes=SERVED, key=KEY, settings=ServerSettings(chats=2), away=away)
        first = [asyncio.create_task(call(app, "POST", "/chat/completions", key=KEY)) for _ in range(2)]
        for _ in first:
            await inside.acquire()
        third = await call(app, "POST", "/v1/chat/completions", key=KEY)
        title = await call(app, "POST", "/chat/completions", key=KEY, body=b"a title")
        models = await call(app, "GET", "/models", key=KEY)
        release.set()
        replies = [third, title, models, *await asyncio.gather(*first)]
        replies.append(await call(app, "POST", "/chat/completions", key=KEY))
        return [reply.json()["busy"] for reply in replies]

    assert asyncio.run(run()) == ["turned away", True, True, False, False, False]


def test_a_connection_sends_small_pieces_at_once() -> None:
    """Else each waits up to 40 ms for the acknowledgement of the one before (Nagle's algorithm, RFC 1122 4.2.3.4)."""
    with _listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_client_that_goes_ends_the_work_and_frees_what_it_holds() -> None:
    seen: dict[str, Any] = {"closed": False}

    async def working(scope: Scope, receive: Receive, send: Send) -> None:
        request = current_request()
        request.closers.append(lambda: seen.update(closed=True))
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        seen["stopped"] = await asyncio.to_thread(request.cancelled.wait, PATIENCE)
        await send({"type": "http.response.body", "body": b"too late"})

    reply = ask(guard(working), "POST", "/chat/completions", key=KEY, leave_after=0.05)
    assert (seen["stopped"], seen["closed"], reply.body) == (True, True, b"")


def test_the_app_that_waits_for_the_client_to_go_is_told() -> None:
    async def listening(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        assert (await receive())["type"] == "http.disconnect"

    assert ask(guard(listening), "POST", INLET, key=KEY, leave_after=0.0).status == 0


def test_a_request_without_the_wrapper_has_no_headers_and_nobody_stops_it() -> None:
    request = current_request()
    assert (request.headers, request.busy, request.cancelled.is_set()) == ({}, False, False)


# --- start ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("environ", [{}, {"PIPELINES_API_KEY": " "}, {"PIPELINES_API_KEY": STOCK_KEY}])
def test_the_server_refuses_to_start_without_a_key_of_its_own(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="PIPELINES_API_KEY"):
        stock.server_key(environ)


def test_a_folder_of_plugins_that_does_not_exist_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="PIPELINES_DIR"):
        stock.plugins_folder({"PIPELINES_DIR": str(tmp_path / "no")}, tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_broken_saved_valves_are_put_aside(tmp_path: Path, text: str) -> None:
    saved = tmp_path / "wiki_answer" / "valves.json"
    saved.parent.mkdir()
    saved.write_text(text, encoding="utf-8")
    assert stock.plugins_folder({}, tmp_path) == tmp_path
    assert [file.name for file in saved.parent.iterdir()] == ["valves.broken"]


# --- the sealed key ---------------------------------------------------------------------------------


def test_what_is_sealed_opens_for_the_same_message_and_person_only() -> None:
    signer = Signer(KEY)
    sealed = json.loads(json.dumps(signer.seal({"question": "Что такое ТК?"}, message="А что это?", person="7")))
    assert signer.open(sealed, message="А что это?", person="7") == {"question": "Что такое ТК?"}
    assert signer.open(sealed, message="Другой вопрос", person="7") is None
    assert signer.open(sealed, message="А что это?", person="8") is None
    assert Signer("another").open(sealed, message="А что это?", person="7") is None


@pytest.mark.parametrize(
    "change",
    [
        {"payload": {"question": "other"}},
        {"signature": ""},
        {"signature": None},
        {"signature": "ы"},
        {"at": 0},
        {"at": "now"},
        {"version": 2},
        {"payload": None},
        {"payload": {"x": float("nan")}},
    ],
)
def test_what_was_changed_does_not_open(change: dict[str, Any]) -> None:
    signer = Signer(KEY)
    assert (
        signer.open({**signer.seal({"question": "q"}, message="m", person="p"), **change}, message="m", person="p")
        is None
    )


def test_what_is_no_sealed_key_does_not_open() -> None:
    things: tuple[object, ...] = (None, "text", [], {}, {"payload": {}, "at": 1})
    for thing in things:
        assert Signer(KEY).open(thing, message="m", person="p") is None


def test_an_old_key_does_not_open() -> None:
    signer = Signer(KEY)
    old = {"version": 1, "at": int(time.time() - MAX_AGE - 10), "payload": {}}
    signed = {**old, "signature": signer._signature(old, "m", "p")}
    assert signer.open(signed, message="m", person="p") is None


@pytest.mark.parametrize("key", ["", STOCK_KEY])
def test_without_a_secret_key_nobody_can_compute_the_seal(key: str) -> None:
    sealed = Signer(key).seal({}, message="m", person="p")
    assert Signer(key).open(sealed, message="m", person="p") is None


def test_only_who_leaves_before_the_end_counts_as_stopped() -> None:
    async def complete(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"all of it"})
        while (await receive())["type"] != "http.disconnect":
            pass

    async def unfinished(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a part", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass

    counted = []
    for app in (complete, unfinished):
        before = stopped()
        ask(guard(app), "POST", "/chat/completions", key=KEY, leave_after=0.0)
        counted.append(stopped() - before)
    assert counted == [0.0, 1.0]


def stopped() -> float:
    lines = METRICS.render().splitlines()
    return next((float(line.split()[1]) for line in lines if line.startswith("askwiki_cancelled_total ")), 0.0)


# --- logs and metrics -------------------------------------------------------------------------------


def test_a_log_line_in_json_carries_the_request() -> None:
    set_request(Request(id="r-1"))
    record = logging.LogRecord("askwiki.flow.ask", logging.INFO, __file__, 1, "search %d ms", (12,), None)
    assert add_request(record)
    line = json.loads(JsonFormatter().format(record))
    assert (line["request"], line["message"], line["level"], line["logger"]) == (
        "r-1",
        "search 12 ms",
        "INFO",
        "askwiki.flow.ask",
    )


def test_metrics_are_prometheus_text() -> None:
    metrics = Metrics()
    metrics.add("askwiki_questions_total", outcome='a"b')
    metrics.add("askwiki_questions_total", outcome='a"b')
    metrics.observe("askwiki_stage_seconds", 0.02, stage="search")
    metrics.observe("askwiki_stage_seconds", 200.0, stage="search")
    lines = metrics.render().splitlines()
    assert 'askwiki_questions_total{outcome="a\\"b"} 2' in lines
    assert 'askwiki_stage_seconds_bucket{stage="search",le="0.01"} 0' in lines
    assert 'askwiki_stage_seconds_bucket{stage="search",le="0.03"} 1' in lines
    assert 'askwiki_stage_seconds_bucket{stage="search",le="+Inf"} 2' in lines
    assert 'askwiki_stage_seconds_sum{stage="search"} 200.02' in lines
    assert "# TYPE askwiki_stage_seconds histogram" in lines


def test_metrics_need_the_key_and_can_be_switched_off() -> None:
    reply = ask(guard(), "GET", "/metrics", key=KEY)
    assert (reply.status, reply.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert ask(guard(metrics=False), "GET", "/metrics", key=KEY).status == 404
