"""Headings that a macro numbers: the text of a page and of others refers to these numbers."""

from __future__ import annotations

from indexer.confluence.macros.bodies import body
from indexer.confluence.render.macro import Macro
from indexer.confluence.render.markdown import Renderer


def numbered_headings(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """``1.2 Title`` for each heading inside; other formats than decimal ones are the wiki's own affair."""
    if macro.get("number-format", "numberformat").lower() not in ("", "decimal"):
        return body(renderer, macro, tags)
    skipped = macro.get("skip-headings", "skipheadings").lower()
    start = macro.get("start-numbering-with", "startnumberingwith")
    outer = renderer.numbers
    renderer.numbers = Numbers(int(start) if start.isdecimal() else 1, skipped)
    try:
        return body(renderer, macro, tags)
    finally:
        renderer.numbers = outer


class Numbers:
    """The number of each next heading by its level."""

    def __init__(self, first: int, skipped: str) -> None:
        self._first = first
        self._skipped = skipped
        self._open: list[tuple[int, int]] = []  # (level, number) from the highest heading to the last one

    def next(self, level: int) -> str:
        if f"h{level}" in self._skipped:
            return ""
        last = 0 if self._open else self._first - 1
        while self._open and self._open[-1][0] >= level:
            last = self._open.pop()[1]
        self._open.append((level, last + 1))
        return ".".join(str(number) for _, number in self._open) + " "
