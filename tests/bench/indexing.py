"""What the page's way costs beside the models: pages a second by stage, and the share of a real sync that is ours.

The stages run over the sample wiki's HTML export again and again; every round is a new source, so that all is read
and converted anew. The share is taken around the encoder's calls in a sync with the real embedded model. Nothing is
converted in parallel: 390 pages of a real export took 2.0 s of one core, 5 ms a page, where the embedded model takes a
hundred times as long; two processes could take off half of that.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askwiki.configuration import Configuration, load_configuration
from askwiki.data import PUBLIC, Chunk, Page
from askwiki.encoders.port import Embedder
from askwiki.store.port import PageState, Point
from indexer.confluence.parse.html_page import read_html_page
from indexer.opening import open_source
from indexer.sources import PageFailure
from indexer.sync.prepare import prepare_page
from indexer.sync.sync import Rules, sync
from indexer.sync.tools import Tools, open_tools
from indexer.sync.vectors import make_points
from tests.bench.calibration import slowness

ROOT = Path(__file__).resolve().parents[2]
EXPORT = ROOT / "tests" / "wiki" / "html"
ROUNDS = 4  # of the sample's pages
PAGES = 24  # of the sync with the model
GOAL_SHARE = 0.10


class Timed:
    """An embedder whose seconds are counted; without a model every vector is the same."""

    def __init__(self, embedder: Embedder, *, model: bool) -> None:
        self._embedder, self._model = embedder, model
        self.size, self.limit = embedder.size, embedder.limit
        self.seconds = 0.0

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not self._model:
            return np.full((len(texts), self.size), self.size**-0.5, dtype=np.float32)
        begun = time.monotonic()
        vectors = self._embedder.documents(texts)
        self.seconds += time.monotonic() - begun
        return vectors

    def query(self, text: str) -> NDArray[np.float32]:
        return self._embedder.query(text)

    def count(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.count(texts)

    def identity(self) -> Mapping[str, object]:
        return self._embedder.identity()


def rows() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        stages = _stages(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        share = _share(Path(folder))
    return [*stages, share]


# --- by stage, without models ---------------------------------------------------------------------


def _stages(folder: Path) -> Iterator[dict[str, Any]]:
    configuration = _configured(folder)
    with open_tools(configuration) as (real, _):
        tools = replace(real, embedder=Timed(real.embedder, model=False))
        _round(configuration, tools, 0)  # what is loaded and remembered on the first pages
        rounds = [_round(configuration, tools, number) for number in range(1, ROUNDS + 1)]
        begun = time.process_time()
        tools.writer.commit()
        publishing = time.process_time() - begun
    slow, pages = slowness(), rounds[0][1]
    seconds = {name: min(each[0][name] for each in rounds) / slow for name in rounds[0][0]}
    seconds["write"] += publishing / slow / (ROUNDS + 1)
    total = sum(seconds.values())
    for name, spent in seconds.items():
        why = f"{1e3 * spent / pages:.1f} ms a page, {spent / total:.0%} of all stages; no goal"
        yield _row(f"indexing without models: {name}", pages / spent, "pages/s", None, "processor time, one core", why)
    why = f"{1e3 * total / pages:.1f} ms a page; no goal"
    yield _row("indexing without models: all stages", pages / total, "pages/s", None, "processor time, one core", why)


def _round(configuration: Configuration, tools: Tools, number: int) -> tuple[dict[str, float], int]:
    """(processor seconds by stage, pages) of one pass over the export; its pages get ids of their own."""
    seconds: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        begun = time.process_time()
        done = work()
        seconds[name] = time.process_time() - begun
        return done

    files = sorted(file for file in EXPORT.glob("*.html") if file.name != "index.html")
    timed("read", lambda: [read_html_page(file.read_bytes(), file.name) for file in files])
    found = timed("convert", lambda: list(open_source(f"html:{EXPORT}", configuration).pages()))
    seconds["convert"] -= seconds["read"]  # a source reads each page once, as above
    pages = [replace(page, id=f"{number}-{page.id}") for page in found if not isinstance(page, PageFailure)]
    cut = timed("cut", lambda: [_cut(page, tools) for page in pages])
    points = timed("pieces and words", lambda: [make_points(chunks, using=tools) for chunks in cut])
    timed("write", lambda: [_write(tools, page, *made) for page, *made in zip(pages, cut, points, strict=True)])
    return seconds, len(pages)


def _cut(page: Page, tools: Tools) -> list[Chunk]:
    return prepare_page(page, PUBLIC, settings=tools.settings, embedder=tools.embedder, desk=tools.desk)[1]


def _write(tools: Tools, page: Page, chunks: Sequence[Chunk], points: Sequence[Point]) -> None:
    state = PageState(page.id, "hash", {chunk.id: chunk.hash for chunk in chunks})
    tools.writer.replace_page("html:bench", state, points, ())


# --- with the model -------------------------------------------------------------------------------


def _share(folder: Path) -> dict[str, Any]:
    configuration = _configured(folder)
    with open_tools(configuration) as (real, _):
        embedder = Timed(real.embedder, model=True)
        tools = replace(real, embedder=embedder)
        begun = time.monotonic()
        ledger = sync(open_source(f"html:{EXPORT}", configuration), Rules(limit=PAGES), using=tools)
        tools.writer.commit()
        total = time.monotonic() - begun
    share = 1 - embedder.seconds / total
    why = f"{total - embedder.seconds:.2f} of {total:.1f} s, {ledger.indexed} pages, {ledger.chunks} chunks"
    return _row("sync: share of the time that is not the model's", share, "share", GOAL_SHARE, "embedded e5", why)


def _configured(folder: Path) -> Configuration:
    places = {"ASKWIKI_STORE_PATH": str(folder / "store"), "ASKWIKI_SYNC__CACHE": str(folder / "cache")}
    return load_configuration({**places, "ASKWIKI_ACCESS__UNKNOWN_HTML": "open"}, ROOT / "config")


def _row(name: str, value: float, unit: str, goal: float | None, against: str, why: str) -> dict[str, Any]:
    met = None if goal is None else value <= goal
    return {
        "name": name,
        "value": round(value, 3),
        "unit": unit,
        "goal": goal,
        "met": met,
        "against": against,
        "why": why,
    }
