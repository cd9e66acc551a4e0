"""What a team would use instead, over the same pages, questions and embeddings, in one run (``make bench-peers``).

Every system runs in a process of its own. Each peer is asked twice: over our chunks (path, title and headings in
front, as we embed them), and over the chunks of its own cut. The vectors are made beforehand by one and the same
encoder and given to all, so that times and memory are those of search and index alone. ``BENCH_WIKI`` (KIND:PATH) and
``BENCH_QUESTIONS`` name another wiki than the sample, ``BENCH_CACHE`` a folder that keeps the vectors between runs,
``BENCH_VENVS`` another place of the peers' environments than the checkout; ``BENCH_OWN_CUTS=no`` leaves the peers' own
cuts out, whose embedding takes most of the time.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askwiki.configuration import Configuration, load_configuration
from askwiki.data import PUBLIC, Chunk, Page
from askwiki.encoders.port import Embedder
from askwiki.evaluate.matching import gold_of
from askwiki.evaluate.metrics import recall, snippet_ranks
from askwiki.evaluate.outcome import Hit
from askwiki.evaluate.questions import GoldQuestion, load_questions
from askwiki.evaluate.statistics import paired_difference
from askwiki.stages.condense import by_rule
from askwiki.stages.question_vector import question_vector
from askwiki.store.port import PageState
from indexer.chunking.chunks import whole_text
from indexer.enrich.cache import Cache, content_key
from indexer.opening import open_source
from indexer.sources import PageFailure
from indexer.sync.prepare import prepare_page
from indexer.sync.tools import Tools, open_tools
from indexer.sync.vectors import make_points

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
WIKI = f"html:{ROOT / 'tests' / 'wiki' / 'html'}"
QUESTIONS = ROOT / "tests" / "golden" / "questions.jsonl"
PEERS = {  # name -> (script, environment)
    "LangChain EnsembleRetriever (BM25, FAISS)": ("langchain_ensemble.py", ".venv-peers"),
    "Haystack (BM25, embeddings, joiner)": ("haystack_joiner.py", ".venv-peers"),
    "Open WebUI hybrid search": ("openwebui_hybrid.py", ".venv-webui"),
}
ALIKE, OWN = "our chunks", "its own cut"
DEPTHS = (1, 10)
VECTOR = "bench vector"  # kind of the cache's entries
TOGETHER = 32  # texts embedded at once
REASONS = {  # of a missed goal, by profile, with the next step
    "search stage": "ours are three lists of 200 under the reader's rights; the engine has 6 % of it, hits made to "
    "records 35 %, the words' vote 19 %, fusing 15 %, texts read again under the rights 12 %; next: fuse arrays",
    "index": "ours is on disk with a log, payload indexes and letter groups, theirs is in memory, made anew at each "
    "start; a third is the engine, a third handing it lists, a third weights; next: several pages a call",
    "memory": "the store's engine and its private copy of the index; not seen so far",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """What one system made of the questions. ``recalls``: depth -> one figure a question."""

    recalls: Mapping[int, Sequence[float]]
    search: float  # processor seconds of a question, median
    clock: float
    index: float  # processor seconds
    resident: int  # bytes
    chunks: int


def rows() -> list[dict[str, Any]]:
    cuts = [ALIKE] if os.environ.get("BENCH_OWN_CUTS") == "no" else [ALIKE, OWN]
    file = Path(os.environ.get("BENCH_QUESTIONS") or QUESTIONS)
    questions = [each for each in load_questions(file) if each.gold]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {
            "ASKWIKI_ACCESS__UNKNOWN_HTML": "open",
            "ASKWIKI_STORE_PATH": str(folder / "store"),
            "ASKWIKI_SYNC__CACHE": os.environ.get("BENCH_CACHE") or str(folder / "cache"),
        }
        configuration = load_configuration(environment, ROOT / "config")
        bench = Bench(folder, configuration, questions)
        ours = bench.ours()
        found = [*_own_rows(ours)]
        for peer, (script, venv) in PEERS.items():
            python = Path(os.environ.get("BENCH_VENVS") or ROOT, venv, "bin", "python")
            if not python.exists():
                found.append(_row(f"against {peer}", None, "", None, "", f"{venv} is not there: make bench-peers"))
                continue
            try:
                for cut in cuts:
                    found += _compared(peer, cut, ours, bench.peer(python, script, own=cut == OWN))
            except subprocess.CalledProcessError as error:
                said = f"{' '.join(error.cmd[1:3])} ended with {error.returncode}; its words are above"
                found.append(_row(f"against {peer}", None, "", None, "", said))
    return found


class Bench:
    """The pages, the questions and what has been embedded of them, in one folder."""

    def __init__(self, folder: Path, configuration: Configuration, questions: Sequence[GoldQuestion]) -> None:
        self._folder, self._configuration, self._questions = folder, configuration, questions
        wiki = open_source(os.environ.get("BENCH_WIKI") or WIKI, configuration)
        self._pages: list[Page] = [page for page in wiki.pages() if not isinstance(page, PageFailure)]
        self._cache = Cache(Path(configuration.settings.sync.cache))
        _write(folder / "pages.json", [{"title": page.title, "text": page.markdown} for page in self._pages])

    def ours(self) -> Seen:
        """Through the product: pages are cut, embedded and written, then the search stage is asked."""
        with open_tools(self._configuration) as (tools, _):
            begun = time.monotonic()
            cut = [_cut(page, tools) for page in self._pages]
            for chunks in cut:
                make_points(chunks, using=tools)  # afterwards the vectors are in the cache
            print(f"   cut and embedded in {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
            index = _indexed(cut, tools)
            embedder = tools.embedder
            self._chunks = [chunk for chunks in cut for chunk in chunks]
            texts = [whole_text(chunk) for chunk in self._chunks]
            self._give("ours", texts, embedder)
            self._ask(embedder)
            self._embedder = embedder
        said = _last_line([sys.executable, "-m", "tests.bench.peers.ours", str(self._folder)], ROOT)
        by_id = {chunk.id: chunk for chunk in self._chunks}
        found = [[by_id[name] for name in names] for names in said["found"]]
        return self._seen({**said, "index": index}, found, len(self._chunks))

    def peer(self, python: Path, script: str, *, own: bool) -> Seen:
        name, chunks, cutting = "ours", self._chunks, 0.0
        if own:
            name = script.removesuffix(".py")
            _called([str(python), script, "cut", str(self._folder), name], HERE)
            cut = json.loads((self._folder / f"{name}.own.json").read_text(encoding="utf-8"))
            chunks = [_as_chunk(self._pages[each["page"]], each["text"]) for each in cut["chunks"]]
            cutting = cut["seconds"]
            self._give(name, [chunk.text for chunk in chunks], self._embedder)
        said = _last_line([str(python), script, "run", str(self._folder), name], HERE)
        found = [[chunks[number] for number in numbers] for numbers in said["found"]]
        return self._seen({**said, "index": said["index"] + cutting}, found, len(chunks))

    def _ask(self, embedder: Embedder) -> None:
        """The same stand-alone question for all; our vector is the one that our search stage is given."""
        settings = self._configuration.settings
        asked = [by_rule(question.turns, settings.condense, settings.language) for question in self._questions]
        own = [question_vector(each, embedder) for each in asked]
        _write(self._folder / "questions.json", [each.text for each in asked])
        _write(self._folder / "ours-questions.json", [asdict(replace(each, history=())) for each in asked])
        np.save(self._folder / "questions.npy", np.stack([embedder.query(each.text) for each in asked]))
        np.save(self._folder / "ours-questions.npy", np.stack(own))

    def _give(self, name: str, texts: Sequence[str], embedder: Embedder) -> None:
        _write(self._folder / f"{name}.chunks.json", list(texts))
        np.save(self._folder / f"{name}.npy", _embedded(texts, embedder, self._cache))

    def _seen(self, said: Mapping[str, Any], found: Sequence[Sequence[Chunk]], chunks: int) -> Seen:
        recalls: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
        for question, ranked in zip(self._questions, found, strict=True):
            hits = [Hit(chunk.id, chunk.page_id, 0.0, *gold_of(chunk, question.gold)) for chunk in ranked]
            ranks = snippet_ranks(hits, len(question.gold))
            for depth in DEPTHS:
                recalls[depth].append(recall(ranks, depth))
        middle = {name: statistics.median(said[name]) for name in ("search", "clock")}
        return Seen(recalls, middle["search"], middle["clock"], said["index"], said["resident"], chunks)


def _cut(page: Page, tools: Tools) -> list[Chunk]:
    return prepare_page(page, PUBLIC, settings=tools.settings, embedder=tools.embedder, desk=tools.desk)[1]


def _indexed(cut: Sequence[Sequence[Chunk]], tools: Tools) -> float:
    """Processor seconds from chunks whose vectors are known to an index that readers see."""
    begun = time.process_time()
    for chunks in cut:
        if chunks:
            state = PageState(chunks[0].page_id, "hash", {chunk.id: chunk.hash for chunk in chunks})
            tools.writer.replace_page("bench", state, make_points(chunks, using=tools), ())
    tools.writer.commit()
    return time.process_time() - begun


def _as_chunk(page: Page, text: str) -> Chunk:
    """What the measure needs to know of a chunk of another cut."""
    return Chunk(
        id="", page_id=page.id, space=page.space, title=page.title, path=page.path, headings=(), url=page.url,
        kind="section", screen=False, ordinal=0, part=1, parts=1, text=text,
    )  # fmt: skip


def _embedded(texts: Sequence[str], embedder: Embedder, cache: Cache) -> NDArray[np.float32]:
    """Kept in the cache as they come: a run that was stopped goes on where it was."""
    model = json.dumps(dict(embedder.identity()), sort_keys=True)
    keys = [content_key(model, text) for text in texts]
    known = cache.get_many(VECTOR, sorted(set(keys)))
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    for start in range(0, len(missing), TOGETHER):
        some = dict(list(missing.items())[start : start + TOGETHER])
        made = embedder.documents(list(some.values()))
        fresh = {key: vector.astype("<f4").tobytes() for key, vector in zip(some, made, strict=True)}
        cache.put_many(VECTOR, fresh)
        known |= fresh
    return np.stack([np.frombuffer(known[key], "<f4") for key in keys])


def _called(command: Sequence[str], folder: Path) -> str:
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout


def _last_line(command: Sequence[str], folder: Path) -> dict[str, Any]:
    return json.loads(_called(command, folder).strip().splitlines()[-1])


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


# --- telling --------------------------------------------------------------------------------------


def _own_rows(ours: Seen) -> Iterator[dict[str, Any]]:
    said = f"{ours.chunks} chunks; no goal: compared below"
    for depth in DEPTHS:
        mean = statistics.fmean(ours.recalls[depth])
        yield _row(f"askwiki: recall@{depth}", mean, "", None, f"{len(ours.recalls[depth])} questions", said)
    clock = f"{1e3 * ours.clock:.1f} ms by the clock; no goal: compared below"
    yield _row(
        "askwiki: search stage", 1e3 * ours.search, "ms", None, "processor time, median, without embedding", clock
    )
    yield _row(
        "askwiki: index", ours.index, "s", None, "processor time, chunks and vectors given, until published", said
    )
    yield _row("askwiki: memory", ours.resident >> 20, "MB", None, "the process that asks, no mapped files", said)


def _compared(peer: str, cut: str, ours: Seen, theirs: Seen) -> Iterator[dict[str, Any]]:
    for depth in DEPTHS:
        gain = paired_difference(theirs.recalls[depth], ours.recalls[depth])
        means = [statistics.fmean(each.recalls[depth]) for each in (ours, theirs)]
        interval = f"95 % from {gain.low:+.3f} to {gain.high:+.3f}"
        said = f"{means[0]:.3f} against {means[1]:.3f}, {interval}, {theirs.chunks} chunks"
        row = _row(f"recall@{depth}: askwiki less {peer}, {cut}", gain.value, "", 0.0, peer, said)
        yield {**row, "met": gain.value > 0}
    for what, mine, other, unit in (
        ("search stage", 1e3 * ours.search, 1e3 * theirs.search, "ms of processor time"),
        ("index", ours.index, theirs.index, "s of processor time"),
        ("memory", ours.resident / 1e6, theirs.resident / 1e6, "MB"),
    ):
        said = f"{mine:.3g} against {other:.3g} {unit}"
        said += f"; {REASONS[what]}" if mine > other else ""
        yield _row(f"{what}: askwiki / {peer}, {cut}", mine / other, "x", 1.0, peer, said)


def _row(name: str, value: float | None, unit: str, goal: float | None, against: str, why: str) -> dict[str, Any]:
    met = None if goal is None or value is None else value <= goal
    rounded = value if value is None else round(value, 3)
    return {"name": name, "value": rounded, "unit": unit, "goal": goal, "met": met, "against": against, "why": why}
