"""5,000 questions and 20 syncs in one process: what grows, what leaks, what becomes slower (``make soak``).

The question's whole way in the process; the language model and the encoder are the scripted ones behind
real HTTP (``tests/support/llm_process.py``; vectors by the text's checksum, next to no model time), so that
connections are counted too. A sync rewrites, removes and adds pages while questions read the index.
Takes about ten minutes on two quiet cores. The plot goes to ``bench-soak.svg``.
"""

from __future__ import annotations

import itertools
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from askwiki.configuration import Configuration, load_configuration
from askwiki.data import Answer, Identity, Turn
from askwiki.flow import ask as flow
from askwiki.kit import Kit, build_kit
from indexer.opening import open_source
from indexer.sync.run import run_sources
from indexer.sync.sync import Rules
from tests.bench import proc
from tests.bench.calibration import slowness_now
from tests.bench.filled import questions, running_words
from tests.bench.row import row
from tests.support.llm_process import RunningLlm, running_llm

QUESTIONS = int(os.environ.get("SOAK_QUESTIONS", "5000"))
SYNCS = 20
EVERY = QUESTIONS // 100  # questions between two looks
BEGINNING = QUESTIONS // 10  # questions after which memory may grow no more
PAGES, CHANGED = 300, 30  # of the wiki; rewritten by a sync, and half as many removed and added
ROUND = 5  # syncs until a fifth of the points is dead and their room is given back: memory rises and falls so often
PLOT = Path("bench-soak.svg")  # beside bench.json
SETTLE_SECONDS = 3.0  # until threads of finished calls have ended


@dataclass(frozen=True, slots=True)
class Look:
    """After so many questions: MB, counts, and the questions' times since the last look."""

    asked: int
    resident: float
    counted: dict[str, int]
    processor: tuple[float, ...]  # ms, scaled
    wall: tuple[float, ...]  # ms


def rows() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder, running_llm() as llm:
        place = Path(folder)
        configuration = load_configuration(_environment(place, llm))
        wiki = Wiki(place / "wiki", configuration)
        wiki.sync()
        kit = build_kit(configuration)
        began = time.monotonic()
        looks = _soak(kit, wiki)
        took = time.monotonic() - began
        copies = len([path for path in (place / "store" / "readers").iterdir() if path.is_dir()])
        kit.reader.close()
    _plot(looks)
    return _rows(looks, copies, took, wiki.synced)


def _environment(place: Path, llm: RunningLlm) -> dict[str, str]:
    return {
        "ASKWIKI_STORE_PATH": str(place / "store"),
        "ASKWIKI_SYNC__CACHE": str(place / "cache"),
        "ASKWIKI_WIKI_URL": "https://wiki.example.com",
        "ASKWIKI_LLM_URL": llm.url,
        "ASKWIKI_LLM__MODEL": "scripted",
        "ASKWIKI_RELEVANCE__GROUP": "10",
        "ASKWIKI_EMBEDDING__KIND": "openai",
        "ASKWIKI_EMBEDDING__URL": llm.url,
        "ASKWIKI_CHUNKING__LLM_CUT": "false",
        "ASKWIKI_CONTEXT__LLM": "false",
    }


class Wiki:
    """A folder of pages that moves on: each sync finds some rewritten, some gone, some new."""

    def __init__(self, folder: Path, configuration: Configuration) -> None:
        self._folder, self._configuration = folder, configuration
        self._random, self._words = np.random.default_rng(0), running_words()
        self._first, self.synced = 0, 0
        folder.mkdir()
        for number in range(PAGES):
            self._write(number)

    def sync(self) -> None:
        """By the indexer's own function, into the store that the questions read."""
        source = open_source(f"markdown:{self._folder}", self._configuration)
        (ledger,) = run_sources([source], Rules(), self._configuration)
        assert (ledger.failed, ledger.read) == (0, PAGES), ledger
        self.synced += 1

    def move_on(self) -> None:
        gone = CHANGED // 2
        for number in range(self._first, self._first + gone):
            (self._folder / f"{number}.md").unlink()
            self._write(number + PAGES)
        self._first += gone
        for number in self._random.integers(self._first, self._first + PAGES - gone, CHANGED):
            self._write(int(number))
        self.sync()

    def _write(self, number: int) -> None:
        text = f"# Страница {number}\n"
        for section in range(6):
            starts = self._random.integers(0, len(self._words) - 12, 12)
            sentences = (" ".join(self._words[start : start + 12]).capitalize() for start in starts)
            text += f"\n## Раздел {section}\n\n{'. '.join(sentences)}.\n"
        (self._folder / f"{number}.md").write_text(text, encoding="utf-8")


def _soak(kit: Kit, wiki: Wiki) -> list[Look]:
    looks, syncing = list[Look](), list[threading.Thread]()
    asking = itertools.cycle(questions())
    for first in range(0, QUESTIONS, EVERY):
        if first % (QUESTIONS // SYNCS) == QUESTIONS // SYNCS // 2 // EVERY * EVERY:
            syncing.append(threading.Thread(target=wiki.move_on))
            syncing[-1].start()
        scale, times = slowness_now(), list[tuple[float, float]]()
        for number in range(first, first + EVERY):
            times.append(_ask(kit, next(asking), follows=number % 4 == 0))
        if syncing and (first // EVERY + 1) % (100 // SYNCS) == 0:
            syncing[-1].join()
            time.sleep(SETTLE_SECONDS)
        processor, wall = zip(*times, strict=True)
        scaled = tuple(1000 * seconds / scale for seconds in processor)
        looks.append(Look(first + EVERY, proc.resident(), proc.counted(), scaled, tuple(1000 * each for each in wall)))
    return looks


def _ask(kit: Kit, question: str, *, follows: bool) -> tuple[float, float]:
    """(processor, wall) seconds of one question; every one must be answered, and nothing be missing."""
    turns = [Turn("user", question)]
    if follows:
        turns += [Turn("assistant", "Да, такое бывает."), Turn("user", "А что будет, если он не пришёл за ними?")]
    processor, wall = time.process_time(), time.perf_counter()
    *_, answer = flow.ask(turns, Identity(), kit=kit)
    took = time.process_time() - processor, time.perf_counter() - wall
    assert isinstance(answer, Answer) and answer.text and not answer.degraded, (question, answer.degraded)
    return took


# --- rows and plot --------------------------------------------------------------------------------


def _rows(looks: Sequence[Look], copies: int, took: float, synced: int) -> list[dict[str, Any]]:
    settled = [look for look in looks if look.asked % (QUESTIONS // SYNCS) == 0 and look.asked >= BEGINNING]
    start, end = settled[0], settled[-1]
    before, after = (statistics.mean(look.resident for look in part) for part in (settled[:ROUND], settled[-ROUND:]))
    grown = 100 * (after / before - 1)
    span = QUESTIONS // 5
    first = [look for look in looks if look.asked <= span]
    last = [look for look in looks if look.asked > QUESTIONS - span]
    what = f"{QUESTIONS} questions, {synced} syncs of {PAGES} pages, {took / 60:.1f} minutes"
    memory = (
        f"{what}; mean MB of {ROUND} syncs from {start.asked} questions on {before:.0f}, of the last {after:.0f}; "
        f"after {start.asked} questions {start.resident:.0f}, at the end {end.resident:.0f}"
    )
    rows = [row("soak: resident memory grown", grown, "%", 3.0, memory, memory)]
    for name in ("threads", "files", "sockets"):
        more = end.counted[name] - start.counted[name]
        figures = f"{start.counted[name]} after {start.asked} questions, {end.counted[name]} at the end"
        rows.append(row(f"soak: {name} more than after {start.asked} questions", more, name, 0, figures, figures))
    rows.append(row("soak: private copies of the index on disk", copies, "copies", 1, "one reader", what))
    for kind in ("processor", "wall"):
        early, late = (statistics.median(t for look in part for t in getattr(look, kind)) for part in (first, last))
        figures = f"{kind} time, p50 ms: first {span} {early:.1f}, last {span} {late:.1f}"
        rows.append(row(f"soak: {kind} time, last {span} / first {span}", late / early, "x", 1.1, figures, figures))
    return rows


def _plot(looks: Sequence[Look]) -> None:
    """Memory and time of a question over the questions asked: two panels, each from zero."""
    panels = {
        "resident memory, MB": [look.resident for look in looks],
        "processor time of a question, p50, ms": [statistics.median(look.processor) for look in looks],
    }
    drawn = []
    for place, (title, values) in enumerate(panels.items()):
        left, top = 40 + 380 * place, max(values) * 1.15
        points = " ".join(
            f"{left + 320 * look.asked / QUESTIONS:.0f},{200 - 160 * value / top:.1f}"
            for look, value in zip(looks, values, strict=True)
        )
        drawn.append(
            f'<text x="{left}" y="20">{title}</text><polyline points="{points}" fill="none" stroke="#2b6cb0"/>'
            f'<path d="M{left} 36V200H{left + 320}" fill="none" stroke="#999"/>'
            f'<text x="{left}" y="218">0</text><text x="{left + 320}" y="218" text-anchor="end">{QUESTIONS} questions'
            f'</text><text x="{left + 324}" y="{200 - 160 * values[-1] / top:.0f}">{values[-1]:.0f}</text>\n'
        )
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 230" font-family="sans-serif" font-size="12">'
    PLOT.write_text(f'{head}<rect width="780" height="230" fill="#fff"/>\n{"".join(drawn)}</svg>\n', encoding="utf-8")
