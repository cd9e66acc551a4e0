"""Messages between the web server and the app, as ASGI has them: read, replayed, watched, replaced.

https://asgi.readthedocs.io/en/latest/specs/www.html
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from askwiki.request import Request

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Told = Callable[[int, str], str]  # status and request id -> the sentence for the caller, "" = the one given

BODY_SECONDS = 30.0  # a body that trickles in longer is given up


class Refusal(Exception):
    """A request that does not reach the app: status and the sentence for the caller."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class HttpReply:
    """The answer on its way out: knows what was sent and lets no failure of the app through as it is."""

    def __init__(self, send: Send, request: Request, told: Told = lambda status, request: "") -> None:
        self._send, self._request, self._told = send, request, told
        self.status = 0
        self.complete = False
        self._replaced = self._keeps_errors = False

    def keep_errors(self) -> None:
        """For an app of our own, whose errors are sentences or a protocol's already."""
        self._keeps_errors = True

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
            if sentence and not self._keeps_errors:
                await self.say(503 if message["status"] >= 500 else message["status"], sentence)
                self._replaced = True
                return
            self.status = message["status"]
            message = {**message, "headers": [*message["headers"], (b"x-request-id", self._request.id.encode())]}
        elif not message.get("more_body"):
            self.complete = True  # from here on the web server says "disconnect" to whoever listens
        await self._send(message)

    async def say(self, status: int, sentence: str) -> None:
        """A sentence in the forms of both OpenAI's and FastAPI's errors, unless an answer has begun."""
        sentence = self._told(status, self._request.id) or sentence
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


async def read_body(
    receive: Receive, headers: dict[str, str], limit: int, *, origin: str = " (setting server.max_body)"
) -> bytes:
    """The whole body; too long or too slow a one is refused."""
    too_long = Refusal(413, f"The request is longer than {limit} bytes{origin}.")
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


def replay(body: bytes, left: asyncio.Event) -> Receive:
    """The ``receive`` of the app: the body that was read, then nothing until the client goes."""
    first = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Message:
        for message in first:
            return message
        await left.wait()
        return {"type": "http.disconnect"}

    return receive


async def watch(receive: Receive, request: Request, left: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    request.gone = True
    request.cancelled.set()
    left.set()


def without_origin(scope: Scope) -> Scope:
    """Without the header, the stock server's CORS layer allows no other site anything."""
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name.lower() != b"origin"]}
