"""An answer without a language model: the lines and sentences of the best passages that are nearest to the question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from askwiki.data import Candidate, Passage
from askwiki.language.stems import telling_stems
from askwiki.settings import AnswerSettings
from askwiki.stages.citations.links import escape
from askwiki.stages.extractive.quotable import following, join_units, with_context
from askwiki.stages.extractive.units import QuoteUnit, units_of
from askwiki.stages.sources import label_of

CONTEXT_SHARE = 0.35  # of a neighbour's own weight that a unit passes on: an answer stands beside its subject
LESSER_SHARE = 0.5  # of the best unit's score that a further unit needs to be quoted as well
NEXT_SHARE = 0.5  # of the best passage's score that a further passage needs
FOUND = 2.0  # how much more the words of the best found chunk count than those of what was joined to it
HEADING_SHARE = 0.4  # of a heading's own weight that everything under it has
LISTING = 2.0  # weight of rows and items for a question that asks for several things
_ASKS_FOR_SEVERAL = re.compile(
    r"\b(?:какие|каких|какими|перечисли\w*|список|перечень|все|виды|варианты|which|list|what are|what kinds)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^#{1,6}\s+(.*)$")


class _Lift(NamedTuple):
    """``text[start:end]`` of a passage counts so many times."""

    start: int
    end: int
    times: float


def extract(
    passages: Sequence[Passage],
    candidates: Sequence[Candidate],
    question: str,
    terms: Sequence[str],
    settings: AnswerSettings,
    clean: Callable[[str], str] = lambda text: text,
) -> list[tuple[Passage, str]]:
    """(passage, quotation) best first, each half as long as the one before; later ones only if they are near, too.

    What the search found of a passage (``candidates``) counts more than what was joined to it.
    ``clean`` makes wiki text harmless.
    """
    weights = _weights(passages, set(telling_stems(question)), set(telling_stems(" ".join(terms))))
    quoted: list[tuple[Passage, str]] = []
    listing = bool(_ASKS_FOR_SEVERAL.search(question))
    best, room = 0.0, settings.extractive_characters
    for passage in passages[: settings.extractive_passages]:
        lifts = _lifts(passage, candidates)
        text, score = best_part(passage.text, weights, room, listing=listing, lifts=lifts)
        if text and (not quoted or score >= NEXT_SHARE * best):
            quoted.append((passage, clean(text).strip()))
            best, room = max(best, score), room // 2
    return quoted


def _lifts(passage: Passage, candidates: Sequence[Candidate]) -> list[_Lift]:
    """Where the found chunks lie in the passage, and how much more their words count."""
    if not candidates:
        return []
    top, low = candidates[0].score, candidates[-1].score
    lifts = []
    for candidate in (each for each in candidates if each.chunk.page_id == passage.page_id):
        text = candidate.chunk.text[candidate.chunk.overlap :].strip()
        start = passage.text.find(text) if text else -1
        if start >= 0:
            share = (candidate.score - low) / (top - low) if top > low else 1.0
            lifts.append(_Lift(start, start + len(text), 1.0 + FOUND * share))
    return lifts


def as_markdown(quoted: Sequence[tuple[Passage, str]]) -> str:
    """Each quotation under the name and number of its passage."""
    return "\n\n".join(
        f"**{escape(label_of(passage))}** [{passage.number}]\n\n{_as_quote(text)}" for passage, text in quoted
    )


def best_part(
    text: str,
    weights: Mapping[str, float],
    characters: int,
    *,
    listing: bool = False,
    lifts: Sequence[_Lift] = (),
) -> tuple[str, float]:
    """(the part of ``text`` of about ``characters`` at its best units, in page order; the best unit's score)."""
    units = units_of(text)
    if not units:
        return "", 0.0
    plain = _scores(units, weights, listing)
    scores = [score * _lift(unit, lifts) for unit, score in zip(units, plain, strict=True)]
    order = sorted(range(len(units)), key=lambda place: (-scores[place], place))
    best = scores[order[0]]
    if sum(len(unit.text) for unit in units) <= characters:
        return join_units(units, set(range(len(units)))), plain[order[0]]
    chosen: set[int] = set()
    left = characters
    for place in order:
        if chosen and scores[place] < LESSER_SHARE * best:
            break
        ways = (with_context(units, place, whole=whole) for whole in (True, False))
        if wanted := next((way for way in ways if not chosen or _length(units, way - chosen) <= left), None):
            left -= _length(units, wanted - chosen)
            chosen |= wanted
            left = _fill(chosen, units, following(units, max(wanted)), left)
    for place in [place for place in order if place in chosen]:
        left = _fill(chosen, units, following(units, place, below=True), left)
    return join_units(units, chosen), plain[order[0]]


def _fill(chosen: set[int], units: Sequence[QuoteUnit], steps: Iterator[set[int]], left: int) -> int:
    """Add what follows to ``chosen`` while there is room; the room that is left."""
    for step in steps:
        length = _length(units, step - chosen)
        if length > left:
            break
        left -= length
        chosen |= step
    return left


def _lift(unit: QuoteUnit, lifts: Sequence[_Lift]) -> float:
    return max((lift.times for lift in lifts if lift.start <= unit.start < lift.end), default=1.0)


def _length(units: Sequence[QuoteUnit], places: Set[int]) -> int:
    return sum(len(units[place].text) for place in places)


def _scores(units: Sequence[QuoteUnit], weights: Mapping[str, float], listing: bool) -> list[float]:
    """The weight of a unit's own words, with a share of its neighbours' and of the heading it stands under."""
    own = [sum(weights.get(word, 0.0) for word in set(telling_stems(unit.text))) for unit in units]
    scores: list[float] = []
    heading = 0.0
    for place, unit in enumerate(units):
        score = own[place] + CONTEXT_SHARE * _near(own, place)
        if unit.kind == "heading":
            heading = own[place]
        else:
            score += HEADING_SHARE * heading
        scores.append(score * (LISTING if listing and unit.kind in ("row", "item") else 1.0))
    return scores


def _weights(passages: Sequence[Passage], words: Set[str], further: Set[str]) -> dict[str, float]:
    """How much each stem of the question tells: rarer among the passages' units, more. Further words half."""
    units = [set(telling_stems(unit.text)) for passage in passages for unit in units_of(passage.text)]
    seen = Counter(word for unit in units for word in unit & (words | further))
    return {
        word: (1.0 if word in words else 0.5) * math.log(1 + len(units) / (1 + seen[word])) for word in words | further
    }


def _near(own: Sequence[float], place: int) -> float:
    before = own[place - 1] if place else 0.0
    after = own[place + 1] if place + 1 < len(own) else 0.0
    return before + after


def _as_quote(text: str) -> str:
    """A block quotation; headings inside it become bold, so that they do not look like ours."""
    lines = [_HEADING.sub(lambda match: f"**{match[1].replace('**', '')}**", line) for line in text.splitlines()]
    return "\n".join(f"> {line}".rstrip() for line in lines)
