"""What every peer's process does: take chunks and vectors, index them, answer the questions, say what it took.

Runs in the peers' environment, which has no askwiki. The folder given holds ``pages.json`` ([{title, text}]),
``questions.json`` ([text]) with ``questions.npy`` (their vectors, shape (questions, size)), and for every way of
cutting ``NAME.chunks.json`` ([text]) with ``NAME.npy``. ``cut FOLDER NAME`` writes the chunks of the peer's own cut,
``run FOLDER NAME`` prints a line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

DEPTH = 50  # asked for of each list and in all, as many as our candidates

Ask = Callable[[str, list[float]], list[int]]  # question, its vector -> numbers of the chunks found, best first
Build = Callable[[Sequence[str], np.ndarray], Ask]
Cut = Callable[[dict[str, str]], list[str]]


def main(cut: Cut, build: Build) -> None:
    task, folder, name = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    if task == "cut":
        _cut(cut, folder, name)
    else:
        sys.stdout.write("\n" + json.dumps(_run(build, folder, name)) + "\n")


def _cut(cut: Cut, folder: Path, name: str) -> None:
    pages = _read(folder / "pages.json")
    cut(pages[0])  # what is loaded on the first call
    started = time.process_time()
    chunks = [{"page": number, "text": text} for number, page in enumerate(pages) for text in cut(page)]
    seconds = time.process_time() - started
    (folder / f"{name}.own.json").write_text(json.dumps({"seconds": seconds, "chunks": chunks}), encoding="utf-8")


def _run(build: Build, folder: Path, name: str) -> dict[str, object]:
    """All times are processor seconds but ``clock``."""
    texts, vectors = _read(folder / f"{name}.chunks.json"), np.load(folder / f"{name}.npy")
    started = time.process_time()
    ask = build(texts, vectors)
    index = time.process_time() - started
    questions = list(zip(_read(folder / "questions.json"), np.load(folder / "questions.npy").tolist(), strict=True))
    ask(*questions[0])  # what is loaded on the first call
    found, search, clock = [], [], []
    for question, vector in questions:
        started, begun = time.process_time(), time.perf_counter()
        found.append(ask(question, vector))
        search.append(time.process_time() - started)
        clock.append(time.perf_counter() - begun)
    return {"found": found, "search": search, "clock": clock, "index": index, "resident": resident()}


def resident() -> int:
    """Bytes of this process that are no mapped files."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) << 10


def _read(file: Path) -> list:
    return json.loads(file.read_text(encoding="utf-8"))
