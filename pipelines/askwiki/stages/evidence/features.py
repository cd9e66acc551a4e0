"""What a clause shares with the passages that were given, as numbers from which its support is scored."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from askwiki.language import en, ru
from askwiki.language.stems import fold, telling_stems
from askwiki.stages.evidence import polarity
from askwiki.stages.evidence.facts import Facts, facts_of
from askwiki.stages.evidence.known import BEGINNING, Known
from askwiki.stages.evidence.names import stands_among

MOST = 3  # of one kind of fault that is counted
_OF_SOURCES = re.compile(rf"\b(?:{'|'.join((*ru.OF_SOURCES, *en.OF_SOURCES))})", re.IGNORECASE)

NAMES = (
    *("held", "held_or_asked", "held_by_weight", "same_root", "nearest", "two_nearest", "pairs", "nearby"),
    *("unseen", "unseen_run", "length", "numbers", "numbers_missing", "identifiers_missing", "names", "names_missing"),
    *("denies", "asked", "of_sources"),
)


def features(clause: str, facts: Facts, sources: Sequence[Known], asked: frozenset[str]) -> list[float]:
    """The values of ``NAMES``, shares from 0 to 1, counts as logarithms or up to ``MOST``.

    ``facts``: those of the clause that need a source. ``asked`` = stems of the question.
    """
    words = telling_stems(clause)
    distinct = frozenset(words)
    seen = frozenset[str]().union(*(source.stems for source in sources))
    roots = frozenset[str]().union(*(source.roots for source in sources))
    pairs = list(pairwise(words))
    near = sorted(
        ((source.share(distinct, place), at, place) for at, source in enumerate(sources)
         for _, place in source.nearest(distinct)), reverse=True,
    )[:4] if distinct else []  # fmt: skip
    held_there = [distinct & (sources[at].told[place].stems | sources[at].told[place].above) for _, at, place in near]
    two = max((len(one | other) for one in held_there for other in held_there), default=0)
    unseen = [word for word in words if word not in seen]
    weights = [max((source.weights.get(word, 0.0) for source in sources), default=0.0) or 1.0 for word in words]
    stated = facts_of(clause)
    forms = frozenset[str]().union(*(source.forms for source in sources))
    count = max(1, len(words))
    return [
        _share(sum(word in seen for word in words), count),
        _share(sum(word in seen or word in asked for word in words), count),
        _share(sum(weight for word, weight in zip(words, weights, strict=True) if word in seen), sum(weights)),
        _share(sum(word in seen or word[:BEGINNING] in roots for word in words), count),
        near[0][0] if near else 0.0,
        _share(two, len(distinct)),
        _share(sum(any(pair in source.pairs for source in sources) for pair in pairs), len(pairs)),
        _share(sum(any(frozenset(pair) in source.near_pairs for source in sources) for pair in pairs), len(pairs)),
        math.log1p(sum(word not in asked for word in unseen)),
        math.log1p(_longest_run([word not in seen for word in words])),
        math.log1p(len(words)),
        min(MOST, len(stated.numbers)),
        min(MOST, len(facts.numbers - frozenset[str]().union(*(source.numbers for source in sources)))),
        min(MOST, len(facts.identifiers - frozenset[str]().union(*(source.words for source in sources)))),
        min(MOST, len(stated.names)),
        min(MOST, sum(not stands_among(name, forms) for name in facts.names)),
        float(polarity.denies(clause)),
        _share(sum(word in asked for word in words), count),
        float(bool(_OF_SOURCES.search(fold(clause)))),
    ]


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _longest_run(marks: Sequence[bool]) -> int:
    longest = run = 0
    for mark in marks:
        run = run + 1 if mark else 0
        longest = max(longest, run)
    return longest
