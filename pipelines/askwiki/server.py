"""The guard around the Pipelines server: an ASGI wrapper that closes what the stock server leaves open.

Every route but ``GET /`` and ``GET /health`` needs the key; plugins cannot be loaded from the net;
bodies, time and the number of chats are limited; a client that goes ends its work; whatever breaks
inside leaves as one sentence, without a trace and without the words of the chat.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import re
import time
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import anyio.to_thread

from askwiki.metrics import CONTENT_TYPE, METRICS
from askwiki.request import Request, set_request
from askwiki.settings import ServerSettings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN_ROUTES = {("GET", "/"), ("GET", "/health")}
CHAT_ROUTES = {"/chat/completions", "/v1/chat/completions"}
LOADING = re.compile(r"(/v1)?/pipelines/(add|upload|delete|reload)/*", re.IGNORECASE)
BODY_SECONDS = 30.0  # a body that trickles in longer is given up
GOOD_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)

logger = logging.getLogger(__name__)


class Refusal(Exception):
    """A request that does not reach the app: status and the sentence for the caller."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class Guard:
    """The wrapped app. ``key`` = the one secret that Open WebUI and this server share.

    ``measure`` puts what is only known when asked into the metrics, just before they are read.
    """

    def __init__(
        self, app: App, *, key: str, settings: ServerSettings, measure: Callable[[], None] = lambda: None
    ) -> None:
        self._app = app
        self._key = key.encode()
        self._settings = settings
        self._measure = measure
        self._chats = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            # The stock pool of 40 threads, once full, makes every new chat fail: the list of models waits in it.
            anyio.to_thread.current_default_thread_limiter().total_tokens = self._settings.threads
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.monotonic()
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        request = Request(id=_request_id(headers), headers=headers)
        set_request(request)
        reply = _Reply(send, request)
        try:
            self._admit(scope, headers)
            body = await _read_body(receive, headers, self._settings.max_body)
            if not await self._own_route(scope, reply):
                await self._pass_on(scope, receive, reply, request, body)
        except Refusal as refusal:
            await reply.say(refusal.status, refusal.sentence)
        except Exception:
            if not reply.gone:
                logger.exception("a request failed")
                await reply.say(503, "The assistant could not answer this request; the server's log says why.")
        METRICS.add("askwiki_http_requests_total", status=f"{reply.status // 100}xx")
        logger.info("%s %s %d %.3f s", scope["method"], scope["path"], reply.status, time.monotonic() - started)

    def _admit(self, scope: Scope, headers: dict[str, str]) -> None:
        if (scope["method"], scope["path"]) in OPEN_ROUTES:
            return
        scheme, _, key = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(key.strip().encode(), self._key):
            raise Refusal(401, "This server needs its key: send 'Authorization: Bearer …' with PIPELINES_API_KEY.")
        if LOADING.fullmatch(scope["path"]) and not self._settings.pipelines_api:
            raise Refusal(403, "Loading plugins from the net is switched off (setting server.pipelines_api).")

    async def _own_route(self, scope: Scope, reply: _Reply) -> bool:
        if scope["method"] != "GET" or scope["path"] not in {"/health", "/metrics"}:
            return False
        if scope["path"] == "/health":
            await reply.give(200, b'{"status": true}', "application/json")
        elif self._settings.metrics:
            METRICS.put("askwiki_chats", self._chats)
            await asyncio.to_thread(self._measure)
            await reply.give(200, METRICS.render().encode(), CONTENT_TYPE)
        else:
            raise Refusal(404, "Metrics are switched off (setting server.metrics).")
        return True

    async def _pass_on(self, scope: Scope, receive: Receive, reply: _Reply, request: Request, body: bytes) -> None:
        """Run the app while somebody watches whether the client is still there."""
        chat = scope["path"] in CHAT_ROUTES
        self._chats += chat
        request.busy = chat and self._chats > self._settings.chats
        left = asyncio.Event()
        watcher = asyncio.create_task(_watch(receive, request, left))
        try:
            await self._app(_without_origin(scope), _replay(body, left), reply.send)
        finally:
            self._chats -= chat
            watcher.cancel()
            if request.gone and chat:
                METRICS.add("askwiki_cancelled_total")
            await asyncio.to_thread(request.finish)


class _Reply:
    """The answer on its way out: knows what was sent and lets no failure of the app through as it is."""

    def __init__(self, send: Send, request: Request) -> None:
        self._send, self._request = send, request
        self.status = 0
        self._replaced = False

    @property
    def gone(self) -> bool:
        """Whether nobody waits for the rest."""
        return self._request.gone

    async def send(self, message: Message) -> None:
        """What the app sends, but for its own error pages; raises OSError when the client has gone."""
        if self.gone:
            raise OSError("the client has gone")
        if self._replaced:
            return
        if message["type"] == "http.response.start":
            sentence = _sentence_for(message["status"])
            if sentence:
                await self.say(503 if message["status"] >= 500 else message["status"], sentence)
                self._replaced = True
                return
            self.status = message["status"]
            message = {**message, "headers": [*message["headers"], (b"x-request-id", self._request.id.encode())]}
        await self._send(message)

    async def say(self, status: int, sentence: str) -> None:
        """A sentence in the forms of both OpenAI's and FastAPI's errors, unless an answer has begun."""
        error = {"detail": sentence, "error": {"message": sentence, "type": "askwiki", "code": status}}
        await self.give(status, json.dumps(error, ensure_ascii=False).encode(), "application/json")

    async def give(self, status: int, body: bytes, content_type: str) -> None:
        if self.status:
            return
        self.status = status
        headers = [
            (b"content-type", content_type.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"x-request-id", self._request.id.encode()),
        ]
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


def _sentence_for(status: int) -> str:
    """The sentence that stands in for the app's own page; empty = let the page through."""
    if status >= 500:
        return "The assistant could not answer this request; the server's log says why."
    if status in (400, 422):
        return "The request is not of the form this server reads: a JSON object with model and messages."
    return ""


async def _read_body(receive: Receive, headers: dict[str, str], limit: int) -> bytes:
    """The whole body; too long or too slow a one is refused."""
    too_long = Refusal(413, f"The request is longer than {limit} bytes (setting server.max_body).")
    length = headers.get("content-length", "0")
    if length.isdigit() and int(length) > limit:
        raise too_long
    parts, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refusal(400, "The request ended before its body did.")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > limit:
                    raise too_long
                if not message.get("more_body"):
                    return b"".join(parts)
    except TimeoutError:
        raise Refusal(408, f"The request's body did not arrive within {BODY_SECONDS:.0f} seconds.") from None


def _replay(body: bytes, left: asyncio.Event) -> Receive:
    """The ``receive`` of the app: the body that was read, then nothing until the client goes."""
    first = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Message:
        for message in first:
            return message
        await left.wait()
        return {"type": "http.disconnect"}

    return receive


async def _watch(receive: Receive, request: Request, left: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    request.gone = True
    request.cancelled.set()
    left.set()


def _without_origin(scope: Scope) -> Scope:
    """Without the header, the stock server's CORS layer allows no other site anything."""
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name.lower() != b"origin"]}


def _request_id(headers: dict[str, str]) -> str:
    given = headers.get("x-message-id", "") or headers.get("x-request-id", "")
    return given if GOOD_ID.fullmatch(given) else uuid.uuid4().hex
