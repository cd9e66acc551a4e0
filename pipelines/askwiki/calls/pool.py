"""One bounded pool for all LLM calls of the process, fair between the chats that share it.

The bound is what the LLM server takes at once. Who came first goes first, but each call a chat has made counts
as if it had come a little later: chats of one moment take turns, however many calls each has, and one that has
waited long for its verdicts does not queue again behind all newcomers for its answer (start-time fair queueing,
Goyal, Vin, Cheng 1997, with the clock on the wall as virtual time).
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeVar

from askwiki.errors import Cancelled

T = TypeVar("T")
CALL_SECONDS = 0.1  # how much later a chat counts as come for each call it has made
KEPT_FREE = 8  # one place of so many is for short calls: streams of many seconds must not hold them all
REMEMBERED = 1000  # owners whose turn is known
CHECK_SECONDS = 0.2  # how soon a waiting call notices that its chat was stopped


@dataclass(frozen=True, slots=True)
class _Job:
    """Waits for a place. ``start`` says whether it still wants it."""

    start: Callable[[], bool]
    long: bool = False


class FairPool:
    """At most ``size`` calls at once; the next free place goes to the owner whose turn it is.

    Its threads are daemons: a server that never answers does not keep the process alive.
    """

    def __init__(self, size: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._size = max(1, size)
        self._free = self._size
        self._free_for_long = self._size - self._size // KEPT_FREE
        self._threads = 0
        self._lock = threading.Lock()
        self._first: deque[_Job] = deque()
        self._waiting: dict[Hashable, deque[_Job]] = {}
        self._turns: dict[Hashable, float] = {}  # owner -> when it counts as come, on the clock
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._here = threading.local()

    def submit(self, owner: Hashable, call: Callable[[], T], *, long: bool = False) -> Future[T]:
        """Run ``call`` in a thread of the pool; a future cancelled before its turn costs nothing.

        ``long``: it will hold its place for many seconds.
        """
        future: Future[T] = Future()
        context = contextvars.copy_context()  # whose request it is, for the log

        def run() -> None:
            try:
                context.run(_settle, future, call)
            finally:
                self._release(job)

        def start() -> bool:
            if not future.set_running_or_notify_cancel():
                return False
            self._jobs.put(run)
            self._need_thread()
            return True

        job = _Job(start, long)
        self._enqueue(owner, job)
        return future

    @contextmanager
    def place(self, owner: Hashable, cancel: threading.Event | None = None, *, first: bool = False) -> Iterator[None]:
        """A place for a call made in the caller's own thread; inside the pool there is one already.

        ``first``: before all that wait. For one short call a chat, before which it shows nothing.
        """
        if getattr(self._here, "inside", False):
            yield
            return
        job = self._wait_for_place(owner, cancel, first=first)
        try:
            yield
        finally:
            self._release(job)

    def _wait_for_place(self, owner: Hashable, cancel: threading.Event | None, *, first: bool) -> _Job:
        ticket: Future[None] = Future()
        granted = threading.Event()

        def start() -> bool:
            running = ticket.set_running_or_notify_cancel()
            granted.set()
            return running

        job = _Job(start)
        self._enqueue(owner, job, first=first)
        while not granted.wait(CHECK_SECONDS if cancel else None):
            if cancel is not None and cancel.is_set() and ticket.cancel():
                raise Cancelled("The chat was stopped.")
        return job

    def _enqueue(self, owner: Hashable, job: _Job, *, first: bool = False) -> None:
        with self._lock:
            if first:
                self._first.append(job)
            else:
                self._waiting.setdefault(owner, deque()).append(job)
                self._turns.setdefault(owner, self._clock())
        self._dispatch()

    def _dispatch(self) -> None:
        while True:
            with self._lock:
                job = self._next() if self._free else None
                if job is None:
                    return
                self._free -= 1
                self._free_for_long -= job.long
            if not job.start():
                self._free_place(job)

    def _next(self) -> _Job | None:
        if self._first:
            return self._first.popleft()
        ready = [owner for owner, jobs in self._waiting.items() if self._free_for_long or not jobs[0].long]
        if not ready:
            return None
        owner = min(ready, key=self._turns.__getitem__)
        jobs = self._waiting[owner]
        job = jobs.popleft()
        if not jobs:
            del self._waiting[owner]
        self._turns[owner] = self._turns.pop(owner) + CALL_SECONDS  # and to the end: who was served long ago is first
        if len(self._turns) > REMEMBERED + len(self._waiting):
            del self._turns[next(known for known in self._turns if known not in self._waiting)]
        return job

    def _free_place(self, job: _Job) -> None:
        with self._lock:
            self._free += 1
            self._free_for_long += job.long

    def _release(self, job: _Job) -> None:
        self._free_place(job)
        self._dispatch()

    def _need_thread(self) -> None:
        with self._lock:
            if self._threads == self._size:
                return
            self._threads += 1
        threading.Thread(target=self._work, name="llm", daemon=True).start()

    def _work(self) -> None:
        self._here.inside = True
        while True:
            self._jobs.get()()


def _settle(future: Future[T], call: Callable[[], T]) -> None:
    try:
        result = call()
    except BaseException as error:  # whatever it is belongs to the one who waits for the future
        future.set_exception(error)
    else:
        future.set_result(result)
