"""The tools over MCP: ``POST /mcp``, streamable HTTP without sessions, by the official ``mcp`` package (extra ``mcp``).

https://modelcontextprotocol.io/specification: a server without sessions answers each request by itself, so that any
of several containers may take it.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from typing import Any

from askwiki.doors.openapi import run
from askwiki.doors.tools import TOOLS, Caller
from askwiki.request import Request
from askwiki.server.asgi import Receive, Refusal, Scope, Send

PATH = "/mcp"
MISSING = "This server lacks the package for MCP: pip install 'askwiki[mcp]' (the image has it)."


def available() -> bool:
    return importlib.util.find_spec("mcp") is not None


async def serve(
    scope: Scope, receive: Receive, send: Send, request: Request, caller: Callable[[Request], Caller]
) -> None:
    """One request of an MCP client, answered with JSON. Refusal 501 where the package is not installed."""
    if not available():
        raise Refusal(501, MISSING)
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # only where the extra is

    manager = StreamableHTTPSessionManager(_server(request, caller), stateless=True, json_response=True)
    async with manager.run():
        await manager.handle_request(scope, receive, send)


def _server(request: Request, caller: Callable[[Request], Caller]) -> Any:
    from mcp import types
    from mcp.server.lowlevel import Server

    async def list_tools(context: Any, parameters: Any) -> Any:
        return types.ListToolsResult(
            tools=[
                types.Tool(name=tool.name, description=tool.about, input_schema=tool.schema) for tool in TOOLS.values()
            ]
        )

    async def call_tool(context: Any, parameters: Any) -> Any:
        tool = TOOLS.get(parameters.name)
        try:
            if tool is None:
                raise Refusal(422, f"There is no tool {parameters.name}: there are {', '.join(TOOLS)}.")
            result = await run(tool, parameters.arguments or {}, request, caller)
        except Refusal as refusal:  # a sentence that the model reads, as the protocol asks
            return types.CallToolResult(content=[types.TextContent(type="text", text=refusal.sentence)], is_error=True)
        text = json.dumps(result, ensure_ascii=False)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=result)

    return Server("askwiki", on_list_tools=list_tools, on_call_tool=call_tool)
