"""``python -m tests.bench [NAME …]``: measure, print a table, write ``bench.json``.

Every module of this folder that has ``rows() -> list[dict]`` is run, but the ones in APART; a row is
``{"name", "value", "unit", "goal", "met", "against", "why"}``. Figures are ratios against a yardstick
of the same run, or processor time scaled by the calibration row: these machines are noisy.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
APART = {"diagrams", "server_growth", "soak"}  # run by name only
OUTPUT = Path("bench.json")


def main(names: list[str]) -> int:
    measuring = {path.stem for path in HERE.glob("*.py") if "\ndef rows(" in path.read_text(encoding="utf-8")}
    chosen = names or sorted(measuring - APART)
    rows: list[dict[str, Any]] = []
    broken: list[str] = []
    for name in chosen:
        print(f"-- {name}", file=sys.stderr, flush=True)
        # A process each: one bench's memory and threads are not another's.
        code = f"import json, tests.bench.{name} as bench; print('\\nROWS' + json.dumps(bench.rows()))"
        started = time.monotonic()
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            broken.append(f"{name}: ended with {done.returncode}, its rows are missing")
        else:
            rows += json.loads(done.stdout.rsplit("\nROWS", 1)[1])
        print(f"   {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    faults = [
        f"{row['name']}: the goal is missed and no reason is given" for row in rows if not (row["met"] or row["why"])
    ]
    OUTPUT.write_text(json.dumps({"machine": machine(), "rows": rows}, ensure_ascii=False, indent=1), encoding="utf-8")
    print(table(rows))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def machine() -> dict[str, Any]:
    """What a figure is worth nothing without."""
    model = "unknown"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].split(":", 1)[1].strip() if lines else model
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "load": list(os.getloadavg()),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as aligned text, a missed goal with its reason below it."""
    lines = [f"{'what':58} {'value':>12} {'unit':10} {'goal':>10}  "]
    for row in rows:
        value = f"{row['value']:.3g}" if isinstance(row["value"], float) else str(row["value"])
        mark = {True: "met", False: "MISSED", None: "-"}[row["met"]]
        goal = "" if row["goal"] is None else str(row["goal"])
        lines.append(f"{row['name'][:58]:58} {value:>12} {row['unit']:10} {goal:>10}  {mark}")
        if not row["met"] and row["why"]:
            lines.append(f"    {row['why']}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
