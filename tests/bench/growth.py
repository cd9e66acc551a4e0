"""How index time, question time and memory grow with the number of chunks, on the embedded store and on a server.

One index is filled further and further; at each mark it is published and a process of its own asks it. The
texts are generated (``tests/support/zipf.py``), the vectors random: an exact search takes as long over them as over
real ones, a server's graph does not (its recall is not measured here). ``BENCH_FULL=1`` adds 200,000 chunks.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askwiki.configuration import load_configuration
from askwiki.data import PUBLIC, Rights, Vectors
from askwiki.encoders.factory import make_sparse
from askwiki.settings import SparseSettings, StoreSettings
from askwiki.stages.search import Query, search
from askwiki.store import open_reader, open_writer
from askwiki.store.port import PageState, Point
from tests.bench.calibration import slowness
from tests.support.stores import FINGERPRINT, make_chunk
from tests.support.zipf import Zipf

ROOT = Path(__file__).resolve().parents[2]
MARKS = [1_000, 10_000, 50_000, *([200_000] if os.environ.get("BENCH_FULL") else [])]
PLOT = Path("bench-growth.svg")  # beside bench.json
SIZE = 384
PIECES, WORDS, A_PAGE = 4, 130, 4  # of a chunk, of a chunk, chunks of a page: the means of docs-ru
QUESTIONS, ASKED_WORDS = 31, 7
KEYS = [PUBLIC, *(f"team {number}" for number in range(20))]
RIGHTS = Rights(frozenset(KEYS[:11]))
GOAL_INDEX, GOAL_QUESTION, GOAL_MEMORY = 1.10, 1.05, 1.05  # exponents: no worse than in proportion


@dataclass(frozen=True, slots=True)
class Mark:
    """What was seen at one size. ``index`` holds ``weights`` (words to sparse vectors), writing and publishing."""

    chunks: int
    index: float
    weights: float
    question: float  # processor seconds, median
    waited: float  # the same by the clock
    resident: int  # bytes of the process that asks, or of the server
    own: int  # of them no mapped files
    disk: int


def rows() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        embedded = _grown(StoreSettings(path=str(Path(folder, "store"))), Path(folder))
    found = [*_measures("embedded store", embedded), *_exponents("embedded store", embedded)]
    plotted = {"embedded": embedded}
    if url := os.environ.get("ASKWIKI_QDRANT_URL"):
        plotted["server"] = _on_server(url)
        found += [*_measures("server", plotted["server"]), *_exponents("server", plotted["server"])]
    else:
        found.append(_row("growth on a server", None, "x", None, "", "ASKWIKI_QDRANT_URL is not set: no server."))
    PLOT.write_text(plot(plotted), encoding="utf-8")
    return found


# --- filling --------------------------------------------------------------------------------------


def _on_server(url: str) -> list[Mark]:
    key = os.environ.get("ASKWIKI_QDRANT_KEY", "")
    settings = StoreSettings(qdrant_url=url, qdrant_key=key, collection=f"growth_{uuid.uuid4().hex[:12]}")
    from askwiki.store.qdrant.client import connect

    try:
        with tempfile.TemporaryDirectory() as folder:
            return _grown(settings, Path(folder))
    finally:
        client = connect(settings)
        for item in client.get_collections().collections:
            if item.name.startswith(f"{settings.collection}_v"):
                client.delete_collection(item.name)
        client.close()


def _grown(settings: StoreSettings, folder: Path) -> list[Mark]:
    """The marks, each asked by a new process."""
    words, random = Zipf(), np.random.default_rng(0)
    sparse = make_sparse(SparseSettings())
    asked = [words.question(ASKED_WORDS) for _ in range(QUESTIONS)]
    Path(folder, "questions.json").write_text(json.dumps(asked), encoding="utf-8")
    writer = open_writer(settings, {**FINGERPRINT, "sizes": {"text": SIZE, "context": SIZE}})
    marks, page, index, weighing = list[Mark](), 0, 0.0, 0.0
    for mark in MARKS:
        while page * A_PAGE < mark:
            chunks = [
                make_chunk(str(page), part, words.text(WORDS), acl=KEYS[page % len(KEYS)]) for part in range(A_PAGE)
            ]
            vectors = list(_vectors(random))
            begun = time.process_time()
            weights = sparse.documents([chunk.text for chunk in chunks])
            weighed = time.process_time()
            points = [
                Point(chunk, Vectors(*dense, each)) for chunk, dense, each in zip(chunks, vectors, weights, strict=True)
            ]
            state = PageState(str(page), "hash", {chunk.id: "" for chunk in chunks})
            writer.replace_page("html:growth", state, points, ())
            weighing += weighed - begun
            index += time.process_time() - begun
            page += 1
        begun = time.process_time()
        writer.commit()
        index += time.process_time() - begun
        marks.append(_asked(settings, folder, mark, index, weighing))
        print(f"   {marks[-1]}", file=sys.stderr, flush=True)
    writer.close()
    return marks


def _vectors(random: np.random.Generator) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    for _ in range(A_PAGE):
        rows = random.standard_normal((PIECES + 1, SIZE), dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        yield rows[:PIECES], rows[PIECES]


# --- asking, in a process of its own ---------------------------------------------------------------


def _asked(settings: StoreSettings, folder: Path, mark: int, index: float, weights: float) -> Mark:
    command = [sys.executable, "-m", "tests.bench.growth", json.dumps(asdict(settings)), str(folder)]
    seen = json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
    if settings.qdrant_url:
        seen |= {"resident": _server_memory(settings), "own": 0}
    root = Path(settings.path, "versions")
    disk = sum(file.stat().st_blocks * 512 for file in root.rglob("*") if file.is_file())
    return Mark(mark, index, weights, disk=disk, **seen)


def ask(settings: StoreSettings, questions: Sequence[str]) -> dict[str, float]:
    """Medians of the search stage over ``questions`` and the memory afterwards; the first question opens the store."""
    reader, random = open_reader(settings), np.random.default_rng(1)
    sparse, search_settings = make_sparse(SparseSettings()), load_configuration({}, ROOT / "config").settings.search
    processor, clock = list[float](), list[float]()
    for text in questions:
        dense = random.standard_normal(SIZE, dtype=np.float32)
        query = Query(dense / np.linalg.norm(dense), sparse.query(text), text)
        begun, waited = time.process_time(), time.perf_counter()
        search(query, RIGHTS, reader=reader, settings=search_settings)
        processor.append(time.process_time() - begun)
        clock.append(time.perf_counter() - waited)
    resident, own = _own_memory()
    reader.close()
    return {
        "question": statistics.median(processor[1:]),
        "waited": statistics.median(clock[1:]),
        "resident": resident,
        "own": own,
    }


def _own_memory() -> tuple[int, int]:
    """Bytes of this process: all that is resident, and what of it is no mapped file."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("VmRSS", "RssAnon"))}
    return kilobytes["VmRSS"] << 10, kilobytes["RssAnon"] << 10


def _server_memory(settings: StoreSettings) -> int:
    """What the server says of itself; 0 where it does not."""
    request = urllib.request.Request(f"{settings.qdrant_url.rstrip('/')}/metrics")
    if settings.qdrant_key:
        request.add_header("api-key", settings.qdrant_key)
    with urllib.request.urlopen(request, timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return next((int(float(line.split()[1])) for line in lines if line.startswith("memory_resident_bytes ")), 0)


# --- telling --------------------------------------------------------------------------------------


def _measures(store: str, marks: Sequence[Mark]) -> Iterator[dict[str, Any]]:
    slow = slowness()
    for mark in marks:
        name = f"{store}, {mark.chunks} chunks"
        writing = mark.index - mark.weights
        speed = (
            f"{mark.chunks / mark.index:.0f} chunks a second: {mark.weights:.0f} s of weights, {writing:.0f} s written"
        )
        yield _row(f"{name}: index", mark.index / slow, "s", None, "processor time, without models", speed)
        said = f"{mark.waited * 1e3:.0f} ms by the clock"
        yield _row(f"{name}: search stage", 1e3 * mark.question / slow, "ms", None, "processor time, median", said)
        said = f"{mark.own >> 20} MB of it no mapped files; {mark.disk >> 20} MB on disk"
        yield _row(f"{name}: resident memory", mark.resident >> 20, "MB", None, "the process that asks", said)


def _exponents(store: str, marks: Sequence[Mark]) -> Iterator[dict[str, Any]]:
    sizes = [mark.chunks for mark in marks]
    for what, values, goal in (
        ("index time", [mark.index for mark in marks], GOAL_INDEX),
        ("question time", [mark.question for mark in marks], GOAL_QUESTION),
        ("resident memory", [float(mark.resident or 1) for mark in marks], GOAL_MEMORY),
    ):
        fitted = exponent(sizes, values)
        said = f"from {values[0]:.3g} to {values[-1]:.3g} while the chunks grow {sizes[-1] // sizes[0]} times"
        yield _row(f"{store}: {what} grows with chunks to the power of", fitted, "", goal, "least squares", said)


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """The slope of the straight line through the logarithms."""
    slope, _ = np.polyfit(np.log(sizes), np.log(values), 1)
    return float(slope)


def _row(name: str, value: float | None, unit: str, goal: float | None, against: str, why: str) -> dict[str, Any]:
    met = None if goal is None or value is None else value <= goal
    rounded = value if value is None else round(value, 3)
    return {"name": name, "value": rounded, "unit": unit, "goal": goal, "met": met, "against": against, "why": why}


def plot(stores: dict[str, list[Mark]]) -> str:
    """Three small panels, both axes in powers of ten."""
    panels = [
        ("index, s", lambda mark: mark.index),
        ("question, ms", lambda mark: 1e3 * mark.question),
        ("memory, MB", lambda mark: mark.resident / 1e6),
    ]
    drawn = []
    for place, (title, measure) in enumerate(panels):
        lines = {name: [(mark.chunks, measure(mark)) for mark in marks] for name, marks in stores.items()}
        drawn.append(_panel(title, lines, left=60 + place * 250))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 240" width="760" height="240" role="img" '
        'font-family="system-ui, sans-serif" font-size="11" fill="#333333">\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{"".join(drawn)}</svg>\n'
    )


WIDE, HIGH, TOP = 180, 150, 40  # pixels of a panel
COLOURS = ("#3b6ea8", "#b0413e")


def _panel(title: str, lines: dict[str, list[tuple[int, float]]], *, left: int) -> str:
    points = [point for line in lines.values() for point in line]
    across = _decades([point[0] for point in points])
    upward = _decades([point[1] for point in points])
    floor = TOP + HIGH
    drawn = [f'<text x="{left}" y="{TOP - 14}" font-size="13" font-weight="600">{title}</text>']
    for power in range(across[0], across[1] + 1):
        x = left + _share(10.0**power, across) * WIDE
        drawn.append(f'<path d="M{x:.0f} {TOP}V{floor}" stroke="#dddddd"/>')
        drawn.append(f'<text x="{x:.0f}" y="{floor + 15}" text-anchor="middle">{_short(power)}</text>')
    for power in range(upward[0], upward[1] + 1):
        y = floor - _share(10.0**power, upward) * HIGH
        drawn.append(f'<path d="M{left} {y:.0f}h{WIDE}" stroke="#dddddd"/>')
        drawn.append(f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{_short(power)}</text>')
    for number, (name, line) in enumerate(lines.items()):
        places = [(left + _share(x, across) * WIDE, floor - _share(y, upward) * HIGH) for x, y in line if y > 0]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[number]}" stroke-width="2"/>')
        drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[number]}"/>' for x, y in places]
        drawn.append(f'<text x="{left}" y="{floor + 32 + 13 * number}" fill="{COLOURS[number]}">{name}, chunks</text>')
    return "\n".join(drawn) + "\n"


def _decades(values: Sequence[float]) -> tuple[int, int]:
    there = [value for value in values if value > 0]
    return math.floor(math.log10(min(there))), math.ceil(math.log10(max(there)))


def _share(value: float, decades: tuple[int, int]) -> float:
    return (math.log10(value) - decades[0]) / max(decades[1] - decades[0], 1)


def _short(power: int) -> str:
    return f"{10**power // 1000}k" if power >= 3 else f"{10.0**power:g}"


if __name__ == "__main__":
    given, where = StoreSettings(**json.loads(sys.argv[1])), Path(sys.argv[2])
    print(json.dumps(ask(given, json.loads((where / "questions.json").read_text(encoding="utf-8")))))
