"""The OpenAI client for what we ask of it: a JSON object in, one of them or a stream of them out.

Its typed calls copy and check every field of question and answer; a question makes fifty calls. Asked for
plain objects it costs six tenths of the processor time, of a stream a third (``tests/bench/question.py``).
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2
import openai

from askwiki.llm.addresses import Address

TIMEOUT = (openai.APITimeoutError, httpx2.TimeoutException)
TRANSPORT = (openai.APIConnectionError, httpx2.HTTPError, httpx2.StreamError)  # the connection; holds TIMEOUT too


class Refused(Exception):
    """The server answered with a status of 400 and more, or with an error amid a stream (``status`` 0)."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str]) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers


# A server within reach takes a connection in milliseconds; a longer wait is part of no answer. Retries are ours.
CONNECT_SECONDS = 5.0


class NotJson(Exception):
    """The answer is no JSON object: another kind of server, or a page that asks to log in."""


class Client:
    """One server. Thread-safe; keeps ``connections`` open between calls."""

    def __init__(self, address: Address, *, key: str, connections: int) -> None:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=connections)
        http = openai.DefaultHttpxClient(limits=limits)
        self._address = address
        headers = address.headers(key)
        self._headers = headers if "Authorization" in headers else {"Authorization": openai.Omit(), **headers}
        self._api = openai.OpenAI(
            base_url=address.url,
            api_key=key,
            max_retries=0,
            http_client=http,
            default_query=dict(address.query),
        )
        weakref.finalize(self, self._api.close)  # a model that the valves replaced leaves no connection behind

    def create(self, body: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """One whole answer; ``seconds`` is the longest silence of the server."""
        with _errors():
            path = self._address.path(body["model"])
            return _no_error(_object(self._api.post(path, cast_to=object, body=body, options=self._within(seconds))))

    @contextmanager
    def stream(self, body: Mapping[str, Any], seconds: float) -> Iterator[Iterator[dict[str, Any]]]:
        """The chunks of a streamed answer as they come; leaving the block ends the call.

        A server that answers whole gives one chunk. What is no object says nothing and is left out.
        """
        kind = openai.Stream[object]
        options = self._within(seconds)
        path = self._address.path(body["model"])
        with (
            _errors(),
            self._api.post(path, cast_to=object, body=body, options=options, stream=True, stream_cls=kind) as chunks,
        ):
            whole = _whole(chunks.response)
            read = chunks if whole is None else iter([whole])
            yield (_no_error(chunk) for chunk in read if isinstance(chunk, dict))

    def listed(self, seconds: float) -> list[dict[str, Any]]:
        """What the server says of each model that it offers, in its order; each has an ``id``."""
        with _errors():
            listed = _object(self._api.get("/models", cast_to=object, options=self._within(seconds)))
        entries = listed.get("data")
        entries = entries if isinstance(entries, list) else []
        return [entry for entry in entries if isinstance(entry, dict) and "id" in entry]

    def _within(self, seconds: float) -> Any:
        return {"timeout": openai.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)), "headers": self._headers}


@contextmanager
def _errors() -> Iterator[None]:
    """The client's errors as ours; those of the connection stay."""
    try:
        yield
    except openai.APIStatusError as error:
        raise Refused(error.status_code, _told(error.response.content), error.response.headers) from error
    except openai.APIConnectionError:
        raise
    except openai.APIError as error:  # amid a stream
        raise Refused(0, f"{error.body or ''} {error}".strip(), {}) from error
    except json.JSONDecodeError as error:
        raise NotJson from error


def _told(content: bytes) -> str:
    """What the server says of an error, its escapes read."""
    try:
        return json.dumps(json.loads(content), ensure_ascii=False)
    except ValueError:
        return content.decode("utf-8", "replace")


def _whole(response: httpx2.Response) -> object:
    """The answer of a server that does not stream although it was asked to; None where it may be a stream."""
    if "event-stream" in response.headers.get("content-type", "event-stream"):
        return None
    try:
        return json.loads(response.read())  # which the stream can still be read from
    except ValueError:
        return None


def _no_error(answer: dict[str, Any]) -> dict[str, Any]:
    """Some servers send an error with the status of success."""
    error = answer.get("error")
    if error and not answer.get("choices"):
        code = error.get("code") if isinstance(error, dict) else None
        raise Refused(code if isinstance(code, int) else 0, json.dumps(answer, ensure_ascii=False), {})
    return answer


def _object(read: object) -> dict[str, Any]:
    if not isinstance(read, dict):
        raise NotJson
    return read
