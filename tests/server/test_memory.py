"""Free memory goes back to the system."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from askwiki.system.memory import give_back
from tests.bench.proc import resident


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_memory_that_is_free_but_kept_goes_back() -> None:
    pieces = [np.ones(8_000) for _ in range(3_000)]  # 64 kB each: below what the C library maps by itself
    pins = pieces[::100]  # the heap cannot shrink from its end
    del pieces
    before = resident()
    give_back()
    assert len(pins) == 30
    assert resident() < before - 100
