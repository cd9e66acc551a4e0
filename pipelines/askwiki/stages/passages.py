"""Candidates -> numbered passages: split sections rebuilt, neighbours joined, copies dropped, within a budget."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from askwiki.data import Candidate, Passage, Rights
from askwiki.settings import PassagesSettings
from askwiki.stages.budget import fit
from askwiki.stages.spans import Span, find_spans, passage_of
from askwiki.stages.versions import find_twins
from askwiki.store.port import Reader

logger = logging.getLogger(__name__)

LOOKED_AT = 2  # candidates for each passage that is wanted: more would join whole pages around weak finds
OLDER = "older"  # note of a passage: "older:2" = an earlier edition of passage 2


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
    numbers = {passage.page_id: number for number, passage in reversed([*enumerate(fitting, 1)])}
    numbered = tuple(
        replace(passage, number=number, note=_note(passage.note, numbers)) for number, passage in enumerate(fitting, 1)
    )
    shortened = sum(passage.shortened for passage in numbered)
    logger.info("passages: %d of %d spans, %d shortened", len(numbered), len(spans), shortened)
    return Cut(numbered, len(kept) - len(numbered), shortened)


def _without_copies(spans: Sequence[Span]) -> list[tuple[Span, str]]:
    """Spans with a note, copies dropped. Of two editions the newer stands before the older, which says so."""
    order = list(range(len(spans)))
    notes: dict[int, str] = {}
    dropped: set[int] = set()
    for twin in find_twins([passage_of(span) for span in spans]):
        if twin.newer in dropped or twin.older in dropped:
            continue
        place_newer, place_older = order.index(twin.newer), order.index(twin.older)
        if place_older < place_newer:
            order[place_newer], order[place_older] = twin.older, twin.newer
        if twin.same:
            dropped.add(twin.older)
        else:
            notes[twin.older] = f"{OLDER}:{spans[twin.newer].best.page_id}"
    return [(spans[place], notes.get(place, "")) for place in order if place not in dropped]


def _note(note: str, numbers: Mapping[str, int]) -> str:
    """``older:PAGE`` as ``older:NUMBER``; empty when the newer one is not among the passages."""
    number = numbers.get(note.removeprefix(f"{OLDER}:"))
    return f"{OLDER}:{number}" if note and number else ""


def renumbered(passages: Sequence[Passage], first: Sequence[Passage]) -> tuple[Passage, ...]:
    """All of ``passages`` numbered anew, those of ``first`` in front: what is shown counts 1, 2, 3 without gaps."""
    shown = {passage.number for passage in first}
    order = [*first, *(passage for passage in passages if passage.number not in shown)]
    numbers = {passage.number: number for number, passage in enumerate(order, 1)}
    return tuple(
        replace(passage, number=number, note=_renumbered_note(passage.note, numbers))
        for number, passage in enumerate(order, 1)
    )


def _renumbered_note(note: str, numbers: Mapping[int, int]) -> str:
    return f"{OLDER}:{numbers[int(note.removeprefix(f'{OLDER}:'))]}" if note else ""
