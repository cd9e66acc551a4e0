"""An answer without a language model: the lines and sentences of the best passages that are nearest to the question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from askwiki.data import Passage
from askwiki.settings import AnswerSettings
from askwiki.stages.links import escape
from askwiki.stages.passages import close_fences
from askwiki.stages.sources import label_of
from askwiki.stemming import telling_stems

_SENTENCE = re.compile(r"(?<=[.!?…])[ \t]+(?=[^\s\da-zа-яё])")
_ROW = re.compile(r"^\s*\|")
_RULE = re.compile(r"^\s*\|(?:\s*:?-+:?\s*\|)+\s*$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"^#{1,6}\s+")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
CONTEXT_SHARE = 0.35  # of a neighbour's own weight that a unit passes on: an answer stands beside its subject
LESSER_SHARE = 0.5  # of the best unit's score that a further unit or passage needs to be quoted as well
HEADING_SHARE = 0.4  # of a heading's own weight that everything under it has
LISTING = 2.0  # weight of rows and items for a question that asks for several things
WHOLE_TABLE, WHOLE_LIST = 1_500, 700  # characters up to which a table or a list is quoted whole
_ASKS_FOR_SEVERAL = re.compile(
    r"\b(?:какие|каких|какими|перечисли\w*|список|перечень|все|виды|варианты|which|list|what are|what kinds)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, a list item, a table row or a line of code; ``line`` = it begins a line."""

    text: str
    kind: str  # text | item | row | code | heading
    line: bool


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
    units = _units(text)
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
        wanted = _around(units, place) - chosen
        cost = sum(len(units[number].text) for number in wanted)
        if not chosen or cost <= left:
            chosen |= wanted
            left -= cost
    return _joined(units, chosen), best


def _scores(units: Sequence[_Unit], weights: Mapping[str, float], listing: bool) -> list[float]:
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


def _around(units: Sequence[_Unit], place: int) -> set[int]:
    """A unit with what it cannot be read without; a sentence with those beside it in its paragraph."""
    chosen = {place, *_belonging(units, place)}
    if units[place].kind == "text":
        if not units[place].line:
            chosen.add(place - 1)
        if place + 1 < len(units) and not units[place + 1].line:
            chosen.add(place + 1)
    return chosen


def _weights(passages: Sequence[Passage], words: Set[str], further: Set[str]) -> dict[str, float]:
    """How much each stem of the question tells: rarer among the passages' units, more. Further words half."""
    units = [set(telling_stems(unit.text)) for passage in passages for unit in _units(passage.text)]
    seen = Counter(word for unit in units for word in unit & (words | further))
    return {
        word: (1.0 if word in words else 0.5) * math.log(1 + len(units) / (1 + seen[word])) for word in words | further
    }


def _near(own: Sequence[float], place: int) -> float:
    before = own[place - 1] if place else 0.0
    after = own[place + 1] if place + 1 < len(own) else 0.0
    return before + after


def _units(text: str) -> list[_Unit]:
    units: list[_Unit] = []
    fence = ""
    for line in text.splitlines():
        if match := _FENCE.match(line):
            fence = "" if fence and match[1].startswith(fence) else fence or match[1]
            units.append(_Unit(line, "code", True))
        elif fence:
            units.append(_Unit(line, "code", True))
        elif _ROW.match(line):
            units.append(_Unit(line, "row", True))
        elif _HEADING.match(line):
            units.append(_Unit(line, "heading", True))
        elif _ITEM.match(line):
            units.append(_Unit(line, "item", True))
        elif line.strip():
            sentences = _SENTENCE.split(line)
            units += [_Unit(sentence, "text", number == 0) for number, sentence in enumerate(sentences)]
    return units


def _belonging(units: Sequence[_Unit], place: int) -> set[int]:
    """What a unit cannot be read without: a row its table's header, code its whole block, a heading its text."""
    kind = units[place].kind
    if kind == "heading":
        return {place + 1, *_belonging(units, place + 1)} if place + 1 < len(units) else set()
    if kind == "text":
        return set()
    first, last = _first_of_run(units, place), _last_of_run(units, place)
    whole = set(range(first, last + 1))
    length = sum(len(units[number].text) for number in whole)
    if kind == "code" or length <= (WHOLE_TABLE if kind == "row" else WHOLE_LIST):
        return whole
    return {first, first + 1} if kind == "row" and last > first else set()


def _first_of_run(units: Sequence[_Unit], place: int) -> int:
    while place and units[place - 1].kind == units[place].kind:
        place -= 1
    return place


def _last_of_run(units: Sequence[_Unit], place: int) -> int:
    while place + 1 < len(units) and units[place + 1].kind == units[place].kind:
        place += 1
    return place


def _joined(units: Sequence[_Unit], chosen: Set[int]) -> str:
    """Chosen units in page order; left-out text is marked, but not left-out rows of a table."""
    text = ""
    last = -1
    for place in sorted(chosen):
        unit = units[place]
        gap = place != last + 1
        if not text:
            text = unit.text if not gap or unit.kind != "text" else f"… {unit.text}"
        elif unit.line:
            apart = gap and not unit.kind == units[last].kind == "row"
            text += ("\n\n" if apart or unit.kind != units[last].kind else "\n") + unit.text
        else:
            text += (" … " if gap else " ") + unit.text
        last = place
    return close_fences(text)


def _as_quote(text: str) -> str:
    """A block quotation; headings inside it become bold, so that they do not look like ours."""
    lines = [re.sub(r"^#{1,6}\s+(.*)$", r"**\1**", line) for line in text.splitlines()]
    return "\n".join(f"> {line}".rstrip() for line in lines)
