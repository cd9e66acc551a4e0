"""The HTTP of OpenAI-compatible servers: a JSON object in, one of them or a stream of them out.

The library of that name does it at four times the processor time, because it copies and checks every
field, and a question makes fifty calls (``tests/bench/question.py`` measures both).
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2

TRANSPORT = (httpx2.HTTPError, httpx2.StreamError)  # what the connection may raise beside the classes below
_DATA, _DONE = b"data:", b"[DONE]"


class Refused(Exception):
    """The server answered with a status of 400 and more, or with an error amid a stream (``status`` 0)."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str]) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers


class NotJson(Exception):
    """The answer is no JSON object: another kind of server, or a page that asks to log in."""


class Client:
    """One server. Thread-safe; keeps ``connections`` open between calls."""

    def __init__(self, url: str, *, key: str, connect_timeout: float, connections: int) -> None:
        self._connect_timeout = connect_timeout
        self._http = httpx2.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=connections),
            follow_redirects=True,
        )
        weakref.finalize(self, self._http.close)  # a model that the valves replaced leaves no connection behind

    def create(self, body: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """One whole answer; ``seconds`` is the longest silence of the server."""
        answer = self._http.post("chat/completions", content=_as_json(body), timeout=self._within(seconds))
        _check(answer)
        return _object(answer.content)

    @contextmanager
    def stream(self, body: Mapping[str, Any], seconds: float) -> Iterator[Iterator[dict[str, Any]]]:
        """The chunks of a streamed answer as they come; leaving the block ends the call."""
        sending = self._http.stream("POST", "chat/completions", content=_as_json(body), timeout=self._within(seconds))
        with sending as answer:
            if answer.is_error:
                answer.read()
                _check(answer)
            yield _chunks(answer)

    def models(self) -> list[str]:
        """Names of what the server offers, in its order."""
        answer = self._http.get("models", timeout=self._within(60.0))
        _check(answer)
        return [str(entry["id"]) for entry in _object(answer.content).get("data") or () if "id" in entry]

    def _within(self, seconds: float) -> httpx2.Timeout:
        return httpx2.Timeout(seconds, connect=min(seconds, self._connect_timeout))


def _as_json(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _check(answer: httpx2.Response) -> None:
    if answer.is_error:
        raise Refused(answer.status_code, _told(answer.content), answer.headers)


def _told(content: bytes) -> str:
    """What the server says of an error, its escapes read."""
    try:
        return json.dumps(_object(content), ensure_ascii=False)
    except NotJson:
        return content.decode("utf-8", "replace")


def _object(content: bytes) -> dict[str, Any]:
    try:
        read = json.loads(content)
    except ValueError:
        read = None
    if not isinstance(read, dict):
        raise NotJson
    return read


def _chunks(answer: httpx2.Response) -> Iterator[dict[str, Any]]:
    """The objects of an event stream (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""
    for line in _lines(answer.iter_bytes()):  # to its very end, or the connection could not be used again
        data = line[len(_DATA) :].strip()
        if not line.startswith(_DATA) or data in (b"", _DONE):
            continue
        chunk = _object(data)
        if error := chunk.get("error"):
            raise Refused(0, error if isinstance(error, str) else json.dumps(error, ensure_ascii=False), {})
        yield chunk


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Lines end with a line feed only: text in JSON may hold the separators that ``splitlines`` takes for ends."""
    held = b""
    for piece in pieces:
        *lines, held = (held + piece).split(b"\n")
        yield from lines
    yield held
