"""A passage cut into what can be quoted of it: sentences, items, rows, headings, lines of code and of notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from askwiki.markdown.fences import FenceReader

_SENTENCE = re.compile(r"(?<=[.!?…])\s+(?=[^\s\da-zа-яё])")
_KINDS = (
    ("row", re.compile(r"^\s*\|")),
    ("heading", re.compile(r"^#{1,6}\s+")),
    ("item", re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")),
    ("note", re.compile(r"^\s*>")),
)
_DEFINITION = re.compile(r"^ {0,3}\[[^\]]+\]:\s+\S+$")  # [name]: address, where the links of that name lead
_CODE_DEPTH = 4  # blanks before a line that may be code: its lines are not one sentence
_HARD_END = ("  ", "\\")  # of a line whose end is to be seen


@dataclass(frozen=True, slots=True)
class QuoteUnit:
    """A sentence, a list item, a table row, a heading, a line of code or of a note."""

    text: str
    kind: str  # text | item | row | note | code | heading
    start: int  # where it begins in the passage
    line: bool = True  # it begins a line: only the later sentences of a paragraph do not
    apart: bool = False  # an empty line stands before it

    @property
    def depth(self) -> int:
        """How far in the line it begins; of a heading, its level."""
        return len(self.text) - len(self.text.lstrip("#" if self.kind == "heading" else " \t"))


def units_of(text: str) -> list[QuoteUnit]:
    """All units in order; empty lines and the addresses of named links are none."""
    return [unit for block in _blocks(text) for unit in (_sentences(block) if block.kind == "text" else [block])]


def _blocks(text: str) -> list[QuoteUnit]:
    """Paragraphs and items, each with the lines it goes on in; every other line by itself."""
    blocks: list[QuoteUnit] = []
    fences, start, apart, goes_on = FenceReader(), 0, False, False
    for whole in text.splitlines(keepends=True):
        line = whole.rstrip("\r\n")
        code = fences.take(line)
        kind = "code" if code else next((kind for kind, pattern in _KINDS if pattern.match(line)), "text")
        if kind == "text" and (not line.strip() or _DEFINITION.match(line)):
            apart, goes_on = True, False
        elif kind == "text" and goes_on:
            blocks[-1] = replace(blocks[-1], text=f"{blocks[-1].text} {line.lstrip()}")
            goes_on = not line.endswith(_HARD_END)
        else:
            blocks.append(QuoteUnit(line, kind, start, apart=apart))
            apart = False
            is_code = kind == "text" and blocks[-1].depth >= _CODE_DEPTH
            goes_on = kind in ("text", "item") and not is_code and not line.endswith(_HARD_END)
        start += len(whole)
    return blocks


def _sentences(block: QuoteUnit) -> Iterator[QuoteUnit]:
    begins = [0, *(match.end() for match in _SENTENCE.finditer(block.text))]
    for begin, end in pairwise([*begins, len(block.text)]):
        first = begin == 0
        text = block.text[begin:end] if end == len(block.text) else block.text[begin:end].rstrip()
        yield QuoteUnit(text, "text", block.start + begin, first, block.apart and first)
