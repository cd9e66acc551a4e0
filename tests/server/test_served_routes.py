"""What reaches a handler of the real stock app through the guard: the listed routes, letter for letter."""

from __future__ import annotations

import asyncio
import os
import sys
import urllib.parse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from askwiki.server.asgi import Receive, Refusal, Scope, Send
from askwiki.server.guarded import ServerGuard
from askwiki.server.routes import ASKED, LOADING, Routes
from askwiki.server.stock import Stock, load_stock_app
from askwiki.settings import ServerSettings

KEY = "a-secret-of-the-test"
IDS = ("wiki_answer", "wiki_condense")
FOREIGN = "\n\r\t \x00\x0b\x1f\x7f\x85\u2028\uff0f\u0130/\\;%?#.@:&+*~\u00e9A"
METHODS = ("GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "CONNECT", "post", "")


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stock]:
    """The real app as ``serve`` loads it, with two loaded plugins that do nothing."""
    kept, modules = dict(os.environ), set(sys.modules)
    os.environ["PIPELINES_API_KEY"] = KEY
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of its passlib
            loaded = load_stock_app(os.environ, tmp_path_factory.mktemp("plugins"))
        sys.modules["main"].PIPELINE_MODULES.update({name: object() for name in IDS})
        sys.modules["main"].PIPELINE_NAMES.update({name: name for name in IDS})
        yield loaded
    finally:
        os.environ.clear()
        os.environ.update(kept)
        for name in set(sys.modules) - modules:
            if name.split(".")[0] in {"main", "config", "schemas", "utils"}:
                del sys.modules[name]


class Reached:
    """The guard before the app, and which handlers were chosen for a request: (handler, method, path)."""

    def __init__(self, stock: Stock, *, loading: bool = False) -> None:
        self.handlers: list[tuple[str, str, str]] = []
        self._stock = stock
        routes = Routes(stock.routes, stock.pipelines, loading=loading)
        settings = ServerSettings(pipelines_api=loading)
        self._guard = ServerGuard(self._app, routes=routes, key=KEY, settings=settings)

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._stock.app(scope, receive, send)
        finally:
            endpoint = scope.get("endpoint")
            self.handlers.append((getattr(endpoint, "__name__", "none"), scope["method"], scope["path"]))

    async def ask(self, method: str, path: str, *, key: str = KEY, **more: Any) -> int:
        status = 0
        headers = [(b"authorization", f"Bearer {key}".encode())] if key else []
        scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": headers, **more}
        body = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive() -> Any:
            for message in body:
                return message
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)

        await self._guard(scope, receive, send)
        return status


def listed(routes: frozenset[tuple[str, str]]) -> set[tuple[str, str]]:
    """The requests that these routes stand for, with the loaded plugins' names."""
    found = set()
    for method, template in routes:
        for name in IDS:
            path = template.replace("{pipeline_id}", name)
            found |= (
                {(method, path)} if path in {"/docs", "/openapi.json"} else {(method, path), (method, f"/v1{path}")}
            )
    return {(method, "/v1" if path == "/v1/" else path) for method, path in found}


def mutations(path: str) -> set[str]:
    """Paths that a proxy, a pattern or a router may take for ``path``."""
    found = {
        path,
        path.upper(),
        path.title(),
        path.swapcase(),
        path.replace("/", "//"),
        urllib.parse.quote(path, safe=""),
    }
    for place in range(len(path) + 1):
        found |= {path[:place] + sign + path[place:] for sign in FOREIGN}
        if place < len(path):
            found.add(path[:place] + f"%{ord(path[place]):02x}" + path[place + 1 :])
            found.add(path[:place] + path[place + 1 :])
    for prefix in ("/v1", "/V1", "/v1/v1", "/.", "/..", "/x/..", "//", "/x", "http://host", "//host", "", "\n"):
        found |= {prefix + path, path + prefix, prefix + path + "/"}
    return found - {path}


def test_every_route_of_the_stock_server_has_been_judged(stock: Stock) -> None:
    """A new version with a new route fails here: it stays closed until somebody decides."""
    declared = {
        (method, path.removeprefix("/v1") or "/")
        for route in stock.routes
        for path in [str(getattr(route, "path", ""))]
        for method in getattr(route, "methods", None) or ()
    }
    judged = {("HEAD", "/docs"), ("HEAD", "/openapi.json")}
    judged |= {(method, "/docs/oauth2-redirect") for method in ("GET", "HEAD")}
    assert declared == ASKED | LOADING | judged


def test_the_listed_routes_reach_their_handlers(stock: Stock) -> None:
    reached = Reached(stock)

    async def run() -> None:
        for method, path in sorted(listed(ASKED)):
            assert await reached.ask(method, path) not in {401, 403, 405}

    asyncio.run(run())
    assert {request[1:] for request in reached.handlers} == listed(ASKED)
    assert not {request[0] for request in reached.handlers} & {"add_pipeline", "upload_pipeline", "delete_pipeline"}
    assert "none" not in {request[0] for request in reached.handlers}


@pytest.mark.parametrize(("loading", "status"), [(False, 403), (True, 200)])
def test_plugins_are_loaded_from_the_net_only_when_the_settings_say_so(
    stock: Stock, loading: bool, status: int
) -> None:
    routes = Routes(stock.routes, stock.pipelines, loading=loading)
    for method, path in listed(LOADING):
        scope = {"type": "http", "method": method, "path": path, "headers": []}
        try:
            given = 200 if (method, routes.admitted(scope)[0]) in LOADING else 0
        except Refusal as refusal:
            given = refusal.status
        assert given == status


def test_no_mutation_of_a_path_reaches_a_handler(stock: Stock) -> None:
    """Each served route, each method, and what only looks like it: never a handler, 404 with the key, 401 without."""
    reached, exact = Reached(stock), listed(ASKED)
    paths = sorted({path for _, path in listed(ASKED | LOADING)} | {"/docs/oauth2-redirect", "/nothing/valves"})
    wrong: list[tuple[str, str, int]] = []
    tried = 0

    async def check(method: str, path: str, key: str, expected: set[int], **more: Any) -> None:
        nonlocal tried
        tried += 1
        status = await reached.ask(method, path, key=key, **more)
        if status not in expected:
            wrong.append((method, path, status))

    async def run() -> None:
        for original in paths:
            methods = {method for method, path in listed(ASKED | LOADING) if path == original} or {"GET"}
            for path in mutations(original) - {path for _, path in exact | listed(LOADING)} - {"/health", "/metrics"}:
                for method in methods:
                    await check(method, path, KEY, {404})
                    await check(method, path, "", {401})
            for method in set(METHODS) - methods:
                await check(method, original, KEY, {404})
            for method in methods:  # root_path: what the router cuts off before it looks
                for root in ("/x", "/v1/x"):
                    await check(method, root + original, KEY, {404}, root_path=root)

    asyncio.run(run())
    assert wrong == []
    assert reached.handlers == []
    assert tried > 20_000


def test_what_the_router_is_given_is_what_was_judged(stock: Stock) -> None:
    routes = Routes(stock.routes, stock.pipelines)
    scope = {"type": "http", "method": "GET", "path": "/models", "raw_path": b"/pipelines/upload", "root_path": "/x"}
    _, handed = routes.admitted(scope)
    assert (handed["path"], handed["raw_path"], handed["root_path"]) == ("/models", b"/models", "")


def test_only_loaded_plugins_have_valves_and_filters(stock: Stock, tmp_path: Path) -> None:
    reached = Reached(stock)
    for name in ("pipelines", "v1", "..", "wiki_answer.x", "WIKI_ANSWER", "wiki_answer\n", "failed", str(tmp_path)):
        for method, template in ASKED:
            if "{" in template:
                assert asyncio.run(reached.ask(method, template.replace("{pipeline_id}", name))) == 404
    assert reached.handlers == []
