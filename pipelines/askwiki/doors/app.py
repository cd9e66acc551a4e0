"""The doors as one ASGI app; key, limits and the watch over the client are the work of the guard before it."""

from __future__ import annotations

from collections.abc import Callable

from askwiki.doors import mcp, openapi
from askwiki.doors.tools import Caller, caller_of
from askwiki.openwebui.valves import AnswerValves
from askwiki.request import Request, current_request
from askwiki.server.asgi import App, Receive, Refusal, Scope, Send
from askwiki.server.guarded import Doors

NO_STREAM = "This MCP server keeps no sessions: it answers POST only."


def make_doors(valves: Callable[[], AnswerValves]) -> Doors:
    """``valves``: those of the chat's pipe, so that every door gives the same for the same question."""
    tools = openapi.routes()

    def caller(request: Request) -> Caller:
        return caller_of(request, valves())

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == mcp.PATH:
            if scope["method"] != "POST":
                raise Refusal(405, NO_STREAM)
            await mcp.serve(scope, receive, send, current_request(), caller)
            return
        tool, chat = tools[scope["method"], scope["path"]]
        body = (await receive()).get("body", b"")  # whole: the guard has read it
        given, kind = await openapi.answer(tool, body, current_request(), caller, chat=chat)
        headers = [(b"content-type", kind.encode()), (b"content-length", str(len(given)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": given})

    routed: App = app
    return Doors(routed, frozenset(tools) | {(method, mcp.PATH) for method in ("POST", "GET", "DELETE")})
