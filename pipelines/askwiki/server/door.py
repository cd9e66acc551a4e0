"""What stands before the encoder service: its key, looked at before a body is read, and the limit of a body."""

from __future__ import annotations

import asyncio
import hmac

from starlette.responses import JSONResponse

from askwiki.server.asgi import App, Receive, Refusal, Scope, Send, read_body, replay

OPEN = ("GET", "/health")


def behind_key(app: App, key: str, most_bytes: int) -> App:
    """The app for who has the key (an empty one: for everybody), with bodies of so many bytes at most."""

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            if key and (scope["method"], scope["path"]) != OPEN:
                given = headers.get("authorization", "").removeprefix("Bearer ")
                if not hmac.compare_digest(given.encode(), key.encode()):
                    raise Refusal(401, "The key is missing or wrong.")
            body = await read_body(receive, headers, most_bytes, origin="")
        except Refusal as refusal:
            said = JSONResponse({"detail": refusal.sentence}, status_code=refusal.status)
            await said(scope, receive, send)
        else:
            await app(scope, replay(body, asyncio.Event()), send)

    return door
