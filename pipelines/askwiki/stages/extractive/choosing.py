"""What of a group is shown: all where there is room, else what is about its best unit; and what goes on from it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from askwiki.language import en, ru
from askwiki.language.wording import points_back
from askwiki.stages.extractive.groups import Group
from askwiki.stages.extractive.pieces import Piece, excepts
from askwiki.stages.extractive.scoring import Scored

BESIDE = 200  # characters of each piece that is bound to the one that holds the best unit
ALIKE = 0.6  # of the best row's or item's own words that another one has to be shown before what follows
_DENIES = re.compile(rf"\b(?:{'|'.join((*ru.DENIALS, *en.DENIALS))})\b", re.IGNORECASE)


def shown_of(pieces: Sequence[Piece], best: Scored, room: int, *, entire: bool = False) -> dict[int, list[int]]:
    """The units of a group that are shown: all of them where there is room, else those about the best one.

    ``entire``: all rows or items are asked for, so they are shown as far as there is room at all.
    """
    places = list(best.group.places)
    whole = {place: list(range(len(pieces[place].units))) for place in places}
    if length_of(pieces, whole) <= room:
        return whole
    shown: dict[int, list[int]] = {}
    left = max(0, room - sum(min(len(pieces[place].text), BESIDE) for place in places if place != best.place))
    for place in places:
        piece = pieces[place]
        if place != best.place:
            shown[place] = _around(piece, len(piece.units) - 1 if piece.leads else 0, BESIDE)
        elif piece.kind in ("table", "list"):
            shown[place] = _nearest(piece, best.unit, best.near, left, entire=entire)
        else:
            shown[place] = _around(piece, best.unit, left)
    return shown


def _nearest(piece: Piece, centre: int, near: Sequence[float], room: int, *, entire: bool) -> list[int]:
    """The rows or items nearest to the question by words, then those behind the best one; with what bounds them.

    Where there is room yet, of a list those before it, too: what is done before a step tells as much as what comes
    after it. ``entire``: all of them, in their order, as far as there is room.
    """
    if len(piece.text) <= room:
        return list(range(len(piece.units)))
    like = [at for at in sorted(range(len(near)), key=lambda at: -near[at]) if near[at] >= ALIKE * max(near)]
    chosen: set[int] = set()
    left = room - len(piece.head)
    behind = range(0 if entire else centre + 1, len(piece.units))
    before = range(centre - 1, -1, -1) if piece.kind == "list" else ()
    for at in dict.fromkeys((centre, *like, *behind, *before)):
        wanted = _with_exceptions(piece, at) - chosen
        length = sum(len(piece.units[each].text) for each in wanted)
        if chosen and length > left:
            if at not in like:
                break  # what stands beside the best one is shown without holes
            continue
        chosen |= wanted
        left -= length
    return sorted(chosen | ({len(piece.units) - 1} if piece.leads else set()))  # it leads into what stands after it


def _with_exceptions(piece: Piece, at: int) -> set[int]:
    """An item with the exception to it, with what it leads into, and what it is the exception to."""
    chosen = {at}
    if piece.kind == "list":
        while min(chosen) and (
            excepts(piece.units[min(chosen)]) or piece.units[min(chosen) - 1].text.rstrip("*_ ").endswith(":")
        ):
            chosen.add(min(chosen) - 1)
        while max(chosen) + 1 < len(piece.units) and (
            excepts(piece.units[max(chosen) + 1]) or piece.units[max(chosen)].text.endswith(":")
        ):
            chosen.add(max(chosen) + 1)
    return chosen


def _around(piece: Piece, centre: int, room: int) -> list[int]:
    """Units about one of a piece: what follows, then what stands before (of a paragraph only what bounds it)."""
    if len(piece.text) <= room:
        return list(range(len(piece.units)))
    first = last = centre
    left = room - len(piece.units[centre].text) - len(piece.head)
    while True:
        bound_before, bound_after = _needs(piece, first, last)
        after = last + 1 < len(piece.units) and (bound_after or len(piece.units[last + 1].text) <= left)
        if after:
            last += 1
            left -= len(piece.units[last].text)
            continue
        fits = piece.kind != "text" and len(piece.units[first - 1].text) <= left
        before = first > 0 and (bound_before or fits)
        if not before:
            return list(range(first, last + 1))
        first -= 1
        left -= len(piece.units[first].text)


def _needs(piece: Piece, first: int, last: int) -> tuple[bool, bool]:
    """Whether the unit before, and the one after, cannot be left out."""
    units = piece.units
    before, after = units[first - 1] if first else None, units[last + 1] if last + 1 < len(units) else None
    if piece.kind in ("text", "note"):
        needs_before = before is not None and (
            points_back(units[first].text) or bool(_DENIES.search(before.text)) or before.text.rstrip().endswith(":")
        )
        needs_after = after is not None and (bool(_DENIES.search(after.text)) or units[last].text.endswith(":"))
        return needs_before, needs_after
    if piece.kind == "list":
        return excepts(units[first]), after is not None and (excepts(after) or units[last].text.endswith(":"))
    return False, False


def length_of(pieces: Sequence[Piece], shown: dict[int, list[int]]) -> int:
    return sum(
        len(pieces[place].text)
        if len(units) == len(pieces[place].units)
        else len(pieces[place].head) + sum(len(pieces[place].units[each].text) for each in units)
        for place, units in shown.items()
    )


def following(pieces: Sequence[Piece], groups: Sequence[Group], group: Group, room: int) -> dict[int, list[int]]:
    """The groups after one under the same headings, whole, as far as there is room."""
    shown: dict[int, list[int]] = {}
    for after in groups[groups.index(group) + 1 :]:
        if after.scope != group.scope:
            break
        whole = {place: list(range(len(pieces[place].units))) for place in after.places}
        room -= length_of(pieces, whole)
        if room < 0:
            break
        shown |= whole
    return shown


def above(pieces: Sequence[Piece], group: Group, label: str) -> list[int]:
    """The heading and the bold line that a group stands under, but for the heading that the label names already."""
    heading = group.headings[-1] if group.headings else None
    named = heading is not None and pieces[heading].text.lstrip("# ").strip() == label
    return [place for place in (None if named else heading, group.subheading) if place is not None]
