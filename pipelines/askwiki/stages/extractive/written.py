"""Chosen pieces as Markdown again: every gap a line «…», a cut table or list with how much of it is shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from askwiki.markdown.fences import close_fences
from askwiki.stages.extractive.pieces import Piece

Count = Callable[[str, int, int], str]  # (row | item | line, how many are shown, of how many) -> a sentence
Part = tuple[int, Sequence[int]]  # a piece's place, which of its units, in order
GAP = "…"
_PARTS = {"list": "item", "table": "row", "code": "line"}
_ITEM = re.compile(r"\A(?P<indent>[ \t]*)(?P<mark>[-*+]|\d{1,9}[.)])(?P<blank>[ \t]+|\Z|(?=\n))")
_BOLD = re.compile(r"\*\*|__")
_TASK = re.compile(r"\[[ xX]\][ \t]+")
_ODD = re.compile(r"(?<!\\)[*_~]|<|!\[|\]\[|\n")  # pictures leave nothing to be bold
_CODE_SPAN = re.compile(r"`+[^`\n]*`+")
_CELLS = re.compile(r"(?<!\\)\|")


def write(pieces: Sequence[Piece], shown: Sequence[Part], bold: tuple[int, int] | None, count: Count) -> str:
    """The chosen units in their order; ``bold`` (place of a piece, of its unit) is the one that bears the question."""
    blocks: list[str] = []
    last, open_end = -1, False
    for place, units in shown:
        piece = pieces[place]
        if (blocks and (place != last + 1 or open_end)) or (piece.kind == "text" and units[0] > 0):
            blocks.append(GAP)
        marked = bold[1] if bold and bold[0] == place else None
        blocks += _piece(piece, units, marked, count)
        open_end = piece.kind in ("text", "note") and units[-1] < len(piece.units) - 1
        last = place
    if open_end:
        blocks.append(GAP)
    told = [block for number, block in enumerate(blocks) if block != GAP or not number or blocks[number - 1] != GAP]
    return close_fences("\n\n".join(told))


def _piece(piece: Piece, units: Sequence[int], bold: int | None, count: Count) -> Iterator[str]:
    whole = len(units) == len(piece.units)
    match piece.kind:
        case "text":
            runs = _runs(units)
            for number, run in enumerate(runs):
                if number:
                    yield GAP
                said = (_strong(piece.units[each].text) if each == bold else piece.units[each].text for each in run)
                yield piece.text if whole and bold is None else " ".join(said)
        case "list":
            yield from _items(piece, units, bold)
        case "table":
            rows = [_row(piece.units[each].text, each == bold) for each in units]
            yield piece.text if whole and bold is None else "\n".join((piece.head, *rows))
        case "code":
            yield piece.text if whole else _code(piece, units)
        case "note":
            yield piece.text if whole else _note(piece, units)
        case _:
            yield piece.text
    if not whole and piece.kind in _PARTS:
        yield f"*{count(_PARTS[piece.kind], len(units), len(piece.units))}*"


def _runs(units: Sequence[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for each in units:
        if runs and each == runs[-1][-1] + 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    return runs


def _items(piece: Piece, units: Sequence[int], bold: int | None) -> Iterator[str]:
    """Items with the numbers that the page shows, those that are left out marked where they stood."""
    for number, run in enumerate(_runs(units)):
        if run[0] > 0 and (number or run[0] > 0):
            yield GAP
        items = [_item(piece, each, strong=each == bold) for each in run]
        yield ("\n\n" if piece.apart else "\n").join(items)


def _item(piece: Piece, place: int, *, strong: bool) -> str:
    """An item at the left edge; in an ordered list its real number, whatever the page has typed («1.» each time)."""
    text = piece.units[place].text
    match = _ITEM.match(text)
    if match is None:
        return text
    mark = f"{piece.first + place}{match['mark'][-1]}" if match["mark"][0].isdigit() else match["mark"]
    first, *rest = text[match.end() :].split("\n")
    shift = len(mark) + len(match["blank"]) - match.end()
    lines = [_shifted(line, shift) for line in rest]
    head = _strong(first) if strong else first
    return "\n".join((f"{mark}{match['blank']}{head}", *lines))


def _shifted(line: str, columns: int) -> str:
    if columns >= 0:
        return " " * columns + line if line.strip() else line
    return re.sub(rf"\A[ \t]{{1,{-columns}}}", "", line)


def _row(text: str, strong: bool) -> str:
    if not strong:
        return text
    cells = _CELLS.split(text.strip().removeprefix("|").removesuffix("|"))
    return f"| {' | '.join(_strong(cell.strip()) for cell in cells)} |"


def _code(piece: Piece, units: Sequence[int]) -> str:
    lines: list[str] = []
    for run in _runs(units):
        if run[0] > 0:
            lines.append(GAP if piece.head else f"    {GAP}")
        lines += [piece.units[each].text for each in run]
    return "\n".join((piece.head, *lines, piece.tail) if piece.head else lines)


def _note(piece: Piece, units: Sequence[int]) -> str:
    parts: list[str] = []
    for number, run in enumerate(_runs(units)):
        if number or run[0] > 0:
            parts.append(f"> {GAP}")
        parts += [piece.units[each].text for each in run]
    return "\n>\n".join(parts)


def _strong(text: str) -> str:
    """Bold, where that is sure to be read as bold; marks of bold inside it would end it."""
    task = _TASK.match(text)
    begin = task.end() if task else 0
    bare = _BOLD.sub("", text[begin:]).strip()
    if not bare or _ODD.search(_CODE_SPAN.sub("", bare)):
        return text
    return f"{text[:begin]}**{bare}**"
