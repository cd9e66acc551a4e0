"""One bounded pool for all LLM calls of the process, fair between the chats that share it.

The bound is what the LLM server takes at once. Whoever waits queues behind its own calls only: a chat
with fifty candidates to judge does not delay the one call of another chat by more than one turn.
"""

from __future__ import annotations

import contextvars
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

from askwiki.errors import Cancelled

T = TypeVar("T")
CHECK_SECONDS = 0.05  # how soon a waiting call notices that its chat was stopped


class FairPool:
    """At most ``size`` calls at once; the next free place goes round the owners that wait.

    Its threads are daemons: a server that never answers does not keep the process alive.
    """

    def __init__(self, size: int) -> None:
        self._size = max(1, size)
        self._free = self._size
        self._threads = 0
        self._lock = threading.Lock()
        self._waiting: OrderedDict[Hashable, deque[Callable[[], bool]]] = OrderedDict()
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._here = threading.local()

    def submit(self, owner: Hashable, call: Callable[[], T]) -> Future[T]:
        """Run ``call`` in a thread of the pool; a future cancelled before its turn costs nothing."""
        future: Future[T] = Future()
        context = contextvars.copy_context()  # whose request it is, for the log

        def start() -> bool:
            if not future.set_running_or_notify_cancel():
                return False
            self._jobs.put(lambda: context.run(_settle, future, call))
            self._need_thread()
            return True

        self._enqueue(owner, start)
        return future

    @contextmanager
    def place(self, owner: Hashable, cancel: threading.Event | None = None) -> Iterator[None]:
        """A place for a call made in the caller's own thread; inside the pool there is one already."""
        if getattr(self._here, "inside", False):
            yield
            return
        self._wait_for_place(owner, cancel)
        try:
            yield
        finally:
            self._release()

    def _wait_for_place(self, owner: Hashable, cancel: threading.Event | None) -> None:
        ticket: Future[None] = Future()
        granted = threading.Event()

        def start() -> bool:
            running = ticket.set_running_or_notify_cancel()
            granted.set()
            return running

        self._enqueue(owner, start)
        while not granted.wait(CHECK_SECONDS if cancel else None):
            if cancel is not None and cancel.is_set() and ticket.cancel():
                raise Cancelled("The chat was stopped.")

    def _enqueue(self, owner: Hashable, start: Callable[[], bool]) -> None:
        with self._lock:
            self._waiting.setdefault(owner, deque()).append(start)
        self._dispatch()

    def _dispatch(self) -> None:
        while True:
            with self._lock:
                if not self._free or not self._waiting:
                    return
                owner, queue = next(iter(self._waiting.items()))
                start = queue.popleft()
                if queue:
                    self._waiting.move_to_end(owner)
                else:
                    del self._waiting[owner]
                self._free -= 1
            if not start():
                self._free_place()

    def _free_place(self) -> None:
        with self._lock:
            self._free += 1

    def _release(self) -> None:
        self._free_place()
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
            self._release()


def _settle(future: Future[T], call: Callable[[], T]) -> None:
    try:
        result = call()
    except BaseException as error:  # whatever it is belongs to the one who waits for the future
        future.set_exception(error)
    else:
        future.set_result(result)
