"""An answer without a language model: the lines and sentences of the best passages that are nearest to the question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set

from askwiki.data import Passage
from askwiki.settings import AnswerSettings
from askwiki.stages.links import escape
from askwiki.stages.quotable import Unit, join_units, units_of, with_context
from askwiki.stages.sources import label_of
from askwiki.stemming import telling_stems

CONTEXT_SHARE = 0.35  # of a neighbour's own weight that a unit passes on: an answer stands beside its subject
LESSER_SHARE = 0.5  # of the best unit's score that a further unit or passage needs to be quoted as well
HEADING_SHARE = 0.4  # of a heading's own weight that everything under it has
LISTING = 2.0  # weight of rows and items for a question that asks for several things
_ASKS_FOR_SEVERAL = re.compile(
    r"\b(?:какие|каких|какими|перечисли\w*|список|перечень|все|виды|варианты|which|list|what are|what kinds)\b",
    re.IGNORECASE,
)


def extract(
    passages: Sequence[Passage],
    question: str,
    terms: Sequence[str],
    settings: AnswerSettings,
    clean: Callable[[str], str] = lambda text: text,
) -> list[tuple[Passage, str]]:
    """(passage, quotation) best first; ``clean`` makes wiki text harmless. Later ones only if they are near, too."""
    weights = _weights(passages, set(telling_stems(question)), set(telling_stems(" ".join(terms))))
    quoted: list[tuple[Passage, str]] = []
    listing = bool(_ASKS_FOR_SEVERAL.search(question))
    best = 0.0
    for passage in passages[: settings.extractive_passages]:
        text, score = best_part(passage.text, weights, settings.extractive_characters, listing=listing)
        if text and (not quoted or score >= LESSER_SHARE * best):
            quoted.append((passage, clean(text).strip()))
            best = max(best, score)
    return quoted


def as_markdown(quoted: Sequence[tuple[Passage, str]]) -> str:
    """Each quotation under the name and number of its passage."""
    return "\n\n".join(
        f"**{escape(label_of(passage))}** [{passage.number}]\n\n{_as_quote(text)}" for passage, text in quoted
    )


def best_part(text: str, weights: Mapping[str, float], characters: int, *, listing: bool = False) -> tuple[str, float]:
    """(the part of ``text`` of about ``characters`` around its best units, in page order; the best unit's score)."""
    units = units_of(text)
    if not units:
        return "", 0.0
    scores = _scores(units, weights, listing)
    order = sorted(range(len(units)), key=lambda place: (-scores[place], place))
    best = scores[order[0]]
    if sum(len(unit.text) for unit in units) <= characters:
        return text.strip(), best
    chosen: set[int] = set()
    left = characters
    for place in order:
        if chosen and scores[place] < LESSER_SHARE * best:
            break
        wanted = with_context(units, place) - chosen
        cost = sum(len(units[number].text) for number in wanted)
        if not chosen or cost <= left:
            chosen |= wanted
            left -= cost
    return join_units(units, chosen), best


def _scores(units: Sequence[Unit], weights: Mapping[str, float], listing: bool) -> list[float]:
    """The weight of a unit's own words, with a share of its neighbours' and of the heading it stands under."""
    own = [sum(weights.get(word, 0.0) for word in set(telling_stems(unit.text))) for unit in units]
    scores: list[float] = []
    heading = 0.0
    for place, unit in enumerate(units):
        if unit.kind == "heading":
            heading = own[place]
        score = own[place] + CONTEXT_SHARE * _near(own, place)
        if unit.kind != "heading":
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
    lines = [re.sub(r"^#{1,6}\s+(.*)$", r"**\1**", line) for line in text.splitlines()]
    return "\n".join(f"> {line}".rstrip() for line in lines)
