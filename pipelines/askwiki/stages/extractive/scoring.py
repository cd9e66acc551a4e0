"""How near each group of the passages is to the question: by words, by meaning, by what the search found of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from askwiki.data import Candidate, Passage
from askwiki.language.stems import telling_stems
from askwiki.stages.extractive.groups import Group, groups_of
from askwiki.stages.extractive.pieces import Piece, pieces_of

FURTHER = 0.5  # weight of a synonym or another spelling, against the question's own words
ABOVE = 0.4  # of the own weight of a heading, a bold line, a lead-in that all below it has
BY_WORDS, BY_MEANING, BY_SEARCH = 0.3, 0.2, 0.5  # weights of the three, each between 0 and 1; measured
READ = 20  # groups whose meaning is compared, the nearest by words and search first; a group takes 30 ms of a core
ASKED = 0.7  # of the question's words that a question of the page has where it is the same one
NAVIGATION = 0.3  # of its score that a list of links keeps
MEANT = 700  # characters of a group that the encoder reads

Similar = Callable[[Sequence[str]], Sequence[float]]  # texts -> how near each is to the question by meaning


@dataclass(frozen=True, slots=True)
class Scored:
    """A group of a passage with the unit in it that is nearest to the question."""

    group: Group
    place: int  # of the piece that holds the unit
    unit: int
    words: float  # by the question's words
    near: tuple[float, ...]  # each unit of that piece by the words that tell it from the others
    passage: int = 0  # its place among the passages
    found: float = 0.0  # by the search, 0 to 1
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Read:
    """A passage taken apart."""

    passage: Passage
    pieces: Sequence[Piece]
    groups: Sequence[Group]


def read(passage: Passage) -> Read:
    pieces = pieces_of(passage.text)
    return Read(passage, pieces, groups_of(pieces))


def rank(
    passages: Sequence[Read],
    candidates: Sequence[Candidate],
    question: str,
    weights: Mapping[str, float],
    similar: Similar | None = None,
) -> list[Scored]:
    """All groups of the passages, the nearest first. Without ``similar`` words and search decide alone."""
    groups = []
    for number, read in enumerate(passages):
        lifts = _lifts(read.passage, candidates)
        for group in read.groups:
            scored = best_unit(read.pieces, group, weights, read.passage.title)
            groups.append(replace(scored, passage=number, found=_found(read, scored, lifts)))
    most = max((group.words for group in groups), default=0.0) or 1.0
    groups = [replace(each, score=BY_WORDS * each.words / most + BY_SEARCH * each.found) for each in groups]
    ordered = _sorted([replace(each, score=each.score * _share(passages[each.passage], each)) for each in groups])
    if similar is None or not ordered:
        return ordered
    first = ordered[:READ]
    near = similar([meaning(passages[each.passage], each.group) for each in first])
    middle, best = fmean(near), max(near)
    spread = best - middle or 1.0
    return _sorted(
        [
            replace(each, score=each.score + BY_MEANING * (one - middle) / spread)
            for each, one in zip(first, near, strict=True)
        ]
    )


def meaning(read: Read, group: Group) -> str:
    """What the encoder reads of a group: where it stands, then what it says."""
    above = (read.pieces[place].text.lstrip("# ").strip("*") for place in (*group.headings, *_of(group.subheading)))
    path = " › ".join((read.passage.title, *above))
    text = "\n".join(read.pieces[place].text for place in group.places)
    return f"{path[:200]}\n{text[:MEANT]}"


def is_asked_there(read: Read, scored: Scored, question: str, weights: Mapping[str, float]) -> bool:
    """Whether a group is the answer to a question of a FAQ that is the one asked, in most of its words."""
    over = (
        scored.group.subheading if scored.group.subheading is not None else next(iter(scored.group.headings[-1:]), None)
    )
    if over is None or not read.pieces[over].text.rstrip("*_: ").endswith("?"):
        return False
    asked = {word: weights.get(word, 0.0) for word in set(telling_stems(question))}
    return _weight(read.pieces[over].text, asked) >= ASKED * (sum(asked.values()) or 1.0)


def _sorted(groups: Sequence[Scored]) -> list[Scored]:
    return sorted(groups, key=lambda each: (-each.score, each.passage, each.place))


def best_unit(pieces: Sequence[Piece], group: Group, weights: Mapping[str, float], title: str = "") -> Scored:
    """The unit of a group that says most of the question's words, with those above it.

    A row or an item is told from the others of its table or list by words that stand neither above them all nor in the
    page's title: «статусы перевода» asks for the table «Список статусов», not for the rows in it that say «перевод».
    """
    above = sum(_weight(pieces[place].text, weights) for place in (*group.headings, *_of(group.subheading)))
    units = [(place, at, unit) for place in group.places for at, unit in enumerate(pieces[place].units)]
    own = [_weight(unit.text, weights) for _, _, unit in units]
    best = (-1.0, group.first, 0)
    for at, (place, number, _) in enumerate(units):
        piece = pieces[place]
        lead = _weight(pieces[place - 1].text, weights) if place > group.first else 0.0
        head = _weight(piece.head, weights) if piece.kind == "table" else 0.0
        words = own[at] + ABOVE * (above + lead + head)
        best = max(best, (words, place, number), key=lambda one: one[0])
    words, place, number = best
    alone: tuple[float, ...]
    if pieces[place].kind not in ("table", "list"):
        alone = tuple(score for (of, _, _), score in zip(units, own, strict=True) if of == place)
        return Scored(group, place, number, words, alone)
    leading = pieces[place - 1].text if place > group.first else ""
    above_all = (pieces[each].text for each in (*group.headings, *_of(group.subheading)))
    topic = set(telling_stems("\n".join((title, *above_all, leading, pieces[place].head))))
    telling = {word: weight for word, weight in weights.items() if word not in topic}
    alone = tuple(_weight(unit.text, telling) for unit in pieces[place].units)
    return Scored(group, place, alone.index(max(alone)), words, alone)


def _share(read: Read, scored: Scored) -> float:
    """Of its score that a group keeps: a list of nothing but links names the question's words and answers nothing."""
    return NAVIGATION if all(read.pieces[place].navigates for place in scored.group.places) else 1.0


def _found(read: Read, scored: Scored, lifts: Sequence[tuple[int, int, float]]) -> float:
    start = read.pieces[scored.place].units[scored.unit].start
    return max((share for begin, end, share in lifts if begin <= start < end), default=0.0)


def _of(place: int | None) -> tuple[int, ...]:
    return () if place is None else (place,)


def _weight(text: str, weights: Mapping[str, float]) -> float:
    return sum(weights.get(word, 0.0) for word in set(telling_stems(text)))


def weights_of(passages: Sequence[Read], question: str, terms: Sequence[str]) -> dict[str, float]:
    """How much each stem of the question tells: rarer among the units of the passages, more; of ``terms`` half."""
    words, further = set(telling_stems(question)), set(telling_stems(" ".join(terms)))
    units = [set(telling_stems(unit.text)) for read in passages for piece in read.pieces for unit in piece.units]
    seen = Counter(word for unit in units for word in unit & (words | further))
    return {
        word: (1.0 if word in words else FURTHER) * math.log(1 + len(units) / (1 + seen[word]))
        for word in words | further
    }


def _lifts(passage: Passage, candidates: Sequence[Candidate]) -> list[tuple[int, int, float]]:
    """Where the found chunks lie in the passage, and how near the search thought each: 1 the best, 0 the last."""
    if not candidates:
        return []
    top, low = candidates[0].score, candidates[-1].score
    lifts = []
    for candidate in (each for each in candidates if each.chunk.page_id == passage.page_id):
        text = candidate.chunk.text[candidate.chunk.overlap :].strip()
        start = passage.text.find(text) if text else -1
        if start >= 0:
            lifts.append((start, start + len(text), (candidate.score - low) / (top - low) if top > low else 1.0))
    return lifts
