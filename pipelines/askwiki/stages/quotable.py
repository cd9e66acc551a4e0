"""A passage as what can be quoted of it: sentences, items, rows, lines of code; and the chosen ones as text again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from askwiki.stages.spans import close_fences

_SENTENCE = re.compile(r"(?<=[.!?…])[ \t]+(?=[^\s\da-zа-яё])")
_ROW = re.compile(r"^\s*\|")
_RULE = re.compile(r"^\s*\|(?:\s*:?-+:?\s*\|)+\s*$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_KINDS = (
    ("row", _ROW),
    ("heading", re.compile(r"^#{1,6}\s+")),
    ("item", re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")),
)
WHOLE_TABLE, WHOLE_LIST = 1_500, 700  # characters up to which a table or a list is quoted whole


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, a list item, a table row or a line of code."""

    text: str
    kind: str  # text | item | row | code | heading
    start: int  # where it begins in the passage
    line: bool = True  # it begins a line


def units_of(text: str) -> list[Unit]:
    """All units in order; empty lines are none."""
    units: list[Unit] = []
    fence, start = "", 0
    for whole in text.splitlines(keepends=True):
        line = whole.rstrip("\r\n")
        if match := _FENCE.match(line):
            fence = "" if fence and match[1].startswith(fence) else fence or match[1]
            units.append(Unit(line, "code", start))
        elif fence:
            units.append(Unit(line, "code", start))
        elif kind := next((kind for kind, pattern in _KINDS if pattern.match(line)), ""):
            units.append(Unit(line, kind, start))
        elif line.strip():
            units += _sentences(line, start)
        start += len(whole)
    return units


def _sentences(line: str, start: int) -> Iterator[Unit]:
    begins = [0, *(match.end() for match in _SENTENCE.finditer(line))]
    for begin, end in pairwise([*begins, len(line)]):
        yield Unit(line[begin:end].rstrip(), "text", start + begin, line=begin == 0)


def with_context(units: Sequence[Unit], place: int) -> set[int]:
    """A unit with what it cannot be read without; a sentence with those beside it in its paragraph."""
    chosen = {place, *_belonging(units, place)}
    if units[place].kind == "text":
        if not units[place].line:
            chosen.add(place - 1)
        if place + 1 < len(units) and not units[place + 1].line:
            chosen.add(place + 1)
    return chosen


def following(units: Sequence[Unit], place: int) -> Iterator[set[int]]:
    """What stands after a unit in its section, step by step, lists and tables whole: an answer follows its subject."""
    place += 1
    while place < len(units) and units[place].kind != "heading":
        step = {place, *_belonging(units, place)}
        yield step
        place = max(step) + 1


def _belonging(units: Sequence[Unit], place: int) -> set[int]:
    """What a unit cannot be read without: a row its table's header, code its whole block, a heading its text."""
    kind = units[place].kind
    if kind == "heading":
        return {place + 1, *_belonging(units, place + 1)} if place + 1 < len(units) else set()
    if kind == "text":
        return set()
    first, last = _first_of_run(units, place), _last_of_run(units, place)
    whole = set(range(first, last + 1))
    length = sum(len(units[number].text) for number in whole)
    if kind == "code" or length <= (WHOLE_TABLE if kind == "row" else WHOLE_LIST):
        return whole
    return {first, first + 1} if kind == "row" and last > first else set()


def _first_of_run(units: Sequence[Unit], place: int) -> int:
    while place and units[place - 1].kind == units[place].kind:
        place -= 1
    return place


def _last_of_run(units: Sequence[Unit], place: int) -> int:
    while place + 1 < len(units) and units[place + 1].kind == units[place].kind:
        place += 1
    return place


def join_units(units: Sequence[Unit], chosen: Set[int]) -> str:
    """Chosen units in page order; left-out text is marked, but not left-out rows of a table."""
    text = ""
    last = -1
    for place in sorted(chosen):
        unit = units[place]
        gap = place != last + 1
        if not text:
            text = unit.text if not gap or unit.kind != "text" else f"… {unit.text}"
        elif unit.line:
            apart = gap and not unit.kind == units[last].kind == "row"
            text += ("\n\n" if apart or unit.kind != units[last].kind else "\n") + unit.text
        else:
            text += (" … " if gap else " ") + unit.text
        last = place
    return close_fences(text)
