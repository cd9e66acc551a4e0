"""An answer without a language model: what of the best passages is nearest to the question, whole or with its gaps."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from askwiki.data import Candidate, Passage
from askwiki.settings import AnswerSettings
from askwiki.stages.citations.links import escape
from askwiki.stages.extractive.choosing import above, following, length_of, shown_of
from askwiki.stages.extractive.scoring import Read, Scored, Similar, rank, read
from askwiki.stages.extractive.written import Count, Part, write
from askwiki.stages.sources import label_of

READ_PASSAGES = 6  # passages in which the answer is looked for
NEAR_SHARE = 0.55  # of the best group's score that a further group needs to be quoted as well
LEAST_ROOM = 120  # characters; for less nothing further is quoted
_HEADING = re.compile(r"^#{1,6}\s+(.*)$")


def extract(
    passages: Sequence[Passage],
    candidates: Sequence[Candidate],
    question: str,
    terms: Sequence[str],
    settings: AnswerSettings,
    count: Count,
    clean: Callable[[str], str] = lambda text: text,
    similar: Similar | None = None,
) -> list[tuple[Passage, str]]:
    """(passage, quotation), the one that bears the question first; together about ``extractive_characters`` long.

    ``candidates`` = what the search found of the passages, ``clean`` makes wiki text harmless, ``similar`` compares
    texts with the question by meaning; without it words decide.
    """
    reads = [read(passage) for passage in passages[:READ_PASSAGES]]
    ranked = rank(reads, candidates, question, terms, similar)
    quoted = []
    for of, scored, room in _chosen(reads, ranked, settings):
        if text := clean(_quotation(of, scored, room)(count)).strip():
            quoted.append((of.passage, text))
    return quoted


def _chosen(
    reads: Sequence[Read], ranked: Sequence[Scored], settings: AnswerSettings
) -> list[tuple[Read, list[Scored], int]]:
    """Which groups of which passages, in the order in which they are quoted, and the room for each passage."""
    room = settings.extractive_characters
    by_passage: dict[int, list[Scored]] = {}
    rooms: dict[int, int] = {}
    for each in ranked:
        if by_passage and each.score < NEAR_SHARE * ranked[0].score:
            break
        if each.passage not in by_passage and len(by_passage) == settings.extractive_passages:
            continue
        of = reads[each.passage]
        shown = shown_of(of.pieces, each, room)
        length = length_of(of.pieces, shown)
        if by_passage and (length > room or room < LEAST_ROOM):
            continue
        by_passage.setdefault(each.passage, []).append(each)
        rooms[each.passage] = rooms.get(each.passage, 0) + length
        room -= length
    if by_passage and room > 0:
        rooms[next(iter(by_passage))] += room
    return [(reads[number], groups, rooms[number]) for number, groups in by_passage.items()]


def _quotation(of: Read, groups: Sequence[Scored], room: int) -> Callable[[Count], str]:
    """The best group first, with what goes on from it where there is room; then the others in page order."""
    best, *others = groups
    label = of.passage.headings[-1] if of.passage.headings else ""
    taken: set[int] = set()
    parts: list[Part] = []
    scope: object = None
    for each in (best, *sorted(others, key=lambda one: one.group.first)):
        if each.group.first in taken:
            continue
        shown = shown_of(of.pieces, each, room)
        room -= length_of(of.pieces, shown)
        if parts and each.group.scope != scope and not each.group.headings:
            continue  # it would read as if it stood under the heading above it
        if each.group.scope != scope or not parts:
            named = label if not parts else ""
            parts += [(place, [0]) for place in above(of.pieces, each.group, named)]
        scope = each.group.scope
        parts += shown.items()
        taken |= set(each.group.places)
        whole = len(shown[each.group.last]) == len(of.pieces[each.group.last].units)
        if each is best and whole:
            others_first = {one.group.first for one in others}
            spare = room - sum(length_of(of.pieces, shown_of(of.pieces, one, room)) for one in others)
            for place, units in following(of.pieces, of.groups, each.group, spare).items():
                parts.append((place, units))
                taken.add(place)
                room -= length_of(of.pieces, {place: units})
            del others_first
    return lambda count: write(of.pieces, parts, (best.place, best.unit), count)


def as_markdown(quoted: Sequence[tuple[Passage, str]]) -> str:
    """Each quotation under the name and number of its passage."""
    return "\n\n".join(
        f"**{escape(label_of(passage))}** [{passage.number}]\n\n{_as_quote(text)}" for passage, text in quoted
    )


def _as_quote(text: str) -> str:
    """A block quotation; headings inside it become bold, so that they do not look like ours."""
    lines = [_HEADING.sub(lambda match: f"**{match[1].replace('**', '')}**", line) for line in text.splitlines()]
    return "\n".join(f"> {line}".rstrip() for line in lines)
