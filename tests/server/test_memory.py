"""Free memory goes back to the system."""

from __future__ import annotations

import os
import subprocess
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


SECOND_THREAD = """
import ctypes, threading
from pathlib import Path
{call}
def take():
    block = ctypes.create_string_buffer(4096)
    thread.append(ctypes.addressof(block))
thread = []
worker = threading.Thread(target=take); worker.start(); worker.join()
heap = next(line for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith("[heap]"))
start, end = (int(part, 16) for part in heap.split()[0].split("-"))
print(start <= thread[0] < end)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the place of the heap is read from /proc")
@pytest.mark.parametrize(
    ("call", "shared"), [("from askwiki.system.memory import one_heap; one_heap()", "True"), ("", "False")]
)
def test_threads_share_one_heap_where_the_process_asks_for_it(call: str, shared: str) -> None:
    environment = {**os.environ, "PYTHONMALLOC": "malloc", "MALLOC_MMAP_THRESHOLD_": "10000000"}
    program = [sys.executable, "-c", SECOND_THREAD.format(call=call)]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == shared
