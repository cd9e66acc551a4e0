"""Starting a server, waiting until it answers, ending it by its pid."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

STOP_SECONDS = 15.0


@contextlib.contextmanager
def process(
    words: Sequence[str], log: Path, environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in ``folder`` for the length of the block; its output goes to ``log``."""
    with log.open("wb") as output:
        started = subprocess.Popen(
            list(words), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            env=dict(os.environ if environ is None else environ), cwd=folder,
        )  # fmt: skip
        try:
            yield started
        finally:
            started.terminate()
            try:
                started.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                started.kill()
                started.wait()


def await_url(url: str, running: subprocess.Popen[bytes], log: Path, seconds: float) -> None:
    """Return when ``url`` answers 200; a process that ended or stays silent raises with its log's end."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and running.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    tail = log.read_text(encoding="utf-8", errors="replace")[-3000:]
    raise RuntimeError(f"{url} did not answer within {seconds:.0f} s. The end of {log.name}:\n{tail}")
