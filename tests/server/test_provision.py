"""What ``provision`` tells of a connection that cannot tell a person's groups apart."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from askwiki.openwebui.provision import WebUi, provision


class Admin(BaseHTTPRequestHandler):
    """The four routes of Open WebUI that provisioning asks; ``configs`` = its connections."""

    configs: Any = None

    def answer(self) -> None:
        said: Any = {"OPENAI_API_CONFIGS": self.configs}
        if self.path.startswith("/api/models"):
            said = {"data": [{"id": "wiki_answer"}]}
        body = json.dumps(said).encode()
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def webui() -> Iterator[WebUi]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Admin) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield WebUi(f"http://127.0.0.1:{server.server_address[1]}", "token")
        server.shutdown()
        thread.join()


NAMES, IDS = {"X-User-Groups": "{{USER_GROUPS}}"}, {"X-User-Group-Ids": "{{USER_GROUP_IDS}}"}


@pytest.mark.parametrize(
    ("configs", "told"),
    [
        ({"0": {"headers": NAMES | IDS}}, False),
        ({"0": {"headers": NAMES}}, True),
        ({"0": {}, "1": {"headers": NAMES}}, True),
        ({"0": {"headers": None}}, False),
        ({}, False),
        (None, False),
    ],
)
def test_a_connection_without_the_ids_of_groups_is_told(
    webui: WebUi, configs: Any, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Admin, "configs", configs)
    said = provision(webui, "wiki_answer", "Вики", "", wait=0)
    assert said.startswith("Вики (wiki_answer) is up to date for every user.")
    assert ("X-User-Group-Ids" in said) is told
