"""The servers behind one LLM: whose turn it is, who is down, what each model of theirs refuses."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from askwiki.calls.breaker import Breaker
from askwiki.errors import ModelError, ModelRefuses
from askwiki.llm.addresses import addresses
from askwiki.llm.client import Client

LASTING_SECONDS = 60.0  # between two trials of what refuses for good: a key, a quota or a name is mended by a person


@dataclass(slots=True)
class Served:
    """What is known of one model of a server."""

    refused: set[str] = field(default_factory=set)  # options of requests, see ``refusals.OPTIONS``
    breaker: Breaker = field(default_factory=lambda: Breaker(pause=LASTING_SECONDS))
    refusal: str = ""  # the sentence of a refusal that will not go away
    unopened: bool | None = None  # whether its chat template opens thinking, see ``Reply``
    context: int = 0  # tokens it takes, once the server was asked
    context_read: float = 0.0  # when that was, on the clock of ``time.monotonic``


@dataclass(slots=True)
class LlmServer:
    """One server: its client, its breaker and what its models showed so far."""

    name: str  # host and port, for logs
    client: Client
    breaker: Breaker = field(default_factory=Breaker)
    models: defaultdict[str, Served] = field(default_factory=lambda: defaultdict(Served))
    model: str = ""  # the first one it lists, once asked
    heard: float = 0.0  # when it last said anything to anybody, on the clock of ``time.monotonic``


class Servers:
    """Round robin over the servers that answer."""

    def __init__(self, servers: Sequence[LlmServer]) -> None:
        self._servers = list(servers)
        self._lock = threading.Lock()
        self._next = 0

    def all(self) -> Sequence[LlmServer]:
        return tuple(self._servers)

    def pick(self, model: str) -> LlmServer:
        """The next server that lets a call of ``model`` through; ``ModelError`` at once when none does."""
        refusals = []
        with self._lock:
            for step in range(len(self._servers)):
                server = self._servers[(self._next + step) % len(self._servers)]
                served = server.models[model]
                if served.breaker.open and not served.breaker.allows():
                    refusals.append(served.refusal)
                elif server.breaker.allows():
                    self._next = (self._next + step + 1) % len(self._servers)
                    return server
        if len(refusals) == len(self._servers):
            raise ModelRefuses(refusals[0])
        names = ", ".join(server.name for server in self._servers)
        raise ModelError(f"The language model ({names}) does not answer; it will be tried again shortly.")


def base_urls(setting: str) -> list[str]:
    """``llm.url`` as a list of base addresses; ``/v1`` is added where only host and port are given."""
    return [address.url for address in addresses(setting)]
