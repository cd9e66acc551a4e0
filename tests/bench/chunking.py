"""How fast pages are cut by rule, and how well parallel model calls use the server's places."""

from __future__ import annotations

import cProfile
import multiprocessing
import pstats
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from askwiki.data import Page
from askwiki.encoders.factory import make_embedder
from askwiki.language.glossary import Glossary
from askwiki.llm.factory import make_llm
from askwiki.prompts import load_prompts
from askwiki.settings import ChunkingSettings, ContextSettings, EmbeddingSettings, LlmSettings
from indexer.chunking.chunks import chunk_page
from indexer.chunking.token_limit import Count
from indexer.enrich.asking import Counters, Desk
from indexer.enrich.cache import Cache
from indexer.enrich.context import describe
from indexer.opening import open_source
from indexer.sources import PageFailure
from tests.support.scripted import Asking, Saying, ScriptedServer

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 9  # best of
REPEATS = 8  # of the sample wiki's pages, so that a round takes long enough to be measured
CALL_SECONDS = 0.2
PARALLEL = 32
CHUNKS = 1000
SECTIONS = 10  # of a page
LISTED = 9  # modules of the profile
GOAL_RATIO = 1.0
GOAL_IDEAL = 1.3
CHARACTERS_PER_TOKEN = 3  # the rule path is measured without a tokenizer
LIMIT = 504


def rows() -> list[dict[str, Any]]:
    return [*_speed(), *_parallel()]


def _speed() -> Iterator[dict[str, Any]]:
    """Against a splitter that counts letters, and one that keeps to the built-in encoder's tokens as we do."""
    pages = _pages() * REPEATS
    name = "cutting by rule: processor time of LangChain's splitters / ours"
    yield _ratio(name, pages, _estimate, chunk_size=1000, chunk_overlap=200)
    tokens = make_embedder(EmbeddingSettings()).count
    size = ChunkingSettings().tokens
    name = "cutting by rule, both by the built-in encoder's tokens: processor time of LangChain's splitters / ours"
    yield _ratio(
        name, pages, tokens, chunk_size=size, chunk_overlap=size // 5, length_function=lambda text: tokens([text])[0]
    )


def _ratio(name: str, pages: Sequence[Page], count: Count, **theirs: Any) -> dict[str, Any]:
    row = {"name": name, "unit": "x", "goal": GOAL_RATIO, "against": "langchain-text-splitters"}
    try:
        yardstick = _langchain(**theirs)
    except ImportError:
        return {**row, "value": None, "met": None, "why": "langchain-text-splitters is not installed: pip install it."}
    ours = partial(_ours, count=count)
    yardstick_seconds, seconds = _best(yardstick, ours, pages)
    ratio = yardstick_seconds / seconds
    why = "" if ratio >= GOAL_RATIO else f"{seconds / len(pages) * 1e3:.2f} ms a page; profiled: {_shares(ours, pages)}"
    return {**row, "value": ratio, "met": ratio >= GOAL_RATIO, "why": why}


def _shares(cut: Callable[[Page], None], pages: Sequence[Page]) -> str:
    """What the time is spent on: a module's own time, that of built-in functions counted to their callers."""
    rounds = [_spent(cut, pages) for _ in range(ROUNDS)]
    spent = Counter({name: min(spent[name] for spent in rounds) for name in rounds[0]})
    whole = sum(spent.values())
    return ", ".join(f"{name} {time / whole:.0%}" for name, time in spent.most_common(LISTED))


def _spent(cut: Callable[[Page], None], pages: Sequence[Page]) -> Counter[str]:
    profile = cProfile.Profile()
    profile.runcall(lambda: [cut(page) for page in pages])
    spent: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, callers) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        for (caller, _, _), (_, _, by_caller, _) in callers.items():
            spent[Path(caller if file == "~" else file).stem] += by_caller
        spent[Path(file).stem] += 0.0 if callers else own
    return spent


def _ours(page: Page, count: Count) -> None:
    chunk_page(page, count=count, limit=LIMIT, settings=ChunkingSettings())


def _langchain(**by: Any) -> Callable[[Page], None]:
    """MarkdownHeaderTextSplitter, then RecursiveCharacterTextSplitter."""
    from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

    headers = [("#" * level, f"h{level}") for level in range(1, 7)]
    by_header = MarkdownHeaderTextSplitter(headers, strip_headers=False)
    by_size = RecursiveCharacterTextSplitter(**by)

    def split(page: Page) -> None:
        by_size.split_documents(by_header.split_text(page.markdown))

    return split


def _best(one: Callable[[Page], None], other: Callable[[Page], None], pages: Sequence[Page]) -> tuple[float, float]:
    """Least processor time of both, in turns: what disturbs the machine disturbs both."""

    def once(split: Callable[[Page], None]) -> float:
        started = time.process_time()
        for page in pages:
            split(page)
        return time.process_time() - started

    times = [(once(one), once(other)) for _ in range(ROUNDS)]
    return min(time[0] for time in times), min(time[1] for time in times)


def _parallel() -> list[dict[str, Any]]:
    """Contexts of 1,000 chunks from a server that takes 200 ms a call, 32 at once, then a second run."""

    pages = [_made(number) for number in range(CHUNKS // SECTIONS)]
    cache = Cache(None)

    def run() -> tuple[float, int]:
        counters = Counters()
        with _server() as url:
            llm = make_llm(LlmSettings(url=url, model="scripted", parallel=PARALLEL))
            desk = Desk(llm, load_prompts(ROOT / "config" / "prompts"), Glossary(), cache, counters)

            def one(page: Page) -> None:
                chunks = chunk_page(page, count=_estimate, limit=LIMIT, settings=ChunkingSettings())
                describe(page, chunks, desk=desk, settings=ContextSettings(), count=_estimate, limit=LIMIT)

            started = time.monotonic()
            with ThreadPoolExecutor(PARALLEL) as threads:
                list(threads.map(one, pages))
            return time.monotonic() - started, counters.counts().get("context.calls", 0)

    seconds, calls = run()
    ideal = calls / PARALLEL * CALL_SECONDS
    _, again = run()
    cache.close()
    return [
        {
            "name": f"contexts of {calls} chunks, {PARALLEL} calls at once of 200 ms: time / ideal time",
            "value": seconds / ideal,
            "unit": "x",
            "goal": GOAL_IDEAL,
            "met": seconds / ideal <= GOAL_IDEAL,
            "against": "the server's own time",
            "why": "" if seconds / ideal <= GOAL_IDEAL else "client, test server and other work share the two cores",
        },
        {
            "name": "contexts: model calls of a second run",
            "value": again,
            "unit": "calls",
            "goal": 0,
            "met": again == 0,
            "against": "",
            "why": "",
        },
    ]


def _says(asking: Asking) -> Saying:
    return Saying("О чём этот фрагмент.", delay=CALL_SECONDS)


def _serve(pipe: Connection) -> None:
    with ScriptedServer(_says) as server:
        pipe.send(server.url)
        pipe.recv()  # until the bench is done


@contextmanager
def _server() -> Iterator[str]:
    """The scripted server in a process of its own, as a real one is."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,))
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send("done")
        process.join()


def _made(number: int) -> Page:
    """A page of ``SECTIONS`` chunks."""
    sections = (f"# Раздел {n}\n\nТекст раздела {n} на странице {number}.\n\n" for n in range(SECTIONS))
    return Page(str(number), "IT", f"Страница {number}", (), "", "".join(sections))


def _pages() -> list[Page]:
    from askwiki.configuration import load_configuration

    source = open_source(f"html:{ROOT / 'tests' / 'wiki' / 'html'}", load_configuration({}, ROOT / "config"))
    return [page for page in source.pages() if not isinstance(page, PageFailure)]


def _estimate(texts: Sequence[str]) -> list[int]:
    return [len(text) // CHARACTERS_PER_TOKEN + 3 for text in texts]
