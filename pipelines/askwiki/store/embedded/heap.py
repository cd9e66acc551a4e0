"""Keeps the C library from giving every thread a heap of its own (glibc; elsewhere nothing happens).

Each new version of the index is loaded in one thread and closed in another. With a heap a thread that leaves
holes in all of them, and resident memory grows with every sync: measured 60 -> 277 MB over 32 versions of a
small index, and 56 -> 70 MB, where it stays, with one heap for all.
"""

from __future__ import annotations

import contextlib
import ctypes

_M_ARENA_MAX = -8  # malloc.h


def one_heap() -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
