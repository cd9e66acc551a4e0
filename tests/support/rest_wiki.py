"""A small Confluence on loopback: pages, paging and moods as the real REST API has them."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

CONTEXT = "/confluence"


@dataclass
class Wiki:
    """What the server has, how it behaves, and what was asked of it."""

    pages: list[dict[str, Any]]
    limit: int = 2  # the server lowers the limit it is asked for to this
    count: int | None = None  # what its search index says; None = the true number
    hidden: set[str] = field(default_factory=set)  # ids that listings with bodies leave out
    busy: list[tuple[int, str | None]] = field(default_factory=list)  # (code, Retry-After) of the next answers
    endless: bool = False  # the last listing page names itself as the next
    space: dict[str, Any] = field(default_factory=dict)
    token: str = "secret"
    elsewhere: str = ""  # a foreign address as the next page
    elsewhere_pages: list[dict[str, Any]] = field(default_factory=list)  # of other spaces, found by their title
    unlisted: set[str] = field(default_factory=set)  # ids that only the search index and a request by id know
    stale: list[dict[str, Any]] = field(default_factory=list)  # pages that only the search index still knows
    answers: dict[str, list[int]] = field(default_factory=dict)  # path -> codes of its next answers, the last stays
    mutate: Callable[[Any], Any] = lambda answer: answer  # of every answer of 200
    moods: Callable[[], int] = lambda: 200  # what every answer's code is, when it would be 200
    asked: list[str] = field(default_factory=list)
    base: str = ""


def page(identity: str, title: str, **more: Any) -> dict[str, Any]:
    """A page as v1 gives it when everything is expanded."""
    return {
        "id": identity,
        "type": "page",
        "status": "current",
        "title": title,
        "space": {"key": "KB", "name": "База"},
        "ancestors": [],
        "version": {"number": 3, "when": "2025-03-01T10:00:00.000+03:00"},
        "body": {"storage": {"value": f"<p>Текст {identity}</p>", "representation": "storage"}},
        "metadata": {"labels": {"results": []}},
        "restrictions": {"read": {"restrictions": {"user": users(), "group": groups()}}},
        "_links": {"webui": f"/pages/viewpage.action?pageId={identity}"},
        **more,
    }


def users(*names: str) -> dict[str, Any]:
    return {"results": [{"username": name} for name in names], "size": len(names), "limit": 200}


def groups(*names: str) -> dict[str, Any]:
    return {"results": [{"name": name} for name in names], "size": len(names), "limit": 200}


def restricted(user_names: tuple[str, ...] = (), group_names: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"read": {"restrictions": {"user": users(*user_names), "group": groups(*group_names)}}}


@contextmanager
def serving(wiki: Wiki) -> Iterator[Wiki]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wiki.asked.append(self.path)
            code, headers, answer = respond(wiki, self.path, self.headers.get("Authorization", ""))
            code, answer = (wiki.moods(), wiki.mutate(answer)) if code == 200 else (code, answer)
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    wiki.base = f"http://127.0.0.1:{server.server_address[1]}{CONTEXT}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield wiki
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def respond(wiki: Wiki, address: str, token: str) -> tuple[int, dict[str, str], Any]:
    if wiki.busy:
        code, wait = wiki.busy.pop(0)
        return code, {"Retry-After": wait} if wait is not None else {}, {"message": "busy"}
    if token != f"Bearer {wiki.token}":
        return 401, {}, {"message": "who are you"}
    parts = urlsplit(address)
    path = parts.path.removeprefix(f"{CONTEXT}/rest/api")
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    if codes := wiki.answers.get(path):
        code = codes.pop(0) if len(codes) > 1 else codes[0]
        if code != 200:
            return code, {}, {"message": "no"}
    if path == "/search":
        return 200, {}, {"totalSize": len(wiki.pages) if wiki.count is None else wiki.count, "results": []}
    if path == "/content" and "title" in query:
        return 200, {}, {"results": [one for one in wiki.elsewhere_pages if one["title"] == query["title"]]}
    if path in ("/content", "/content/search"):
        return 200, {}, listing(wiki, path, query)
    if path.startswith("/space/") and wiki.space:
        return 200, {}, wiki.space
    known = [one for one in (*wiki.pages, *wiki.elsewhere_pages) if isinstance(one, dict)]
    found = next((one for one in known if path == f"/content/{one.get('id')}"), None)
    return (200, {}, found) if found else (404, {}, {"message": "no such thing"})


def listing(wiki: Wiki, path: str, query: dict[str, str]) -> dict[str, Any]:
    """A piece of the pages; ``next`` begins behind the context path, as on a real server."""
    bodies = "body.storage" in query.get("expand", "")
    searched = path == "/content/search"
    left_out = (wiki.hidden if bodies else set()) | (set() if searched else wiki.unlisted)
    pages = [one for one in wiki.pages if not (isinstance(one, dict) and one.get("id") in left_out)]
    pages += wiki.stale if searched else []
    kind = query.get("type")
    if named := re.fullmatch(r"id in \(([\d,]+)\)", query.get("cql", "")):
        pages = [one for one in pages if isinstance(one, dict) and one.get("id") in named[1].split(",")]
    pages = [one for one in pages if not (kind and isinstance(one, dict)) or one.get("type", "page") == kind]
    start, size = int(query.get("start", "0")), min(wiki.limit, int(query.get("limit", "25")))
    links: dict[str, Any] = {"base": wiki.base, "context": CONTEXT}
    if start + size < len(pages) or wiki.endless:
        following = min(start + size, len(pages)) if not wiki.endless or start + size < len(pages) else start
        links["next"] = wiki.elsewhere or f"/rest/api{path}?{urlencode({**query, 'start': following})}"
    piece = pages[start : start + size]
    return {"results": piece, "start": start, "limit": size, "size": len(piece), "_links": links}
