"""How long to wait before a call is tried again: doubling pauses, or what the server asks for (``Retry-After``)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from math import inf

_MOST_DOUBLINGS = 32  # beyond any ``longest``; a larger power may be no float


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds. ``longest``: of a pause of our own; ``longest_asked``: of one that the server asks for."""

    first: float
    longest: float
    longest_asked: float = inf

    def pause(self, tries: int, asked: float | None = None) -> float:
        """Seconds before the next try, after ``tries`` (from 1) that failed."""
        if asked is not None:
            return min(asked, self.longest_asked)
        return min(self.first * 2.0 ** min(tries - 1, _MOST_DOUBLINGS), self.longest)


def retry_after(value: str | None, *, now: Callable[[], float] = time.time) -> float | None:
    """Seconds of a ``Retry-After`` header: a number or a date (RFC 9110, 10.2.3); None when it is neither."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now())
    except (TypeError, ValueError, OverflowError):
        return None
