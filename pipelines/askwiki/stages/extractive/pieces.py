"""A passage cut into what a reader sees as one: paragraphs, lists, tables, code, notes, headings, and their units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

from askwiki.language import en, ru
from askwiki.markdown.block_parser_lines import ITEM, closes_fence, indent, opening_fence
from askwiki.markdown.blocks import Block, parse_blocks
from askwiki.markdown.fences import FenceReader
from askwiki.stages.passages.spans import GAP

PieceKind = Literal["heading", "subheading", "text", "list", "table", "code", "note", "html", "gap"]
CONTENT: frozenset[str] = frozenset({"text", "list", "table", "code", "note", "html"})

_SENTENCE = re.compile(r"(?<=[.!?…])\s+(?=[^\s\da-zа-яё])")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]]+\]:\s+\S+$")  # [name]: address, where the links of that name lead
_SUBHEADING = re.compile(r"\A\*\*(?:(?!\*\*).)++\*\*:?\Z", re.DOTALL)  # a line that is bold and nothing else
_NOTE_BREAK = re.compile(r"\n(?=[ \t]*>[ \t]*\n)")
_EMPTY_QUOTED = re.compile(r"\A[ \t]*>[ \t]*\n")
_COMMENT = re.compile(r"\s*<!--(?:(?!-->).)*+-->\s*\Z", re.DOTALL)  # of HTML: nobody reads it
_NUMBER = re.compile(r"[ \t]*(\d{1,9})[.)]")
_LINK_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[^\[\]\n]*\]\([^()\n]*\)[ \t.;,]*\Z")
_LEADS = re.compile(r":[ \t*_`]*\Z")
_LIMITS = re.compile(rf"[\W_]*+(?:{'|'.join((*ru.LIMITS, *en.LIMITS))})\b", re.IGNORECASE)
_EXCEPTS = re.compile(rf"[\W_]*+(?:{'|'.join((*ru.EXCEPTS, *en.EXCEPTS))})\b", re.IGNORECASE)
_TITLE_OF_NOTE = re.compile(r"\A[ \t]*>[ \t]*\*\*[^*\n]{1,60}\*\*[ \t]*(?:\n[ \t]*>[ \t]*)*")


class Unit(NamedTuple):
    """A sentence, an item, a row, a line of code, a paragraph of a note: what is shown or left out whole."""

    text: str
    start: int  # where it begins in the passage


class Piece(NamedTuple):
    """A block of the passage, ``text`` as the page has it. ``units`` are its parts in order, at least one."""

    kind: PieceKind
    text: str
    start: int
    units: tuple[Unit, ...]
    level: int = 0  # of a heading
    head: str = ""  # a table's header and rule, the opening line of code
    tail: str = ""  # the closing line of code
    first: int = 0  # the number of the first item of an ordered list
    apart: bool = False  # empty lines between the items of a list
    onward: bool = False  # it leads into what follows though ``text``, shortened, no longer shows it

    @property
    def leads(self) -> bool:
        """Whether it is not complete without what stands after it: «Выполните:»."""
        return self.onward or (self.kind in ("text", "list", "note") and bool(_LEADS.search(self.text)))

    @property
    def navigates(self) -> bool:
        """Whether it is a list of links and nothing else: it leads to answers and is none."""
        return self.kind == "list" and all(_LINK_ITEM.match(unit.text) for unit in self.units)

    @property
    def limits(self) -> bool:
        """Whether it takes back or bounds what stands before it: «Исключение — …»."""
        return self.kind in ("text", "note") and bool(_LIMITS.match(_TITLE_OF_NOTE.sub("", self.text)))


def excepts(unit: Unit) -> bool:
    """Whether an item or a row is an exception to the one before it."""
    return bool(_EXCEPTS.match(unit.text))


def pieces_of(text: str) -> list[Piece]:
    """All pieces in order; rules, comments and the addresses of named links are none."""
    return [piece for block in _whole_lists(text) for piece in _piece(text, block)]


def _whole_lists(text: str) -> Iterator[Block]:
    """The blocks; what stands under an outer item after a deeper list, and the items after it, belong to their list."""
    before: Block | None = None
    joined = False
    for block in parse_blocks(text):
        if before is None or before.kind != "list":
            goes_on = False
        else:
            goes_on = _is_under(text, before, block) or (joined and block.kind == "list")
        if before is not None and goes_on:
            before, joined = before._replace(end=block.end), True
            continue
        if before is not None:
            yield before
        before, joined = block, False
    if before is not None:
        yield before


def _is_under(text: str, above: Block, block: Block) -> bool:
    line = text[above.start : above.end].lstrip("\r\n").split("\n", 1)[0]
    item = ITEM.match(line)
    below = text[block.start : block.end].lstrip("\r\n").split("\n", 1)[0]
    return block.kind != "heading" and item is not None and indent(below) > indent(line) + len(item["item"])


def _piece(text: str, block: Block) -> Iterator[Piece]:
    said = text[block.start : block.end].rstrip()
    start = block.start + len(said) - len(said.lstrip("\r\n"))
    said = said.lstrip("\r\n")
    if not said or block.kind == "rule":
        return
    match block.kind:
        case "heading":
            yield Piece("heading", f"{'#' * block.level} {block.title}", start, (Unit(said, start),), block.level)
        case "paragraph":
            yield from _paragraph(said, start)
        case "list":
            yield from _lists(said, start)
        case "table":
            header, rule, *rows = said.split("\n")
            at = start + len(header) + len(rule) + 2
            yield Piece("table", said, start, _lines(rows, at) or (Unit(said, start),), head=f"{header}\n{rule}")
        case "fence":
            opening, *lines = said.split("\n")
            fence = opening_fence(opening)
            closed = bool(lines) and closes_fence(lines[-1], fence, indent(opening))
            units = _lines(lines[:-1] if closed else lines, start + len(opening) + 1) or (Unit(said, start),)
            # Below its opening: four columns deeper it is closed for our reader of pages, not for every chat.
            tail = opening[: len(opening) - len(opening.lstrip())] + (lines[-1].strip() if closed else fence)
            text = "\n".join((opening, *lines[:-1], tail)) if closed else said
            yield Piece("code", text, start, units, head=opening, tail=tail)
        case "code":
            yield Piece("code", said, start, _lines(said.split("\n"), start))
        case "quote":
            yield Piece("note", said, start, tuple(_note(said, start)))
        case _ if not _COMMENT.match(said):
            yield Piece("html", said, start, (Unit(said, start),))


def _paragraph(said: str, start: int) -> Iterator[Piece]:
    if said.strip() == GAP.strip():
        yield Piece("gap", said, start, (Unit(said, start),))
        return
    kept = "\n".join(line for line in said.split("\n") if not _DEFINITION.match(line))
    if not kept.strip():
        return
    kind: PieceKind = "subheading" if _SUBHEADING.match(kept.strip()) else "text"
    begins = [0, *(match.end() for match in _SENTENCE.finditer(kept))]
    units = [Unit(kept[begin:end].rstrip(), start + begin) for begin, end in pairwise([*begins, len(kept)])]
    yield Piece(kind, kept, start, tuple(units) if kind == "text" else (Unit(kept, start),))


def _lines(lines: list[str], at: int) -> tuple[Unit, ...]:
    units = []
    for line in lines:
        units.append(Unit(line, at))
        at += len(line) + 1
    return tuple(units)


def _note(said: str, start: int) -> Iterator[Unit]:
    """Its paragraphs; a note that holds code is one, for a part of it would not read as code."""
    if "```" in said or "~~~" in said:
        yield Unit(said, start)
        return
    for begin, end in pairwise([0, *(match.end() for match in _NOTE_BREAK.finditer(said)), len(said)]):
        part = said[begin:end].rstrip("\n")
        bare = _EMPTY_QUOTED.sub("", part)
        if bare.strip("> \t\n"):
            yield Unit(bare, start + begin + len(part) - len(bare))


def _lists(said: str, start: int) -> Iterator[Piece]:
    """Items of the outermost list, each with all that stands under it; another sign begins another list."""
    lines = said.split("\n")
    starts: list[int] = []
    content, reader = 0, FenceReader()
    for at, line in enumerate(lines):
        code = reader.take(line)
        if not code and line.strip() and (item := ITEM.match(line)) and (not starts or indent(line) < content):
            starts.append(at)
            content = indent(line) + len(item["item"]) + 1
    offsets = [0, *accumulate(len(line) + 1 for line in lines)]
    items: list[Unit] = []
    for begin, end in pairwise([*starts, len(lines)]):
        unit = Unit("\n".join(lines[begin:end]).rstrip(), start + offsets[begin])
        if items and _sign(unit) != _sign(items[-1]):
            yield _list(items)
            items = []
        items.append(unit)
    if items:
        yield _list(items)
    else:
        yield Piece("text", said, start, (Unit(said, start),))


def _sign(unit: Unit) -> str:
    match = ITEM.match(unit.text)
    return match["item"][-1] if match else ""


def _list(items: list[Unit]) -> Piece:
    first = _NUMBER.match(items[0].text)
    apart = any(unit.start > before.start + len(before.text) + 1 for before, unit in pairwise(items))
    text = ("\n\n" if apart else "\n").join(unit.text for unit in items)
    return Piece("list", text, items[0].start, tuple(items), first=int(first[1]) if first else 0, apart=apart)
