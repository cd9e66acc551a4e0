"""Which of the found texts tell the same thing twice, and which is the newer."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from askwiki.data import Passage
from askwiki.language import en, ru
from askwiki.language.stems import fold, telling_stems
from askwiki.stages.evidence.facts import exact_facts

SAME_TEXT = 0.85  # share of common word pairs (Jaccard) from which two texts say the same words
SAME_THING = 0.35  # the same, for texts whose titles differ in nothing but year or version
OLD = ("outdated", "archived")  # states of pages that another one is in force beside
LEAST_PAIRS = 8  # of words without numbers that make a text; fewer are a row of a table
_EDITION = re.compile(
    r"\b(?:19|20)\d\d\b"  # 2024
    r"|\bv(?:er|ersion)?\.?\s*\d+(?:\.\d+)*\b"  # v2.1, version 3
    rf"|\b(?:{'|'.join((*ru.EDITIONS, *en.EDITIONS))})\s*\d*"  # редакция 3
    rf"|\((?:{'|'.join((*ru.EDITION_REMARKS, *en.EDITION_REMARKS))})[^()]*+\)"  # (архив 2019)
    rf"|\b(?:{'|'.join((*ru.EDITION_WORDS, *en.EDITION_WORDS))})\b"  # Устаревший
    r"|№\s*\d+",  # № 12
    re.IGNORECASE,
)
_STALE = re.compile(rf"\b(?:{'|'.join((*ru.STALE, *en.STALE))})\b", re.IGNORECASE)
_VERSION = re.compile(
    rf"\b(?:{'|'.join((*en.EDITIONS_NUMBERED, *ru.EDITIONS_NUMBERED))})\.?\s*(\d+(?:\.\d+)*)", re.IGNORECASE
)
_NEGATION = re.compile(rf"\b(?:{'|'.join((*ru.NEGATIONS, *en.NEGATIONS))})\b|n't\b", re.IGNORECASE)

Kind = Literal["copy", "edition", "differs"]


@dataclass(frozen=True, slots=True)
class Twin:
    """``older`` is a ``copy`` that says no more, an earlier ``edition``, or ``differs``: another thing told alike."""

    newer: int  # places in the list of passages
    older: int
    kind: Kind


class _Told(NamedTuple):
    """What is compared of a passage, worked out once: every one is held against every other."""

    passage: Passage
    name: tuple[str, str]
    title: frozenset[str]  # stems of the name
    age: tuple[bool, int, tuple[int, ...], str]
    shingles: Set[tuple[str, str]]
    words: frozenset[str]


def find_twins(passages: Sequence[Passage]) -> list[Twin]:
    """Pairs of passages of different pages that tell one thing twice, or almost, the newer first."""
    told = [_told(passage) for passage in passages]
    twins = []
    for later, one in enumerate(told):
        for earlier, other in enumerate(told[:later]):
            if one.passage.page_id == other.passage.page_id:
                continue
            alike = _jaccard(other.shingles, one.shingles)
            if alike < SAME_THING and one.name != other.name:
                continue
            newer, older = (later, earlier) if one.age > other.age else (earlier, later)
            kind = _kind(told[newer], told[older], alike)
            if kind is not None:
                twins.append(Twin(newer, older, kind))
    return twins


def _told(passage: Passage) -> _Told:
    name, words = _name(passage), telling_stems(passage.text)
    return _Told(
        passage,
        name,
        frozenset(telling_stems(" ".join(name))),
        _age(passage),
        _shingles(words),
        frozenset(words),
    )


def _kind(newer: _Told, older: _Told, alike: float) -> Kind | None:
    """A copy may be left out, so it must not hold a word, a number or a "not" that the newer one has not."""
    if alike >= SAME_TEXT and older.words <= newer.words and _states_no_more(older.passage.text, newer.passage.text):
        return "copy"
    if newer.name == older.name and (alike >= SAME_THING or newer.passage.title != older.passage.title):
        return "edition"
    if alike < SAME_TEXT:
        return None
    return "edition" if newer.title <= older.title or older.title <= newer.title else "differs"


def _states_no_more(older: str, newer: str) -> bool:
    (older_facts, older_nots), (newer_facts, newer_nots) = _statements(older), _statements(newer)
    return older_nots == newer_nots and older_facts <= newer_facts


@lru_cache(maxsize=256)  # few texts are so alike that they are asked, and those by all their likes
def _statements(text: str) -> tuple[frozenset[str], int]:
    """Exact facts, and how often it says "not"."""
    return frozenset(exact_facts(text)), len(_NEGATION.findall(text))


def _name(passage: Passage) -> tuple[str, str]:
    """Title without year and version, and the last heading."""
    title = " ".join(_EDITION.sub(" ", fold(passage.title)).replace("(", " ").replace(")", " ").split())
    return title, fold(passage.headings[-1]) if passage.headings else ""


def _age(passage: Passage) -> tuple[bool, int, tuple[int, ...], str]:
    """Greater is newer: not called old, year and version of the title, last edit. Of equals the better ranked leads."""
    current = passage.state not in OLD and not _STALE.search(" / ".join((*passage.path, passage.title)))
    years = [int(year) for year in re.findall(r"\b(?:19|20)\d\d\b", passage.title)]
    version = _VERSION.search(passage.title)
    numbers = tuple(map(int, version[1].split("."))) if version else ()
    return current, max(years, default=0), numbers, passage.updated


def _shingles(words: Sequence[str]) -> Set[tuple[str, str]]:
    """Pairs of words, the numbers left out where there is enough else: two texts may differ in just them."""
    pairs = set(pairwise(word for word in words if not word.isdigit()))
    return pairs if len(pairs) >= LEAST_PAIRS else set(pairwise(words))


def _jaccard(one: Set[tuple[str, str]], other: Set[tuple[str, str]]) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0
