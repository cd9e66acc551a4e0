"""Parts that may be down or slow: each call with a time limit, each part behind its own breaker."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from typing import TypeVar

from askwiki.calls.breaker import Breaker
from askwiki.calls.pool import FairPool
from askwiki.errors import AskWikiError, Cancelled, ModelError, StoreMismatch

T = TypeVar("T")
LOOK_SECONDS = 0.05  # between two looks at whether the person has gone
PLACES = 4  # calls of one part at once, where it is a server


class PartGuard:
    """The breakers of one process's parts. Parts recover without a restart: one trial after each pause.

    ``here``: parts that compute in this process. One call at a time: each holds the interpreter, and a second one
    would only make the server's own loop wait longer for it.
    """

    def __init__(self, here: Collection[str] = (), *, clock: Callable[[], float] = time.monotonic) -> None:
        self._here, self._clock = frozenset(here), clock
        self._lock = threading.Lock()
        self._breakers: dict[str, Breaker] = {}
        self._places: dict[str, FairPool] = {}

    def call(self, part: str, work: Callable[[], T], *, seconds: float, cancel: threading.Event | None = None) -> T:
        """``work()`` if the part is not known to be down; an error or no answer in time counts against it.

        Its time begins when it has a place: a crowd that waits for its turn is no sign of a part that is slow.
        """
        breaker, places = self._of(part)
        with places.place(cancel or object(), cancel):
            return self._watched(part, breaker, work, seconds, cancel)

    def _watched(
        self, part: str, breaker: Breaker, work: Callable[[], T], seconds: float, cancel: threading.Event | None
    ) -> T:
        if not breaker.allows():
            raise ModelError(f"The {part} has just failed several times and is left alone for a moment.")
        try:
            result = self._within(part, work, seconds, cancel)
        except (Cancelled, StoreMismatch):  # the part works
            raise
        except AskWikiError:
            breaker.failed()
            raise
        breaker.succeeded()
        return result

    def _of(self, part: str) -> tuple[Breaker, FairPool]:
        with self._lock:
            breaker = self._breakers.setdefault(part, Breaker(clock=self._clock))
            return breaker, self._places.setdefault(part, FairPool(1 if part in self._here else PLACES))

    def _within(self, part: str, work: Callable[[], T], seconds: float, cancel: threading.Event | None) -> T:
        end = self._clock() + seconds
        future = beside(work)
        while (left := end - self._clock()) > 0:
            try:
                return future.result(timeout=min(left, LOOK_SECONDS) if cancel else left)
            except TimeoutError:
                if future.done():  # the work itself ended with a TimeoutError
                    raise
                if cancel is not None and cancel.is_set():
                    raise Cancelled("The chat was stopped.") from None
        raise ModelError(f"The {part} did not answer within {seconds:g} s.")


def beside(work: Callable[[], T]) -> Future[T]:
    """``work()`` in a thread of its own, with the caller's context (the request's id in logs)."""
    future: Future[T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            result = context.run(work)
        except BaseException as error:  # belongs to the one who waits
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, name="part", daemon=True).start()
    return future
