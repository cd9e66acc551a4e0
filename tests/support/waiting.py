"""Waiting for a state, not for a time: however busy the machine is, a test goes on when what it needs has happened."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 120.0  # seconds for what an idle machine does at once; only a guard against waiting for ever
LOOK_SECONDS = 0.005


def until(happened: Callable[[], object], what: str, *, seconds: float = PATIENCE, every: float = LOOK_SECONDS) -> None:
    """Return once ``happened()`` is true; ``what`` names in the error what never came."""
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            raise TimeoutError(f"After {seconds:.0f} s: {what}.")
        time.sleep(every)
