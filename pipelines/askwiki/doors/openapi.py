"""The tools over HTTP: ``POST /tools/NAME`` with a JSON object, described in ``GET /tools/openapi.json``.

Open WebUI shows what a tool gave as sources only of tools that have the names and forms of its own (it looks the name
up, 0.12), so a connection that ends in ``/tools/openwebui`` finds ``search`` under such a name and in such a form: a
list, sent as text, because a list that comes as JSON is wrapped there before it is looked at.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable
from typing import Any

from anyio import to_thread

from askwiki.doors.tools import TOOLS, Caller, Tool, WrongArguments, call
from askwiki.errors import AskWikiError, Cancelled
from askwiki.request import Request
from askwiki.server.asgi import Refusal

DESCRIPTION = "openapi.json"
ROOT, FOR_CHAT = "/tools/", "/tools/openwebui/"
JSON, TEXT = "application/json", "text/plain; charset=utf-8"
CHAT_NAMES = {"search": "query_knowledge_files"}  # of those whose results Open WebUI shows as sources

logger = logging.getLogger(__name__)


def routes() -> dict[tuple[str, str], tuple[Tool | None, bool]]:
    """(method, path) -> (tool, None = the description; whether in the form of Open WebUI's own tools)."""
    found: dict[tuple[str, str], tuple[Tool | None, bool]] = {}
    for root, chat in ((ROOT, False), (FOR_CHAT, True)):
        found["GET", root + DESCRIPTION] = (None, chat)
        found |= {("POST", root + name): (tool, chat) for name, tool in TOOLS.items()}
    return found


def description(*, chat: bool) -> dict[str, Any]:
    """The OpenAPI 3.1 document of the tools."""
    paths = {
        f"/{name}": {
            "post": {
                "operationId": CHAT_NAMES.get(name, name) if chat else name,
                "summary": tool.about,
                "description": tool.about,
                "requestBody": {"required": True, "content": {"application/json": {"schema": tool.schema}}},
                "responses": {"200": {"description": "The result.", "content": {"application/json": {"schema": {}}}}},
                "security": [{"key": []}],
            }
        }
        for name, tool in TOOLS.items()
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "askwiki", "version": "1", "description": "The company wiki: search, read, ask."},
        "servers": [{"url": (FOR_CHAT if chat else ROOT).rstrip("/")}],
        "paths": paths,
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
    }


async def answer(
    tool: Tool | None, body: bytes, request: Request, caller: Callable[[Request], Caller], *, chat: bool
) -> tuple[bytes, str]:
    """The result as JSON and its type. Refusal 422 for what the tool cannot take, 503 for a part that is down."""
    if tool is None:
        return _json(description(chat=chat)), JSON
    try:
        arguments = json.loads(body or b"{}")
    except ValueError:
        raise Refusal(422, f"The body is no JSON: {tool.name} needs an object with {tool.needed}.") from None
    result = await run(tool, arguments, request, caller)
    return (_json(_as_sources(result)), TEXT) if chat and tool.name in CHAT_NAMES else (_json(result), JSON)


async def run(tool: Tool, arguments: object, request: Request, caller: Callable[[Request], Caller]) -> dict[str, Any]:
    """The tool's work in a thread. What goes wrong is a Refusal with its sentence."""
    try:
        return await to_thread.run_sync(functools.partial(_work, tool, arguments, request, caller))
    except WrongArguments as error:
        raise Refusal(422, str(error)) from error
    except Cancelled:
        raise Refusal(503, "The server is being stopped: ask once more in a moment.") from None
    except AskWikiError as error:
        logger.error("no result of %s: %s", tool.name, error)
        raise Refusal(503, "The wiki cannot be searched now; the server's log says why.") from error


def _work(tool: Tool, arguments: object, request: Request, caller: Callable[[Request], Caller]) -> dict[str, Any]:
    return call(tool, arguments, caller(request))


def _as_sources(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of search as Open WebUI's search over files gives them: one source a place of a page.

    The address stands in the text: a source of this form has none of its own.
    """
    return [
        {
            "source": each["label"],
            "file_id": f"{each['page']}:{number}",
            "content": f"{each['citation']}\n\n{each['text']}",
            "type": "wiki",
        }
        for number, each in enumerate(result["results"], 1)
    ]


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
