"""The real server in a process of its own, and the calls that Open WebUI makes of it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from tests.support.processes import process
from tests.support.waiting import PATIENCE, until

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 180.0  # to answer /health on a busy machine; a process that ended is noticed at once
CALL_SECONDS = 600.0  # a real model on a busy machine

PERSON = {"id": "u-1", "email": "a.belova@example.com", "name": "Анна Белова", "role": "user"}


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers at ``url``, its key, its process and the file with what it logged."""

    url: str
    key: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def logged(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")


@dataclass(slots=True)
class Shown:
    """What the chat showed of one answer, in the order it came."""

    text: str = ""
    statuses: list[dict[str, Any]] = field(default_factory=list)
    sources: list[dict[str, Any]] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    finished: bool = False
    order: list[str] = field(default_factory=list)  # kinds of items: status | source | text | …


@contextlib.contextmanager
def reserved_port() -> Iterator[int]:
    """A port of this machine that nobody is given during the block: bound, but left to a server that listens on it.

    A server may take seconds to come so far; a port that was only looked for could be somebody else's by then.
    """
    with socket.socket() as holding:
        holding.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers have it, so that both may be bound
        holding.bind(("127.0.0.1", 0))
        yield int(holding.getsockname()[1])


def environment(**variables: str) -> dict[str, str]:
    """This process's environment without settings of ours, and with ``variables``."""
    ours = ("ASKWIKI_", "PIPELINES_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    paths = [str(ROOT), str(ROOT / "pipelines")]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1", **variables}


@contextlib.contextmanager
def serving(environ: Mapping[str, str], log: Path, *, port: int | None = None) -> Iterator[Running]:
    """``askwiki serve`` on a port of this machine until the block ends; stopped by its process id."""
    with reserved_port() if port is None else contextlib.nullcontext(port) as port:
        key = environ.get("PIPELINES_API_KEY") or secrets.token_hex(16)
        command = [sys.executable, "-m", "askwiki", "serve", "--port", str(port)]
        with process(command, log, {**environ, "PIPELINES_API_KEY": key}, ROOT) as started:
            running = Running(f"http://127.0.0.1:{port}", key, started, log)
            await_health(running)
            yield running


def await_health(running: Running) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        if running.process.poll() is not None:
            raise RuntimeError(f"The server ended with code {running.process.returncode}:\n{running.logged()[-2000:]}")
        with contextlib.suppress(requests.RequestException):
            if requests.get(f"{running.url}/health", timeout=5).status_code == 200:
                return
        if time.monotonic() > deadline:
            raise RuntimeError(f"The server does not answer after {START_SECONDS:.0f} s:\n{running.logged()[-2000:]}")
        time.sleep(0.1)


def metric(running: Running, name: str) -> float:
    """A figure of the server's metrics, its labels added up; 0 before it was counted first."""
    page = requests.get(f"{running.url}/metrics", headers=running.headers, timeout=PATIENCE)
    page.raise_for_status()
    lines = [line for line in page.text.splitlines() if line.startswith((f"{name}{{", f"{name} "))]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


def await_idle(running: Running) -> None:
    """Wait until no chat holds a place: one whose client has left gives its place back a moment later."""
    until(lambda: metric(running, "askwiki_chats") == 0, "no chat runs any more")


def inlet(running: Running, messages: list[dict[str, Any]], user: Any = PERSON, **more: Any) -> dict[str, Any]:
    """What the filter makes of a chat's body."""
    body = {"stream": True, "model": "wiki_answer", "messages": messages, **more}
    answer = requests.post(
        f"{running.url}/wiki_condense/filter/inlet",
        json={"user": user, "body": body},
        headers=running.headers,
        timeout=CALL_SECONDS,
    )
    answer.raise_for_status()
    changed: dict[str, Any] = answer.json()
    return changed


def complete(
    running: Running, body: Mapping[str, Any], *, headers: Mapping[str, str] | None = None
) -> requests.Response:
    """The pipe's answer as the server sends it; streamed ones are not read yet."""
    return requests.post(
        f"{running.url}/chat/completions",
        json=body,
        headers={**running.headers, **(headers or {})},
        stream=bool(body.get("stream", True)),
        timeout=CALL_SECONDS,
    )


def chat(
    running: Running, messages: list[dict[str, Any]], *, user: Any = PERSON, headers: Mapping[str, str] | None = None
) -> Shown:
    """One turn as Open WebUI does it: the filter, then the pipe, streamed; the user is written in between."""
    body = inlet(running, messages, user)
    body.pop("metadata", None)
    with complete(running, {**body, "user": user}, headers=headers) as answer:
        answer.raise_for_status()
        return collect(items(answer))


def ask(running: Running, question: str, **options: Any) -> Shown:
    return chat(running, [{"role": "user", "content": question}], **options)


def items(answer: requests.Response) -> Iterator[dict[str, Any]]:
    """The events of a stream (text/event-stream) as they arrive, the final mark left out."""
    answer.encoding = "utf-8"
    for line in answer.iter_lines(chunk_size=None, decode_unicode=True):
        data = line.removeprefix("data: ")
        if line.startswith("data: ") and data != "[DONE]":
            yield json.loads(data)


def kind_of(item: dict[str, Any]) -> str:
    if "event" in item:
        return str(item["event"]["type"])
    if "error" in item:
        return "error"
    if "usage" in item:
        return "usage"
    return "text" if item["choices"][0]["delta"].get("content") else "end"


def collect(stream: Iterator[dict[str, Any]]) -> Shown:
    shown = Shown()
    for item in stream:
        kind = kind_of(item)
        shown.order.append(kind)
        if kind == "status":
            shown.statuses.append(item["event"]["data"])
        elif kind == "source":
            shown.sources.append(item["event"]["data"])
        elif kind == "error":
            shown.errors.append(item["error"]["message"])
        elif kind == "usage":
            shown.usage = item["usage"]
        elif kind == "text":
            shown.text += item["choices"][0]["delta"]["content"]
        else:
            shown.finished = True
    return shown
