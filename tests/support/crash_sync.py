"""A sync in a process of its own, to be killed: ``python -m tests.support.crash_sync FOLDER before|after [STORE]``."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from askwiki.data import Clause, Page
from askwiki.settings import StoreSettings
from tests.support.sources import Indexer, make_page
from tests.support.stores import embedded, on_server

PAGES = 120


def before() -> list[Page]:
    return [make_page(str(number), _text(number, "было")) for number in range(PAGES)]


def after() -> list[Page]:
    """Of every six pages one is edited, one moved, one restricted, one gone, one relabelled, one new."""
    return [page for number, page in enumerate(before()) for page in _changed(number, page)]


def _changed(number: int, page: Page) -> list[Page]:
    kinds = {
        0: [replace(page, markdown=_text(number, "стало"))],
        1: [replace(page, path=("Home", "Elsewhere"))],
        2: [replace(page, readers=(Clause(groups=(f"team {number % 4}",)),))],
        3: list[Page](),
        4: [replace(page, labels=("other",))],
        5: [page, make_page(f"new {number}", _text(number, "новое"))],
    }
    return kinds[number % 6]


def _text(number: int, word: str) -> str:
    sections = (f"## Раздел {part}\n\n{word} {number} {part} " + "слово " * 40 for part in range(3))
    return f"# Страница {number}\n\n" + "\n\n".join(sections) + "\n"


def run(folder: Path, pages: list[Page], settings: StoreSettings | None = None) -> None:
    """Into the embedded store of ``folder``, or into a server's collection; ``folder`` then holds only the cache."""
    Indexer(folder, on_server(settings) if settings else embedded(folder / "store")).sync(*pages)


if __name__ == "__main__":
    server = StoreSettings(**json.loads(sys.argv[3])) if len(sys.argv) > 3 else None
    run(Path(sys.argv[1]), {"before": before, "after": after}[sys.argv[2]](), server)
