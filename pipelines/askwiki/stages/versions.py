"""Which of the found texts tell the same thing twice, and which is the newer."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from askwiki.data import Passage
from askwiki.stemming import fold, telling_stems

SAME_TEXT = 0.85  # share of common word pairs (Jaccard) from which two texts say the same words
SAME_THING = 0.35  # the same, for texts whose titles differ in nothing but year or version
_EDITION = re.compile(
    r"\b(?:19|20)\d\d\b|\bv(?:er|ersion)?\.?\s*\d+(?:\.\d+)*\b|\b(?:верси[яи]|редакци[яи]|ред\.?|rev\.?|edition)\s*\d*"
    r"|\((?:архив|старый|старая|устарел\w*|old|archive[d]?|draft|черновик|новый|новая|new|копия|copy)[^)]*\)"
    r"|\b(?:архив|устарел\w*|old|archived|копия|copy)\b|№\s*\d+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Twin:
    """``older`` repeats ``newer`` (``same``) or is an earlier edition of it that may say otherwise."""

    newer: int  # places in the list of passages
    older: int
    same: bool


def find_twins(passages: Sequence[Passage]) -> list[Twin]:
    """Pairs of passages of different pages that are copies or editions of one thing, the newer first."""
    shingles = [_shingles(passage.text) for passage in passages]
    names = [_name(passage) for passage in passages]
    twins = []
    for later in range(len(passages)):
        for earlier in range(later):
            if passages[earlier].page_id == passages[later].page_id:
                continue
            alike = _jaccard(shingles[earlier], shingles[later])
            same = alike >= SAME_TEXT
            named_alike = names[earlier] == names[later]
            edition = named_alike and passages[earlier].title != passages[later].title
            if same or edition or (alike >= SAME_THING and named_alike):
                newer, older = _by_age(passages, earlier, later)
                twins.append(Twin(newer, older, same))
    return twins


def _name(passage: Passage) -> tuple[str, str]:
    """Title without year and version, and the last heading."""
    title = " ".join(_EDITION.sub(" ", fold(passage.title)).replace("(", " ").replace(")", " ").split())
    return title, fold(passage.headings[-1]) if passage.headings else ""


def _by_age(passages: Sequence[Passage], one: int, other: int) -> tuple[int, int]:
    """(newer, older); a year in the title says more than the date of the last edit; else the better ranked leads."""
    key_one, key_other = _age(passages[one]), _age(passages[other])
    return (other, one) if key_other > key_one else (one, other)


def _age(passage: Passage) -> tuple[int, str]:
    years = [int(year) for year in re.findall(r"\b(?:19|20)\d\d\b", passage.title)]
    return max(years, default=0), passage.updated


def _shingles(text: str) -> Set[tuple[str, str]]:
    words = telling_stems(text)
    return set(pairwise(words))


def _jaccard(one: Set[tuple[str, str]], other: Set[tuple[str, str]]) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0
