"""Counts of a run that several threads add to: model calls, cache hits, repairs, fallbacks."""

from __future__ import annotations

import threading
from collections import Counter

CALLS = ".calls"


class Counters:
    """Names are ``task.what``: ``cut.calls``, ``cut.cached``, ``cut.repaired``, ``cut.fallback``, …"""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, name: str, number: int = 1) -> None:
        with self._lock:
            self._counts[name] += number

    def counts(self) -> dict[str, int]:
        with self._lock:
            return {name: number for name, number in sorted(self._counts.items()) if number}
