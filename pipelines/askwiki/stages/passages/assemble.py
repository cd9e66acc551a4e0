"""Candidates -> numbered passages: split sections rebuilt, neighbours joined, copies dropped, within a budget."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from askwiki.data import Candidate, Passage, Rights
from askwiki.settings import PassagesSettings
from askwiki.stages.passages.budget import fit
from askwiki.stages.passages.spans import Span, find_spans, passage_of
from askwiki.stages.passages.versions import find_twins
from askwiki.store.port import Reader

logger = logging.getLogger(__name__)

LOOKED_AT = 2  # candidates for each passage that is wanted: more would join whole pages around weak finds
# Notes of a passage: "older:2" = an earlier edition of passage 2, "differs:2" = nearly its text, but it says otherwise.
OLDER, DIFFERS = "older", "differs"


@dataclass(frozen=True, slots=True)
class Cut:
    """Passages for the prompt, and what did not fit."""

    passages: tuple[Passage, ...]
    left_out: int = 0  # passages that found no room
    shortened: int = 0


def make_passages(
    candidates: Sequence[Candidate],
    rights: Rights,
    *,
    reader: Reader,
    count: Callable[[str], int],
    settings: PassagesSettings,
    tokens: int | None = None,
) -> Cut:
    """At most ``settings.count`` passages of together ``tokens`` tokens, as ``count`` counts them."""
    wanted = candidates[: LOOKED_AT * settings.count]
    spans = find_spans(wanted, rights, reader=reader, siblings=settings.siblings)
    kept = _without_copies(spans)
    budget = settings.tokens if tokens is None else min(tokens, settings.tokens)
    fitting = fit(kept[: settings.count], count, budget)
    numbers = {chunk_id: number for number, passage in enumerate(fitting, 1) for chunk_id in passage.chunk_ids}
    numbered = tuple(
        replace(passage, number=number, note=_note(passage.note, numbers)) for number, passage in enumerate(fitting, 1)
    )
    shortened = sum(passage.shortened for passage in numbered)
    logger.info("passages: %d of %d spans, %d shortened", len(numbered), len(spans), shortened)
    return Cut(numbered, len(kept) - len(numbered), shortened)


def _without_copies(spans: Sequence[Span]) -> list[tuple[Span, str]]:
    """Spans with a note, copies dropped. Of two editions the newer stands before the older, which says so."""
    order = list(range(len(spans)))
    notes: dict[int, tuple[str, int]] = {}
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
            notes[twin.older] = OLDER, twin.newer
        else:
            notes.setdefault(twin.older, (DIFFERS, twin.newer))
    return [(spans[place], _noted(place, notes, spans)) for place in order if place not in dropped]


def _noted(place: int, notes: Mapping[int, tuple[str, int]], spans: Sequence[Span]) -> str:
    """``older:CHUNK`` with the best chunk of the newest edition, which is older than none."""
    if place not in notes:
        return ""
    kind, newer = notes[place]
    while kind == OLDER and notes.get(newer, ("", 0))[0] == OLDER:
        newer = notes[newer][1]
    return f"{kind}:{spans[newer].best.id}"


def _note(note: str, numbers: Mapping[str, int]) -> str:
    """``older:CHUNK`` as ``older:NUMBER``; empty when the newer one is not among the passages."""
    kind, _, chunk_id = note.partition(":")
    return f"{kind}:{numbers[chunk_id]}" if chunk_id in numbers else ""


def note_of(passage: Passage) -> tuple[str, int]:
    """(kind of the note, number of the passage it is about); ("", 0) without a note."""
    kind, _, number = passage.note.partition(":")
    return kind, int(number or 0)


def renumbered(passages: Sequence[Passage], first: Sequence[Passage]) -> tuple[Passage, ...]:
    """All of ``passages`` numbered anew, those of ``first`` in front: what is shown counts 1, 2, 3 without gaps."""
    shown = {passage.number for passage in first}
    order = [*first, *(passage for passage in passages if passage.number not in shown)]
    numbers = {passage.number: number for number, passage in enumerate(order, 1)}
    return tuple(
        replace(passage, number=number, note=_renumbered_note(passage, numbers))
        for number, passage in enumerate(order, 1)
    )


def _renumbered_note(passage: Passage, numbers: Mapping[int, int]) -> str:
    kind, number = note_of(passage)
    return f"{kind}:{numbers[number]}" if kind else ""
