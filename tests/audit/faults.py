"""What a quotation leaves out without a word, against the page that it is from."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.audit.placing import Shown, placed
from tests.audit.reading import Atom, atoms, letters, sentences

KINDS = (
    "gap",  # text left out between two things that are shown, and no «…»
    "lead-in alone",  # «…:» and nothing after it
    "without its lead-in",  # a list, table or code below a «…:» that is not shown
    "subheading",  # what stands below a bold line that is not shown
    "step",  # a step with another number
    "cut",  # rows or items left out, and not said of how many
    "limit",  # an exception, a condition or a negation left out beside what is shown
)
# A sentence or paragraph that begins so takes back or bounds what stands before it.
_LIMITS = re.compile(
    r"\W*(?:кроме|исключени|за исключением|однако|но\b|если\b|при условии|это не\b|только|except|unless|however|but\b"
    r"|only\b|if\b|provided|this does not)",
    re.IGNORECASE,
)
_EXCEPTS = re.compile(r"\W*(?:кроме|исключени|за исключением|однако|но\b|except|unless|however|but\b)", re.IGNORECASE)
_NEGATES = re.compile(r"\b(?:не|нет|нельзя|кроме|только|если|not|no|never|cannot|only|unless|if)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    said: str


def faults(page: str, quotation: str, label: str = "") -> list[Fault]:
    """Everything that ``quotation`` leaves out of ``page`` without saying so; ``label`` is what stands above it."""
    there = atoms(page)
    quoted = atoms(quotation)
    heading = letters(label.split(" › ")[-1])
    start = next((place for place, one in enumerate(there) if one.kind == "heading" and one.text == heading), -1)
    shown = placed(there, quoted, start)
    named = {letters(label), *(each.atom.text for each in shown), *(letters(part) for part in label.split(" › "))}
    places = {each.place for each in shown}
    found = [
        *_gaps(there, shown),
        *_leads(there, places),
        *_subheadings(there, places, named),
        *_steps(there, shown),
        *_cuts(there, places, quoted),
        *_limits(there, shown, places),
    ]
    return list(dict.fromkeys(found))


def _gaps(there: Sequence[Atom], shown: Sequence[Shown]) -> Iterator[Fault]:
    known = [each for each in shown if each.place >= 0]
    for before, after in itertools.pairwise(known):
        rows = there[before.place].kind == there[after.place].kind == "row"
        if rows and there[before.place].group == there[after.place].group:
            continue  # said below the table
        goes_on = (
            after.start == before.end
            if after.place == before.place
            else after.place == before.place + 1 and before.end == len(there[before.place].text) and after.start == 0
        )
        if not goes_on and not after.gap:
            yield Fault("gap", f"{before.atom.raw[-40:]} // {after.atom.raw[:40]}")


def _leads(there: Sequence[Atom], places: set[int]) -> Iterator[Fault]:
    for place, atom in enumerate(there[:-1]):
        if not atom.leads or there[place + 1].kind == "heading" or there[place + 1].subheading:
            continue
        below = _run(there, place + 1, atom)
        quoted = any(each in places for each in below)
        if place in places and not quoted:
            yield Fault("lead-in alone", atom.raw[-80:])
        elif quoted and place not in places:
            yield Fault("without its lead-in", f"{atom.raw[-60:]} // {there[place + 1].raw[:40]}")


def _run(there: Sequence[Atom], place: int, lead: Atom) -> range:
    """What a lead-in leads into: all below it in its item, else the table, code or list after it, else a paragraph."""
    first = there[place]
    depth = sum(
        1 for _ in itertools.takewhile(lambda both: both[0] == both[1], zip(lead.path, first.path, strict=False))
    )

    def belongs(atom: Atom) -> bool:
        if lead.kind == "item" and depth == len(lead.path):
            return atom.path[:depth] == lead.path
        if first.kind in ("row", "code"):
            return atom.group == first.group
        inside = len(first.path) > depth and len(atom.path) > depth
        return inside and atom.path[:depth] == first.path[:depth] and atom.path[depth][0] == first.path[depth][0]

    last = place
    while last + 1 < len(there) and belongs(there[last + 1]):
        last += 1
    return range(place, last + 1)


def _subheadings(there: Sequence[Atom], places: set[int], named: set[str]) -> Iterator[Fault]:
    over: Atom | None = None
    for place, atom in enumerate(there):
        if atom.kind == "heading":
            over = None
        elif atom.subheading:
            over = atom
        elif over is not None and place in places and over.text not in named:
            yield Fault("subheading", f"{over.raw} // {atom.raw[:40]}")


def _steps(there: Sequence[Atom], shown: Sequence[Shown]) -> Iterator[Fault]:
    for each in shown:
        if each.place >= 0 and each.atom.kind == "item" and there[each.place].number != each.atom.number:
            yield Fault("step", f"{there[each.place].number} as {each.atom.number}: {each.atom.raw[:40]}")


def _cuts(there: Sequence[Atom], places: set[int], quoted: Sequence[Atom]) -> Iterator[Fault]:
    said = {atom.number for atom in quoted if atom.kind == "cut"}
    units: dict[int, set[int]] = {}
    kept: dict[int, set[int]] = {}
    first: dict[int, Atom] = {}
    for place, atom in enumerate(there):
        own = {(atom.group, atom.place)} if atom.kind in ("row", "code") else set()
        for group, number in {*atom.path, *own} - {(0, 0)}:
            first.setdefault(group, atom)
            if atom.kind == "row" and group == atom.group and number == 0:
                continue  # the header is no row
            units.setdefault(group, set()).add(number)
            if place in places:
                kept.setdefault(group, set()).add(number)
    for group, shown in kept.items():
        total, atom = len(units[group]), first[group]
        lines = atom.number if atom.kind == "code" and atom.group == group else total
        if shown != units[group] and not said & {total, lines}:
            yield Fault("cut", f"{len(shown)} of {total}: {atom.raw[:40]}")


def _limits(there: Sequence[Atom], shown: Sequence[Shown], places: set[int]) -> Iterator[Fault]:
    spans: dict[int, list[tuple[int, int]]] = {}
    for each in shown:
        if each.place >= 0:
            spans.setdefault(each.place, []).append((each.start, each.end))
    for place, parts in spans.items():
        yield from _inside(there[place], parts)
        after = there[place + 1] if place + 1 < len(there) else None
        if after is None or place + 1 in places or after.kind not in ("text", "item") or after.subheading:
            continue
        limits = _EXCEPTS if after.kind == "item" else _LIMITS
        title = there[place].kind in ("heading", "code") or there[place].subheading
        if not title and limits.match(after.raw):
            yield Fault("limit", f"{there[place].raw[-40:]} // {after.raw[:60]}")


def _inside(atom: Atom, parts: Sequence[tuple[int, int]]) -> Iterator[Fault]:
    """Sentences beside a shown one of the same paragraph that deny or bound something."""
    if atom.kind not in ("text", "item"):
        return
    at, kept = 0, []
    for sentence in sentences(atom):
        end = at + len(letters(sentence))
        kept.append((sentence, any(start < end and at < stop for start, stop in parts)))
        at = end
    for (one, shown), (other, beside) in itertools.pairwise(kept):
        if shown != beside and _NEGATES.search(one if beside else other):
            yield Fault("limit", (one if beside else other)[:80])
