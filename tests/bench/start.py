"""How long a person waits for ``--help``, against a Python that imports what every such program needs."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 15
GOAL = 2.0
BARE = ("-c", "import argparse, yaml")
OURS = {"askwiki": ("-m", "askwiki", "--help"), "indexer": ("-m", "indexer", "--help")}


def rows() -> list[dict[str, Any]]:
    commands = {"bare": BARE, **OURS}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):  # in turns: what disturbs the machine disturbs all
        for name, words in commands.items():
            times[name].append(_seconds(words))
    middle = {name: statistics.median(seconds) for name, seconds in times.items()}
    return [_row(name, middle[name], middle["bare"]) for name in OURS]


def _seconds(words: tuple[str, ...]) -> float:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "pipelines")))}
    started = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL, cwd=ROOT, env=environment)
    return time.perf_counter() - started


def _row(name: str, ours: float, bare: float) -> dict[str, Any]:
    ratio = ours / bare
    return {
        "name": f"python -m {name} --help / a bare Python with argparse and yaml",
        "value": round(ratio, 2),
        "unit": "x",
        "goal": GOAL,
        "met": ratio <= GOAL,
        "against": f'python -c "{BARE[1]}", medians of {ROUNDS} runs in turns',
        "why": f"{ours * 1000:.0f} ms against {bare * 1000:.0f} ms",
    }
