"""Candidates -> numbered passages: split sections rebuilt, neighbours joined, copies dropped, within a budget."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from askwiki.data import Candidate, Passage, PassageNote, Rights
from askwiki.settings import PassagesSettings
from askwiki.stages.passages.budget import Room, fit
from askwiki.stages.passages.siblings import STEPS, WIDE_STEPS, siblings_of
from askwiki.stages.passages.spans import Span, find_spans, passage_of
from askwiki.stages.passages.versions import find_twins
from askwiki.store.port import Reader

logger = logging.getLogger(__name__)


class _Note(NamedTuple):
    """A note before passages have numbers: ``newer`` is the place of the other span."""

    kind: Literal["older", "differs"]
    newer: int


@dataclass(frozen=True, slots=True)
class Cut:
    """Passages for the prompt, and what did not fit."""

    passages: tuple[Passage, ...]
    left_out: int = 0  # candidates that found no room
    shortened: int = 0


def make_passages(
    candidates: Sequence[Candidate],
    rights: Rights,
    *,
    reader: Reader,
    count: Callable[[str], int],
    settings: PassagesSettings,
    tokens: int | None = None,
    wide: bool = False,
) -> Cut:
    """At most ``settings.count`` passages of together ``tokens`` tokens, as ``count`` counts them.

    What was judged has room before any sibling; where nobody judged, each stands with its siblings. What was judged
    relevant may have ``settings.relevant_tokens``, everything else fills up ``settings.tokens``. ``wide``: whole
    sections, of what is relevant whole pages, and all of the room for them too, for questions that ask for all.
    """
    relevant = frozenset(candidate.chunk.id for candidate in candidates if candidate.verdict == "yes")
    most = max(settings.tokens, settings.relevant_tokens)
    budget = most if tokens is None else min(tokens, most)
    whole = wide and bool(relevant)
    others = budget if whole else min(budget, settings.tokens)
    spans = find_spans(candidates)
    order, notes = _without_copies(spans)
    wanted = [replace(spans[place], place=rank) for rank, place in enumerate(order)]
    pages = siblings_of(candidates, rights, reader, whole=whole) if settings.siblings else {}
    judged = any(candidate.verdict is not None for candidate in candidates)
    places = {candidate.chunk.id: place for place, candidate in enumerate(candidates)}
    room = Room(budget, others, settings.count, WIDE_STEPS if wide else STEPS, relevant, whole)
    fitting, left_out = fit(wanted, places, pages, count, room, judged=judged)
    numbers = {chunk_id: number for number, passage in enumerate(fitting, 1) for chunk_id in passage.chunk_ids}
    noted = {
        numbers[spans[place].best.id]: PassageNote(note.kind, numbers[spans[note.newer].best.id])
        for place, note in notes.items()
        if spans[place].best.id in numbers and spans[note.newer].best.id in numbers
    }
    numbered = tuple(
        replace(passage, number=number, note=noted.get(number)) for number, passage in enumerate(fitting, 1)
    )
    shortened = sum(passage.shortened for passage in numbered)
    logger.info("passages: %d of %d spans, %d shortened", len(numbered), len(spans), shortened)
    return Cut(numbered, left_out, shortened)


def _without_copies(spans: Sequence[Span]) -> tuple[list[int], dict[int, _Note]]:
    """(places of the spans in order without copies, notes of some). Of two editions the newer stands first."""
    order = list(range(len(spans)))
    notes: dict[int, _Note] = {}
    dropped: set[int] = set()
    for twin in find_twins([passage_of(span) for span in spans]):
        if twin.newer in dropped or twin.older in dropped:
            continue
        place_newer, place_older = order.index(twin.newer), order.index(twin.older)
        if place_older < place_newer and twin.kind != "differs":
            order[place_newer], order[place_older] = twin.older, twin.newer
        if twin.kind == "copy":
            dropped.add(twin.older)
        elif twin.kind == "edition":
            notes[twin.older] = _Note("older", twin.newer)
        else:
            notes.setdefault(twin.older, _Note("differs", twin.newer))
    kept = [place for place in order if place not in dropped]
    return kept, {place: _newest(notes[place], notes) for place in kept if place in notes}


def _newest(note: _Note, notes: Mapping[int, _Note]) -> _Note:
    """An earlier edition names the newest one, which is older than none."""
    while note.kind == "older" and (later := notes.get(note.newer)) and later.kind == "older":
        note = later
    return note


def renumbered(passages: Sequence[Passage], first: Sequence[Passage]) -> tuple[Passage, ...]:
    """All of ``passages`` numbered anew, those of ``first`` in front: what is shown counts 1, 2, 3 without gaps."""
    shown = {passage.number for passage in first}
    order = [*first, *(passage for passage in passages if passage.number not in shown)]
    numbers = {passage.number: number for number, passage in enumerate(order, 1)}
    return tuple(
        replace(passage, number=number, note=_renumbered(passage.note, numbers))
        for number, passage in enumerate(order, 1)
    )


def _renumbered(note: PassageNote | None, numbers: Mapping[int, int]) -> PassageNote | None:
    return note and PassageNote(note.kind, numbers[note.number])
