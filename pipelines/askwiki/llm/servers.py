"""The servers behind one LLM: their addresses, whose turn it is, who is down, what each refuses."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from askwiki.calls.breaker import Breaker
from askwiki.errors import ModelError, SettingsError
from askwiki.llm.client import Client


@dataclass(slots=True)
class LlmServer:
    """One server: its client, its breaker and the request options it has refused so far."""

    name: str  # host and port, for logs
    client: Client
    breaker: Breaker = field(default_factory=Breaker)
    refused: set[str] = field(default_factory=set)  # see ``llm_request.OPTIONS``
    model: str = ""  # the first one it lists, once asked
    heard: float = 0.0  # when it last said anything to anybody, on the clock of ``time.monotonic``


class Servers:
    """Round robin over the servers that answer."""

    def __init__(self, servers: Sequence[LlmServer]) -> None:
        self._servers = list(servers)
        self._lock = threading.Lock()
        self._next = 0

    def pick(self) -> LlmServer:
        """The next server whose breaker lets a call through; ``ModelError`` at once when none does."""
        with self._lock:
            for step in range(len(self._servers)):
                server = self._servers[(self._next + step) % len(self._servers)]
                if server.breaker.allows():
                    self._next = (self._next + step + 1) % len(self._servers)
                    return server
        names = ", ".join(server.name for server in self._servers)
        raise ModelError(f"The language model ({names}) does not answer; it will be tried again shortly.")


def base_urls(setting: str) -> list[str]:
    """``llm.url`` as a list of base addresses; ``/v1`` is added where only host and port are given."""
    urls = []
    for url in filter(None, (part.strip().rstrip("/") for part in setting.split(","))):
        try:
            parts = urlsplit(url)
        except ValueError:  # half a bracket
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise SettingsError(f"llm.url holds {url!r}; it must be like http://host:8080/v1.")
        urls.append(url if parts.path else f"{url}/v1")
    return urls
