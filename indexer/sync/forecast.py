"""How long a run will still take: said when it can be told, then every few minutes; a log shows no bar."""

from __future__ import annotations

import time
from collections.abc import Callable

from indexer.sync.sync import Progress

FIRST = 20.0  # seconds until the first word: some pages have been embedded by then
EVERY = 180.0  # seconds between two words


def forecast(title: str, say: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic) -> Progress:
    """A run's progress in sentences. The pace is that of the pages since the last word: unchanged ones cost nothing,
    and all of them may lie at the beginning of a run that goes on where another was cut off."""
    since, before, due = clock(), 0, clock() + FIRST

    def progress(done: int, total: int) -> None:
        nonlocal since, before, due
        now = clock()
        if now < due or done >= total or done <= before:
            return
        left = (total - done) * (now - since) / (done - before)
        say(f"{title}: {done} of {total} pages, about {span(left)} left at the pace of the last {span(now - since)}.")
        since, before, due = now, done, now + EVERY

    return progress


def span(seconds: float) -> str:
    """Seconds below a minute, then minutes, hours with minutes, days with hours."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} d {hours % 24} h"
