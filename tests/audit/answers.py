"""The quotations inside answers: a bold label with its number, then a block quotation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from askwiki.data import Page
from tests.audit.quoting import Quotation

_LABEL = re.compile(r"^\*\*(?P<label>.+)\*\* \[\d+\]\n\n(?P<quote>(?:>[^\n]*(?:\n|\Z))+)", re.MULTILINE)
_QUOTED = re.compile(r"^> ?", re.MULTILINE)
_ESCAPED = re.compile(r"\\(?=[^\w\s])")


def of_answers(file: str, pages: Sequence[Page]) -> Iterator[Quotation]:
    """Every quotation of every answer of the file whose page can be told by its title and its address."""
    by_title: dict[str, list[Page]] = {}
    for page in pages:
        by_title.setdefault(page.title, []).append(page)
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        outcome = json.loads(line)
        for label, text in quoted_in(outcome["answer"]):
            title = label.split(" › ")[0]
            known = by_title.get(title, [])
            if page := next((each for each in known if any(text_of(each, line) for line in text.splitlines())), None):
                yield Quotation(page, outcome["question"], label, text)


def text_of(page: Page, line: str) -> bool:
    """Whether a line that tells something stands in the page."""
    return len(line) > 20 and line[:20] in page.markdown


def quoted_in(answer: str) -> Iterator[tuple[str, str]]:
    """(label, quotation) in order."""
    for match in _LABEL.finditer(answer):
        yield _ESCAPED.sub("", match["label"]), _QUOTED.sub("", match["quote"]).strip()
