"""The smallest parts of a page that stay whole, each with the price of cutting before it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from askwiki.markdown.blocks import Block
from askwiki.markdown.fences import FenceReader
from indexer.chunking.faq import is_only_question, question_of
from indexer.chunking.sentences import language_of, sentence_ends, word_ends

# Prices of a border, 0 (made for cutting) to 100 (never, if there is any other). Only their order
# matters much: blocks before items and sentences, those before rows, rows before code, words last.
BEFORE_HEADING = 0
BETWEEN_BLOCKS = 8
BETWEEN_SENTENCES = 35
BETWEEN_ITEMS = 25
BETWEEN_SUBITEMS = 45
BETWEEN_ROWS = 30
ROW_OF_MERGED_CELL = 55  # its first cell is empty: the value stands in a row above
BLANK_LINE_IN_CODE = 40
BETWEEN_LINES = 60
EXPLANATION = 45  # between a table, code or diagram and the short paragraph beside it
INTRODUCTION = 85  # after "as follows:"
AFTER_HEADING = 95
IN_A_SENTENCE = 98

EXPLANATION_CHARACTERS = 300  # a longer paragraph is a thought of its own

_ROW_START = re.compile(r"[ \t]*+\|?[ \t]*+(.*?)(?<!\\)\|")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]")
_ANY_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FIGURES = ("table", "fence", "html", "code")


class PageUnit(NamedTuple):
    """``text[start:end]`` of the page, never cut unless it is longer than a chunk may be."""

    start: int
    end: int
    price: int  # of a border before it
    prose: bool = False  # a part after it may begin with its last sentence
    lead: tuple[tuple[int, int], ...] = ()  # earlier text to repeat when a part begins here


def find_units(text: str, blocks: list[Block], longest: int) -> list[PageUnit]:
    """Blocks as they are, or their sentences, items, rows, lines where a block has more than ``longest`` characters."""
    units: list[PageUnit] = []
    previous: Block | None = None
    for block in blocks:
        price = _border_price(text, previous, block)
        if block.end - block.start <= longest:
            prose = block.kind == "paragraph" and not _heads(text, block, question_of)  # it repeats nothing before it
            units.append(PageUnit(block.start, block.end, price, prose))
        else:
            inner = list(_split(text, block, longest))
            units.append(inner[0]._replace(price=price))
            units.extend(inner[1:])
        previous = block
    return units


def number_units(text: str, blocks: list[Block]) -> list[PageUnit]:
    """What a model chooses between: sentences and items; tables, code and diagrams whole."""
    units: list[PageUnit] = []
    previous: Block | None = None
    for block in blocks:
        price = _border_price(text, previous, block)
        split = _NUMBERED.get(block.kind, _whole)
        inner = list(split(text, block))
        units.append(inner[0]._replace(price=price))
        units.extend(inner[1:])
        previous = block
    return units


def _border_price(text: str, before: Block | None, after: Block) -> int:
    if after.kind == "heading" or before is None:
        return AFTER_HEADING if before and before.kind == "heading" else BEFORE_HEADING
    if before.kind == "heading" or _heads(text, before, is_only_question):
        return AFTER_HEADING
    if _heads(text, after, question_of):
        return BEFORE_HEADING
    if before.kind == "paragraph" and text[before.start : before.end].rstrip().rstrip("*_ ").endswith(":"):
        return INTRODUCTION
    beside = {before.kind: before, after.kind: after}.get("paragraph")
    figure = before.kind in _FIGURES or after.kind in _FIGURES
    if figure and beside and beside.end - beside.start <= EXPLANATION_CHARACTERS:
        return EXPLANATION
    return BETWEEN_BLOCKS


def _heads(text: str, block: Block, said: Callable[[str], object]) -> bool:
    """Whether a block is a question of a FAQ, bold in the place of a heading."""
    return block.kind == "paragraph" and bool(said(text[block.start : block.end]))


def _split(text: str, block: Block, longest: int) -> Iterator[PageUnit]:
    for unit in _SPLIT.get(block.kind, _sentences)(text, block):
        if unit.end - unit.start <= longest:
            yield unit
        else:
            yield from split_unit(text, unit, longest)


def split_unit(text: str, unit: PageUnit, longest: int) -> Iterator[PageUnit]:
    """The last resort for a sentence, a row or a line that is too long even alone: words, then letters."""
    start = unit.start
    for end in word_ends(text[unit.start : unit.end], longest):
        price = unit.price if start == unit.start else IN_A_SENTENCE
        yield unit._replace(start=start, end=unit.start + end, price=price)
        start = unit.start + end


def _sentences(text: str, block: Block) -> Iterator[PageUnit]:
    """Paragraphs and quotes (whose lines are sentences' borders too)."""
    start = block.start
    for end in sentence_ends(text[block.start : block.end], language_of(text)):
        yield PageUnit(start, block.start + end, BETWEEN_SENTENCES, prose=True)
        start = block.start + end


def _items(text: str, block: Block) -> Iterator[PageUnit]:
    """Items with all that is under them; an item's own lines and sub-items where it is long."""
    start = block.start
    price = BETWEEN_ITEMS
    top: int | None = None
    fences = FenceReader()
    for line in _ANY_LINE.finditer(text, block.start, block.end):
        item = None if fences.take(line[0]) else _ITEM.match(line[0])
        if item and line.start() > start:
            yield PageUnit(start, line.start(), price, prose=True)
            start = line.start()
        if item:
            indent = len(item[1].expandtabs(4))
            top = indent if top is None else min(top, indent)
            price = BETWEEN_ITEMS if indent <= top else BETWEEN_SUBITEMS
    yield PageUnit(start, block.end, price, prose=True)


def _rows(text: str, block: Block) -> Iterator[PageUnit]:
    """Rows; each knows the header, and the row above that holds the value of its merged first cell."""
    lines = _lines(text, block)
    header = (lines[0][0], lines[1][1])
    yield PageUnit(block.start, header[1], BETWEEN_BLOCKS)
    holder: tuple[int, int] | None = None
    price = AFTER_HEADING
    for start, end in lines[2:]:
        cell = _ROW_START.match(text, start, end)
        merged = cell is not None and not cell[1].strip() and holder is not None
        if not merged:
            holder = (start, end)
        lead = (header, holder) if merged and holder else (header,)
        yield PageUnit(start, end, max(price, ROW_OF_MERGED_CELL) if merged else price, lead=lead)
        price = BETWEEN_ROWS


def _code_lines(text: str, block: Block) -> Iterator[PageUnit]:
    """Lines; a part inside a fence begins with the line that opens it."""
    lines = _lines(text, block)
    lead = (lines[0],) if block.kind == "fence" else ()
    yield PageUnit(block.start, lines[0][1], BETWEEN_BLOCKS)
    price = AFTER_HEADING if lead else BETWEEN_LINES
    for start, end in lines[1:]:
        yield PageUnit(start, end, price, lead=lead)
        price = BETWEEN_LINES if text[start:end].strip() else BLANK_LINE_IN_CODE


def _lines(text: str, block: Block) -> list[tuple[int, int]]:
    """The block's lines, the blank ones before it left out, those behind it part of the last one."""
    lines = [match.span() for match in _ANY_LINE.finditer(text, block.start, block.end)]
    while not text[slice(*lines[0])].strip() and len(lines) > 1:
        lines.pop(0)
    while not text[slice(*lines[-1])].strip() and len(lines) > 1:
        lines.pop()
    lines[-1] = (lines[-1][0], block.end)
    return lines


def _whole(text: str, block: Block) -> Iterator[PageUnit]:
    yield PageUnit(block.start, block.end, BETWEEN_BLOCKS)


_Splitter = Callable[[str, Block], Iterator[PageUnit]]
_SPLIT: dict[str, _Splitter] = {
    "table": _rows,
    "list": _items,
    "fence": _code_lines,
    "code": _code_lines,
    "html": _code_lines,
}
_NUMBERED: dict[str, _Splitter] = {"paragraph": _sentences, "quote": _sentences, "list": _items}
