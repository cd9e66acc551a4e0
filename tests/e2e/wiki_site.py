"""A small web server that stands for the wiki: the sample's pages and pictures under Confluence's own addresses."""

from __future__ import annotations

import contextlib
import mimetypes
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

PAGES = Path(__file__).resolve().parents[1] / "wiki" / "html"
_PAGE_FILE = re.compile(r"(?:.*_)?(\d+)\.html")
_ATTACHED = re.compile(r'<a href="(attachments/[^"]+)">([^<]+)</a>')


@dataclass(slots=True)
class WikiSite:
    """The port it listens on and every address that somebody opened."""

    port: int = 0
    opened: list[str] = field(default_factory=list)


@contextlib.contextmanager
def wiki_site(port: int = 0) -> Iterator[WikiSite]:
    """Serve on loopback for the length of the block; port 0 = a free one."""
    site = WikiSite()
    pages = {match[1]: file for file in PAGES.glob("*.html") if (match := _PAGE_FILE.fullmatch(file.name))}
    attached = {f"{page}/{name}": PAGES / path for page, file in pages.items() for path, name in _attachments(file)}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.opened.append(unquote(self.path))
            file = _file(self.path, pages, attached)
            if file is None:
                self.send_error(404)
                return
            kind = "text/html; charset=utf-8" if file.suffix == ".html" else mimetypes.guess_type(file.name)[0]
            data = file.read_bytes()
            self.send_response(200)
            self.send_header("Content-Type", kind or "application/octet-stream")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    site.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _attachments(page: Path) -> list[tuple[str, str]]:
    return _ATTACHED.findall(page.read_text(encoding="utf-8"))


def _file(path: str, pages: dict[str, Path], attached: dict[str, Path]) -> Path | None:
    """The file behind an address; None for what the sample does not have."""
    parts = urlsplit(path)
    if parts.path == "/pages/viewpage.action":
        return pages.get(parse_qs(parts.query).get("pageId", [""])[0])
    name = unquote(parts.path)
    if name.startswith("/download/attachments/"):
        return attached.get(name.removeprefix("/download/attachments/"))
    file = (PAGES / name.removeprefix("/pages").strip("/")).resolve()
    return file if file.is_file() and file.is_relative_to(PAGES) else None
