"""An answer without a language model: what of the best passages is nearest to the question, whole or with its gaps."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from askwiki.data import Candidate, Passage
from askwiki.language.wording import asks_for_all
from askwiki.settings import AnswerSettings
from askwiki.stages.citations.links import escape
from askwiki.stages.extractive.choosing import above, following, length_of, shown_of
from askwiki.stages.extractive.items import with_short_items
from askwiki.stages.extractive.scoring import Read, Scored, Similar, is_asked_there, rank, read, weights_of
from askwiki.stages.extractive.written import Count, Part, write
from askwiki.stages.sources import label_of

READ_PASSAGES = 6  # passages in which the answer is looked for
NEAR_SHARE = 0.65  # of the best group's score that a further group needs to be quoted as well
SHARE = 0.4  # of all characters that a group may take; what is left at last goes to the first of them
ENTIRE = 2  # times what is left: what the first table or list may take where all of it is asked for
BEHIND = 400  # characters of what goes on from the first group, where there is room
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
    whole = [read(passage) for passage in passages[:READ_PASSAGES]]
    weights = weights_of(whole, question, terms)
    reads = [replace(of, pieces=with_short_items(of.pieces, weights, count)) for of in whole]
    ranked = rank(reads, candidates, question, weights, similar)
    if ranked and is_asked_there(reads[ranked[0].passage], ranked[0], question, weights):
        best = ranked[0]
        ranked = [each for each in ranked if (each.passage, each.group.scope) == (best.passage, best.group.scope)]
    entire = asks_for_all(question)
    if entire:
        ranked = _listing_first(reads, ranked)
    chosen, spare = _widened(*_chosen(reads, ranked, settings, entire=entire))
    quoted = []
    for of, cuts in chosen:
        text = clean(write(of.pieces, _parts(of, cuts, spare), _bearing(of, cuts[0].scored), count))
        quoted.append((of.passage, text.strip()))
        spare = 0
    return [(passage, text) for passage, text in quoted if text]


def _lists(read: Read, scored: Scored) -> bool:
    piece = read.pieces[scored.place]
    return piece.kind in ("table", "list") and not piece.navigates


def _listing_first(reads: Sequence[Read], ranked: Sequence[Scored]) -> list[Scored]:
    """The nearest table or list before the text that is nearer, where all of something is asked for."""
    near = (each for each in ranked if each.score >= NEAR_SHARE * ranked[0].score)
    first = [each for each in near if _lists(reads[each.passage], each)][:1]
    return [*first, *(each for each in ranked if each not in first)]


NONE = (-1, -1)


def _bearing(of: Read, best: Scored) -> tuple[int, int]:
    """(piece, unit) that bears the question and is bold; none where no word tells a row or an item from the others."""
    told_apart = of.pieces[best.place].kind not in ("table", "list") or max(best.near, default=0.0) > 0
    return (best.place, best.unit) if told_apart else NONE


class Cut(NamedTuple):
    """A group with the units of it that are shown."""

    scored: Scored
    shown: dict[int, list[int]]


def _chosen(
    reads: Sequence[Read], ranked: Sequence[Scored], settings: AnswerSettings, *, entire: bool
) -> tuple[list[tuple[Read, list[Cut]]], int]:
    """What is quoted of which passages, in their order, and the characters that are left.

    ``entire``: a list is asked for, so the first table or list may take twice the room that is left.
    """
    left = settings.extractive_characters
    most = SHARE * left
    chosen: dict[int, list[Cut]] = {}
    least = NEAR_SHARE * max((each.score for each in ranked), default=0.0)
    for each in ranked:
        if each.score < least:
            break
        if each.passage not in chosen and len(chosen) == settings.extractive_passages:
            continue
        pieces = reads[each.passage].pieces
        whole = entire and _lists(reads[each.passage], each)
        shown = shown_of(pieces, each, int(ENTIRE * left if whole else min(most, left)), entire=whole)
        length = length_of(pieces, shown)
        if chosen and length > left and not whole:
            continue
        entire = entire and not whole
        chosen.setdefault(each.passage, []).append(Cut(each, shown))
        left -= length
        if left < LEAST_ROOM:
            break
    return [(reads[number], cuts) for number, cuts in chosen.items()], left


def _widened(chosen: Sequence[tuple[Read, list[Cut]]], left: int) -> tuple[list[tuple[Read, list[Cut]]], int]:
    """The same groups, the first ones cut again with the characters that are left; and what is left after that."""
    widened: list[tuple[Read, list[Cut]]] = []
    for of, cuts in chosen:
        again = []
        for scored, shown in cuts:
            length = length_of(of.pieces, shown)
            wider = shown_of(of.pieces, scored, length + max(left, 0))
            more = length_of(of.pieces, wider) - length
            again.append(Cut(scored, wider if more > 0 else shown))
            left -= max(more, 0)
        widened.append((of, again))
    return widened, left


def _parts(of: Read, cuts: Sequence[Cut], spare: int) -> list[Part]:
    """The best group first, with what goes on from it in ``spare`` characters; then the others in page order."""
    best, *others = cuts
    parts: list[Part] = []
    taken: set[int] = set()
    scope: tuple[int | None, int | None] = (None, None)
    for scored, shown in (best, *sorted(others, key=lambda one: one.scored.group.first)):
        group = scored.group
        if group.first in taken or (parts and group.scope != scope and not group.headings):
            continue  # shown already, or it would read as if it stood under the heading above it
        if group.scope != scope or not parts:
            label = of.passage.headings[-1] if of.passage.headings and not parts else ""
            over = above(of.pieces, group, label)
            below = over[1:] if len(over) > 1 and over[0] == scope[0] else over  # the heading is said once
            parts += [(place, [0]) for place in below]
        scope = group.scope
        parts += shown.items()
        taken |= set(group.places)
        whole = len(shown[group.last]) == len(of.pieces[group.last].units)
        if scored is best.scored and whole:
            behind = following(of.pieces, of.groups, group, min(spare, BEHIND))
            parts += behind.items()
            taken |= set(behind)
    return parts


def as_markdown(quoted: Sequence[tuple[Passage, str]]) -> str:
    """Each quotation under the name and number of its passage."""
    return "\n\n".join(
        f"**{escape(label_of(passage))}** [{passage.number}]\n\n{_as_quote(text)}" for passage, text in quoted
    )


def _as_quote(text: str) -> str:
    """A block quotation; headings inside it become bold, so that they do not look like ours."""
    lines = [_HEADING.sub(lambda match: f"**{match[1].replace('**', '')}**", line) for line in text.splitlines()]
    return "\n".join(f"> {line}".rstrip() for line in lines)
