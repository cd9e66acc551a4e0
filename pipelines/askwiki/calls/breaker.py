"""A circuit breaker: a part that keeps failing is left alone for a while, then tried again by one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FAILURES = 3  # in a row before the part is left alone: one lost connection is no outage
PAUSE = 10.0  # seconds it is left alone; short, because recovery needs no restart and one trial costs little


class Breaker:
    """Closed: calls pass. Open: none pass for ``pause`` seconds. Then one trial decides."""

    def __init__(
        self, *, failures: int = FAILURES, pause: float = PAUSE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = failures
        self._pause = pause
        self._clock = clock
        self._lock = threading.Lock()
        self._failed = 0
        self._retry_at = 0.0

    def allows(self) -> bool:
        """Whether a call may be made now; while open, one caller a pause is let through as the trial."""
        with self._lock:
            if self._failed < self._limit:
                return True
            if self._clock() < self._retry_at:
                return False
            self._retry_at = self._clock() + self._pause
            return True

    @property
    def open(self) -> bool:
        with self._lock:
            return self._failed >= self._limit

    def succeeded(self) -> None:
        with self._lock:
            self._failed = 0

    def failed(self, *, surely: bool = False) -> None:
        """One failure more; ``surely``: there is no doubt that the part is down, so it opens at once."""
        with self._lock:
            self._failed = max(self._failed + 1, self._limit if surely else 0)
            self._retry_at = self._clock() + self._pause
