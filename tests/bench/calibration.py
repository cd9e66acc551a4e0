"""A fixed piece of work whose processor time says how fast this machine is just now."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable

# Seconds of processor time on the machine where the absolute goals were set (two cores, quiet).
REFERENCE_SECONDS = 0.075
_ROUNDS = 200_000


def slowness() -> float:
    """How many times slower than the reference machine: divide processor times by it. Best of five."""
    return min(_once() for _ in range(5)) / REFERENCE_SECONDS


def slowness_now() -> float:
    """The same of this very moment: of the time around it, load and all."""
    return _once() / REFERENCE_SECONDS


def scaled(work: Callable[[], object], rounds: int) -> list[float]:
    """Processor seconds of ``rounds`` runs, each divided by how slow the machine was just before and after it."""
    seconds, before = [], _once()
    for _ in range(rounds):
        started = time.process_time()
        work()
        took, after = time.process_time() - started, _once()
        seconds.append(took * 2 * REFERENCE_SECONDS / (before + after))
        before = after
    return seconds


def _once() -> float:
    started = time.process_time()
    digest, table = b"askwiki", {}
    for number in range(_ROUNDS):
        if number % 4 == 0:
            digest = hashlib.blake2b(digest, digest_size=16).digest()
        table[number % 1024] = digest[number % 16] + len(table)
    return time.process_time() - started
