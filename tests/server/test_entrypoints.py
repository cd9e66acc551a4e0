"""What the images run: every command of Dockerfile and compose file exists and knows its options."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.running import ROOT, environment
from tests.support.waiting import PATIENCE

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
IN_DOCKERFILE = [json.loads(words) for words in re.findall(r"^\s*CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)]
IN_COMPOSE = [service["command"] for service in SERVICES.values() if service.get("command", [""])[0] == "python"]
OURS = [words for words in [*IN_DOCKERFILE, *IN_COMPOSE] if words[1] == "-m"]
PORT = "9099"


def test_both_images_start_something_and_tell_how_it_does() -> None:
    assert [words[2:4] for words in IN_DOCKERFILE if words[1] == "-m"] == [
        ["askwiki", "serve"],
        ["indexer", "schedule"],
        ["indexer", "schedule"],
    ]
    assert DOCKERFILE.count("\nHEALTHCHECK ") == 2


@pytest.mark.parametrize("words", [pytest.param(words, id=" ".join(words[2:])) for words in OURS])
def test_a_command_of_the_images_exists_and_knows_its_options(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, *words[1:4], "--help"], env=environment(), cwd=ROOT, capture_output=True, text=True,
        timeout=PATIENCE, check=True,
    )  # fmt: skip
    options = [word for word in words[4:] if word.startswith("--")]
    assert [option for option in options if not re.search(rf"{option}\b", done.stdout)] == []


@pytest.fixture
def healthy_port() -> Iterator[int]:
    """A server that answers 200 to /health only."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_health_check_of_the_server_tells_a_live_one_from_a_dead_one(healthy_port: int) -> None:
    (program,) = [words[2] for words in IN_DOCKERFILE if words[1] == "-c"]
    assert program.count(PORT) == 1

    def exit_code(port: int) -> int:
        words = [sys.executable, "-c", program.replace(PORT, str(port))]
        return subprocess.run(words, capture_output=True, timeout=PATIENCE, check=False).returncode

    assert exit_code(healthy_port) == 0
    assert exit_code(1) == 1


def test_the_health_check_of_the_indexer_fails_before_its_first_run(tmp_path: Path) -> None:
    (words,) = [words for words in IN_DOCKERFILE if "--healthy" in words]
    done = subprocess.run(
        [sys.executable, *words[1:]], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
        env=environment(ASKWIKI_SCHEDULE__HEALTH=str(tmp_path / "health.json")),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
