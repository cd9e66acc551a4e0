"""A client for an ASGI app in the same process: one request, its answer, and a client that can leave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from askwiki.server.asgi import App


@dataclass
class Reply:
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> Any:
        return json.loads(self.body)


async def call(
    app: App,
    method: str,
    path: str,
    *,
    key: str = "",
    headers: dict[str, str] | None = None,
    body: bytes = b"",
    leave_after: float | None = None,
    parts: list[bytes] | None = None,
) -> Reply:
    """One request; with ``leave_after`` (seconds) the client goes away before the end."""
    sent = {**(headers or {}), **({"authorization": f"Bearer {key}"} if key else {})}
    scope: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
    }
    reply = Reply()
    incoming = _messages(parts or [body], leave_after)

    async def receive() -> MutableMapping[str, Any]:
        return await anext(incoming)

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            assert reply.status == 0, "two answers to one request"
            reply.status = message["status"]
            reply.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            reply.body += message.get("body", b"")

    await app(scope, receive, send)
    return reply


async def _messages(parts: list[bytes], leave_after: float | None) -> AsyncIterator[MutableMapping[str, Any]]:
    for number, part in enumerate(parts, 1):
        yield {"type": "http.request", "body": part, "more_body": number < len(parts)}
    if leave_after is None:
        await asyncio.Event().wait()
    await asyncio.sleep(leave_after or 0)
    yield {"type": "http.disconnect"}
