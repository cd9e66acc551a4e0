"""Calls to encoder servers over HTTP: tried again when that may help, errors as sentences."""

from __future__ import annotations

import time
from typing import Any

import requests

from askwiki.calls.retry import Backoff
from askwiki.errors import ModelError
from askwiki.masking import echoed, remember, remember_address

CONNECTIONS = 64  # kept open: what more chats at once open is closed again after each call
_BACKOFF = Backoff(first=0.2, longest=5.0)
_AGAIN = {408, 429, 500, 502, 503, 504}  # HTTP: may be better in a moment
NOT_THERE = {404, 405, 501}  # HTTP: the server does not know the address


class Unknown(ModelError):
    """The server does not have this address."""


class Client:
    """One server. ``url``: base address; ``/v1`` is added where only host and port are given."""

    def __init__(self, url: str, key: str, *, timeout: float, retries: int, setting: str) -> None:
        stripped = url.rstrip("/")
        scheme, _, rest = stripped.partition("://")
        if scheme not in ("http", "https") or not rest:
            raise ModelError(f"{setting} is {url!r}; it must be an address like http://host:8080/v1.")
        self.base = stripped if "/" in rest else f"{stripped}/v1"
        self._timeout, self._retries = timeout, retries
        self._session = requests.Session()
        self._session.mount(f"{scheme}://", requests.adapters.HTTPAdapter(pool_maxsize=CONNECTIONS))
        remember(key)
        remember_address(url)
        if key:
            self._session.headers["Authorization"] = f"Bearer {key}"

    def post(self, path: str, body: Any) -> Any:
        return self._call("POST", path, body)

    def get(self, path: str) -> Any:
        return self._call("GET", path, None)

    def _call(self, method: str, path: str, body: Any) -> Any:
        url = f"{self.base}/{path}"
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                answer = self._session.request(method, url, json=body, timeout=self._timeout)
            except requests.RequestException as error:
                if last:
                    raise ModelError(f"The encoder server at {url} does not answer ({_reason(error)}).") from error
            else:
                if answer.ok:
                    return _content(answer, url)
                if last or answer.status_code not in _AGAIN:
                    raise _refusal(answer, url)
            time.sleep(_BACKOFF.pause(attempt + 1))
        raise AssertionError("the last attempt returns or raises")


def _content(answer: requests.Response, url: str) -> Any:
    try:
        return answer.json()
    except ValueError as error:
        raise ModelError(f"The encoder server at {url} did not answer with JSON; is the address right?") from error


def _refusal(answer: requests.Response, url: str) -> ModelError:
    kind = Unknown if answer.status_code in NOT_THERE else ModelError
    return kind(f"The encoder server at {url} answered {answer.status_code}: {echoed(answer.text, 200)}")


def _reason(error: Exception) -> str:
    return "it took too long" if isinstance(error, requests.Timeout) else type(error).__name__
