"""Work that is begun ahead in threads and given back in its order: for steps that wait for a model."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")


class OrderedPool(Generic[T]):
    """At most ``threads`` jobs are under way; with 0 each is done at once, in the caller's thread."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, "ahead") if threads else None
        self._begun: deque[Future[T]] = deque()

    def put(self, job: Callable[[], T]) -> Iterator[T]:
        """Begin a job; yields what is finished in front of the queue, waiting when it is full."""
        if self._pool is None:
            yield job()
            return
        self._begun.append(self._pool.submit(job))
        while self._begun and (len(self._begun) > self._threads or self._begun[0].done()):
            yield self._begun.popleft().result()

    def rest(self) -> Iterator[T]:
        """Wait for all that has begun."""
        while self._begun:
            yield self._begun.popleft().result()

    def close(self) -> None:
        """Nothing that has not begun is begun any more."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
