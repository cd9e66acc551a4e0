"""What of a passage is quoted together, and the chosen units as text again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set

from askwiki.markdown.fences import close_fences
from askwiki.stages.extractive.units import QuoteUnit

_RULE = re.compile(r"^\s*+\|?(?:\s*+:?-++:?\s*+\|)++(?:\s*+:?-++:?)?\s*+$")  # below a table's header
WHOLE_TABLE, WHOLE_LIST = 1_500, 700  # characters up to which a table, or a list or a note, is quoted whole
ITEM_DEPTH = 6  # blanks that a line below an item may begin deeper than it; deeper ones read as code


def with_context(units: Sequence[QuoteUnit], place: int, *, whole: bool = True) -> set[int]:
    """A unit with what it cannot be read without: its heading, the sentences beside it in its paragraph.

    Of a table or a list that does not fit ``whole``, the header and the row, or the item.
    """
    chosen = {place, *_belonging(units, place, whole=whole)}
    heading = _heading_of(units, place)
    if heading is not None:
        chosen.add(heading)
    if units[place].kind == "text":
        if not units[place].line:
            chosen.add(place - 1)
        if place + 1 < len(units) and not units[place + 1].line:
            chosen.add(place + 1)
    return chosen


def following(units: Sequence[QuoteUnit], place: int, *, below: bool = False) -> Iterator[set[int]]:
    """What stands after a unit in its section, step by step, lists and tables whole: an answer follows its subject.

    With ``below`` the sections under its own are part of it.
    """
    heading = _heading_of(units, place)
    level = units[heading].depth if below and heading is not None else 6
    place += 1
    while place < len(units) and not (units[place].kind == "heading" and units[place].depth <= level):
        step = {place, *_belonging(units, place)}
        yield step
        place = max(step) + 1


def _heading_of(units: Sequence[QuoteUnit], place: int) -> int | None:
    return next((above for above in range(place, -1, -1) if units[above].kind == "heading"), None)


def _belonging(units: Sequence[QuoteUnit], place: int, *, whole: bool = True) -> set[int]:
    """What goes with a unit: a table or its header, the list, the note, the block of code, a heading's text."""
    kind = units[place].kind
    if kind == "heading":
        return {place + 1, *_belonging(units, place + 1, whole=whole)} if place + 1 < len(units) else set()
    if kind == "text":
        return set()
    first, last = _first_of_run(units, place), _last_of_run(units, place)
    run = set(range(first, last + 1))
    length = sum(len(units[number].text) for number in run)
    if kind == "code" or (whole and length <= (WHOLE_TABLE if kind == "row" else WHOLE_LIST)):
        return run
    return {first, first + 1} if kind == "row" and last > first else set()


def _first_of_run(units: Sequence[QuoteUnit], place: int) -> int:
    while place and units[place - 1].kind == units[place].kind and not _begins_table(units, place):
        place -= 1
    return place


def _last_of_run(units: Sequence[QuoteUnit], place: int) -> int:
    kind = units[place].kind
    while place + 1 < len(units) and units[place + 1].kind == kind and not _begins_table(units, place + 1):
        place += 1
    return place


def _begins_table(units: Sequence[QuoteUnit], place: int) -> bool:
    """Whether a row is a table's header, also of one that follows on another table."""
    below = units[place + 1].text if place + 1 < len(units) else ""
    return units[place].kind == "row" and bool(_RULE.match(below))


def join_units(units: Sequence[QuoteUnit], chosen: Set[int]) -> str:
    """Chosen units in page order; left-out text is marked, but not left-out rows of a table.

    What stood under an item that is left out moves to the left: deep in the line it would read as code.
    """
    text = ""
    last, left = -1, 0
    for place in sorted(chosen):
        unit = units[place]
        gap = place != last + 1
        if gap and unit.line and not (text and _reads_below(units[last], unit)):
            left = unit.depth
        elif unit.line and not unit.kind == units[last].kind == "code":
            left = min(left, unit.depth)
        said = _moved(unit.text, left) if unit.kind != "heading" else unit.text
        if not text:
            text = said if not gap or unit.kind != "text" else f"… {said}"
        elif unit.line:
            rows = unit.kind == units[last].kind == "row" and not _begins_table(units, place)
            text += ("\n" if rows or not (gap or unit.apart or unit.kind != units[last].kind) else "\n\n") + said
        else:
            text += (" … " if gap else " ") + said
        last = place
    return close_fences(text)


def _reads_below(item: QuoteUnit, unit: QuoteUnit) -> bool:
    """Whether a unit still belongs to the list of the item shown before it."""
    return item.kind == "item" and 0 <= unit.depth - item.depth <= ITEM_DEPTH


def _moved(text: str, left: int) -> str:
    return re.sub(rf"^[ \t]{{1,{left}}}", "", text) if left else text
