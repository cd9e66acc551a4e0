"""The guard around the Pipelines server: an ASGI wrapper that closes what the stock server leaves open.

Every route but ``GET /`` and ``GET /health`` needs the key; what is not on the list of routes is not served;
bodies, time and the number of chats are limited; a client that goes ends its work; whatever breaks
inside leaves as one sentence, without a trace and without the words of the chat.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import time
import urllib.parse
import uuid
from collections.abc import Callable
from dataclasses import dataclass

import anyio.to_thread

from askwiki.metrics import CONTENT_TYPE, METRICS
from askwiki.request import Request, set_request
from askwiki.server.asgi import (
    App,
    HttpReply,
    Receive,
    Refusal,
    Scope,
    Send,
    Told,
    read_body,
    replay,
    watch,
    without_origin,
)
from askwiki.server.routes import CHAT, VERSION, Routes
from askwiki.settings import ServerSettings

Away = Callable[[bytes, Request], tuple[bytes, str] | None]  # body -> answer and content type, None = let it in
OPEN_ROUTES = {("GET", "/"), ("GET", "/health")}
CHAT_ROUTES = {CHAT, f"{VERSION}{CHAT}"}
FILTERS = ("/filter/inlet", "/filter/outlet")
OWN_ROUTES = {"/health", "/metrics"}
SPARE_THREADS = 40  # beside one for each chat: filters, the list of models, a polite "busy"
GOOD_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Doors:
    """Our own app beside the stock one, and what it serves: (method, path), letter for letter."""

    app: App
    routes: frozenset[tuple[str, str]]


class ServerGuard:
    """The wrapped app. ``key`` = the one secret that Open WebUI and this server share.

    ``measure`` puts what is only known when asked into the metrics, just before they are read. ``told``
    words what went wrong with a chat, for the person in it; callers of other routes read English. ``away``
    answers a chat beyond the limit here and at once: inside, it would wait for threads with those it came too late for.
    ``doors`` = further ways in, under the same key, limits and watch; each call takes a chat's place.
    """

    def __init__(
        self,
        app: App,
        *,
        routes: Routes,
        key: str,
        settings: ServerSettings,
        measure: Callable[[], None] = lambda: None,
        told: Told = lambda status, request: "",
        away: Away = lambda body, request: None,
        doors: Doors | None = None,
    ) -> None:
        self._app, self._routes = app, routes
        self._doors = doors
        self._key = key.encode()
        self._settings = settings
        self._measure, self._told, self._away = measure, told, away
        self._chats = 0
        self._under_way: list[Request] = []
        self._stopping = False

    @property
    def under_way(self) -> int:
        """Requests that the app works on."""
        return len(self._under_way)

    def stop(self) -> None:
        """Let no further chat in, and bring those under way to their last sentence. From any thread."""
        self._stopping = True
        for request in list(self._under_way):
            request.stop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            # The stock pool of 40 threads, once full, makes every new chat fail: the list of models waits in it.
            threads = max(self._settings.threads, self._settings.chats + SPARE_THREADS)
            anyio.to_thread.current_default_thread_limiter().total_tokens = threads
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
        path = scope["path"]
        told = self._told if path in CHAT_ROUTES else self._told_by_filter if path.endswith(FILTERS) else _not_told
        reply = HttpReply(send, request, told)
        try:
            self._admit(scope, headers)
            if self._doors and (scope["method"], scope["path"]) in self._doors.routes:
                body = await read_body(receive, headers, self._settings.max_body)
                if self._stopping or self._chats >= self._settings.chats:
                    raise Refusal(503, "The assistant is busy: ask once more in a moment.")
                reply.keep_errors()
                await self._pass_on(self._doors.app, scope, receive, reply, request, body, chat=True)
            elif not await self._own_route(scope, reply):
                route, handed = self._routes.admitted(scope)
                body = await read_body(receive, headers, self._settings.max_body)
                request.stopped = self._stopping
                request.busy = self._stopping or self._chats >= self._settings.chats
                if route == CHAT and request.busy and (answer := self._away(body, request)):
                    await reply.give(200, *answer)
                else:
                    await self._pass_on(self._app, handed, receive, reply, request, body, chat=route == CHAT)
        except Refusal as refusal:
            logger.info("refused: %s", refusal.sentence)
            await reply.say(refusal.status, refusal.sentence)
        except Exception:
            if not reply.gone:
                logger.exception("a request failed")
                await reply.say(503, "The assistant could not answer this request; the server's log says why.")
        METRICS.add("askwiki_http_requests_total", status=f"{reply.status // 100}xx")
        path = urllib.parse.quote(scope["path"], errors="replace")  # no line end of a caller's in the log
        logger.info("%s %s %d %.3f s", scope["method"], path, reply.status, time.monotonic() - started)

    def _told_by_filter(self, status: int, request: str) -> str:
        """The chat shows what a filter says: of a message that is too long, it is for the person; the rest is not."""
        return self._told(status, request) if status in (408, 413) else ""

    def _admit(self, scope: Scope, headers: dict[str, str]) -> None:
        if (scope["method"], scope["path"]) in OPEN_ROUTES:
            return
        scheme, _, key = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(key.strip().encode(), self._key):
            raise Refusal(401, "This server needs its key: send 'Authorization: Bearer …' with PIPELINES_API_KEY.")

    async def _own_route(self, scope: Scope, reply: HttpReply) -> bool:
        if scope["method"] != "GET" or scope["path"] not in OWN_ROUTES:
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

    async def _pass_on(
        self, app: App, scope: Scope, receive: Receive, reply: HttpReply, request: Request, body: bytes, *, chat: bool
    ) -> None:
        """Run the app while somebody watches whether the client is still there."""
        self._chats += chat
        self._under_way.append(request)
        if self._stopping:  # since it was let in
            request.stop()
        left = asyncio.Event()
        watcher = asyncio.create_task(watch(receive, request, left))
        try:
            await app(without_origin(scope), replay(body, left), reply.send)
        finally:
            self._chats -= chat
            self._under_way = [other for other in self._under_way if other is not request]
            watcher.cancel()
            if request.gone and chat and not reply.complete:
                METRICS.add("askwiki_cancelled_total")
            await asyncio.to_thread(request.finish)


def _not_told(status: int, request: str) -> str:
    return ""


def _request_id(headers: dict[str, str]) -> str:
    given = headers.get("x-message-id", "") or headers.get("x-request-id", "")
    return given if GOOD_ID.fullmatch(given) else uuid.uuid4().hex
