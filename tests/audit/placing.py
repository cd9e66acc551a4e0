"""Where in a page each thing of a quotation stands; a page says the same step in many sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.audit.reading import Atom, atoms, letters, sentences

# What of a page something in a quotation may be: headings are written as bold lines there.
_LIKE = {
    "text": ("text", "heading", "item"),
    "heading": ("heading", "text"),
    "item": ("item", "text"),
    "row": ("row",),
    "code": ("code",),
}
LEAP = 100  # atoms of a page; a leap costs more than any way within one table


@dataclass(frozen=True, slots=True)
class Shown:
    """An atom of the quotation: its place in the page, and which of the letters of that atom are shown."""

    atom: Atom
    place: int  # -1: not of the page
    start: int = 0
    end: int = 0
    gap: bool = False  # a mark stands before it


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to place the atoms so far: what its leaps cost, where the last one ended, all places."""

    cost: int
    last: int
    end: int
    places: tuple[tuple[int, int], ...] = ()


def placed(there: Sequence[Atom], quoted: Sequence[Atom], start: int = -1) -> list[Shown]:
    """Each atom at its place in the page, none before ``start``: of all ways to place them, the cheapest."""
    marked, told = True, []
    for atom in quoted:
        if atom.kind in ("gap", "cut"):
            marked = True
        else:
            told.append((atom, marked))
            marked = False
    headings = _headings(there)
    ways = [_Way(0, start, 0)]
    for atom, after_gap in told:
        found = _places_of(there, atom)
        places = [one for one in found if one[0] >= start] or found or [(-1, 0)]
        ways = [_longer(there, headings, ways, atom, place, after_gap) for place in places]
    best = min(ways, key=lambda way: way.cost)
    return [
        Shown(atom, place, start, start + len(atom.text), gap)
        for (atom, gap), (place, start) in zip(told, best.places, strict=True)
    ]


def _headings(there: Sequence[Atom]) -> list[int]:
    """Of each atom the place of the heading that it stands under."""
    over, found = -1, []
    for place, atom in enumerate(there):
        over = place if atom.kind == "heading" else over
        found.append(over)
    return found


def _longer(
    there: Sequence[Atom],
    headings: Sequence[int],
    ways: Sequence[_Way],
    atom: Atom,
    place: tuple[int, int],
    after_gap: bool,
) -> _Way:
    """The cheapest of the ways with one more atom at ``place`` (an atom of the page, a letter in it)."""
    at, start = place
    if at < 0:
        way = min(ways, key=lambda one: one.cost)
        return _Way(way.cost, way.last, way.end, (*way.places, place))
    costs = [(way.cost + _leap(there, headings, way, place, after_gap), way) for way in ways]
    cost, way = min(costs, key=lambda one: one[0])
    other_number = atom.kind == there[at].kind == "item" and atom.number != there[at].number
    return _Way(cost + (LEAP // 2 if other_number else 0), at, start + len(atom.text), (*way.places, place))


def _leap(there: Sequence[Atom], headings: Sequence[int], way: _Way, place: tuple[int, int], after_gap: bool) -> int:
    at, start = place
    if at == way.last + 1:
        return 0
    if way.last < 0:
        return LEAP
    if at == way.last:
        return 1 if start >= way.end else 4 * LEAP
    if there[at].kind == there[way.last].kind == "row" and there[at].group == there[way.last].group:
        return min(abs(at - way.last), LEAP - 1)
    back = 2 if at < way.last else 0
    elsewhere = 2 if there[at].kind != "heading" and headings[at] != headings[way.last] else 0
    return min(abs(at - way.last), LEAP - 1) + LEAP * (back + elsewhere + (1 if after_gap else 3))


def _places_of(there: Sequence[Atom], atom: Atom) -> list[tuple[int, int]]:
    """Where the page says the same, or has it as a part of what it says."""
    same = [(place, 0) for place, one in enumerate(there) if one.text == atom.text and one.kind in _LIKE[atom.kind]]
    if atom.kind not in ("text", "item", "heading"):
        return same
    telling = [(place, one) for place, one in enumerate(there) if one.kind in ("text", "item")]
    if not same:
        same = [(place, one.text.find(atom.text)) for place, one in telling if atom.text in one.text]
    longer = ((place, one) for place, one in telling if one.text.endswith(atom.text) and one.text != atom.text)
    ends = ((place, one) for place, one in longer if letters(sentences(one)[-1]) == atom.text)  # «… так. Пример:»
    return list(dict.fromkeys([*((place, len(one.text) - len(atom.text)) for place, one in ends), *same]))


def unplaced(page: str, quotation: str) -> list[str]:
    """What the quotation says and the page does not: then the audit reads nothing into it."""
    shown = placed(atoms(page), atoms(quotation))
    return [each.atom.raw for each in shown if each.place < 0]
