"""What the guarded server knows of the request in hand, for code that is called without it.

The Pipelines server hands neither headers nor disconnects to a pipe. The wrapper puts them into a
context variable, which is visible in ``pipe`` and at every step of its generator. On a server without
the wrapper the defaults hold: no headers, nobody to stop the work.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(slots=True)
class Request:
    """One HTTP request. ``gone`` = the client has left; ``busy`` = there is no place for another chat.

    ``stopped`` = the server itself is about to end: what was said so far gets an end that says so.
    ``cancelled`` is what the work polls: set in all three cases, gone, stopped and over.
    """

    id: str = "-"
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case
    busy: bool = False
    gone: bool = False
    stopped: bool = False
    cancelled: threading.Event = field(default_factory=threading.Event)
    closers: list[Callable[[], None]] = field(default_factory=list)

    def stop(self) -> None:
        """The server ends: bring the work to its last sentence."""
        self.stopped = True
        self.cancelled.set()

    def finish(self) -> None:
        """Stop what still runs for this request and free what it holds (streams of the LLM)."""
        self.cancelled.set()
        while self.closers:
            with contextlib.suppress(ValueError):  # the generator is running: it sees ``cancelled`` itself
                self.closers.pop()()


_current: ContextVar[Request | None] = ContextVar("askwiki_request", default=None)


def current_request() -> Request:
    """The request in hand; a fresh empty one where no wrapper has set it."""
    return _current.get() or Request()


def set_request(request: Request) -> None:
    _current.set(request)
