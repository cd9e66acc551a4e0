"""Measures of a ranking: recall, reciprocal rank and nDCG over a question's gold entries.

Ranks count from 1; None = not found. Binary gain and the logarithmic discount are those of Järvelin
and Kekäläinen 2002 (Cumulated gain-based evaluation of IR techniques).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean

from askwiki.evaluate.outcome import Hit

DEPTHS = (1, 5, 10, 50)
CUT = 10  # MRR@10, nDCG@10
NAMES = (*(f"recall@{depth}" for depth in DEPTHS), f"mrr@{CUT}", f"ndcg@{CUT}")

Ranks = Sequence[int | None]


def snippet_ranks(hits: Iterable[Hit], entries: int) -> Ranks:
    """For each gold entry the rank of the first chunk that holds its snippet."""
    first: dict[int, int] = {}
    for rank, hit in enumerate(hits, start=1):
        for entry in hit.snippets:
            first.setdefault(entry, rank)
    return [first.get(entry) for entry in range(entries)]


def page_ranks(hits: Iterable[Hit], entries: int) -> Ranks:
    """For each gold entry the rank of its page, each page counted once, where it first appears."""
    first: dict[int, int] = {}
    seen: dict[str, int] = {}
    for hit in hits:
        rank = seen.setdefault(hit.page, len(seen) + 1)
        for entry in hit.pages:
            first.setdefault(entry, rank)
    return [first.get(entry) for entry in range(entries)]


def measures(ranks: Ranks) -> dict[str, float]:
    """All measures of one question; ``ranks`` holds at least one gold entry."""
    found = {f"recall@{depth}": recall(ranks, depth) for depth in DEPTHS}
    return {**found, f"mrr@{CUT}": reciprocal_rank(ranks, CUT), f"ndcg@{CUT}": ndcg(ranks, CUT)}


def recall(ranks: Ranks, depth: int) -> float:
    """Share of the gold entries found among the first ``depth``."""
    return fmean(rank is not None and rank <= depth for rank in ranks)


def reciprocal_rank(ranks: Ranks, depth: int) -> float:
    """1 / rank of the first result with any gold entry, 0 beyond ``depth``."""
    best = min((rank for rank in ranks if rank is not None), default=depth + 1)
    return 1 / best if best <= depth else 0.0


def ndcg(ranks: Ranks, depth: int) -> float:
    """Discounted gain of the entries found, divided by the best possible.

    Entries that one and the same result holds can stand at the same rank in the best ranking too.
    """
    gain = sum(1 / math.log2(1 + rank) for rank in ranks if rank is not None and rank <= depth)
    together = Counter(rank for rank in ranks if rank is not None)
    alone = [1] * sum(rank is None for rank in ranks)
    sizes = sorted([*together.values(), *alone], reverse=True)[:depth]
    return gain / sum(size / math.log2(1 + place) for place, size in enumerate(sizes, start=1))


def mean_measures(questions: Sequence[dict[str, float]]) -> dict[str, float]:
    """Means over questions, with their number ``n``; without questions every mean is 0."""
    means = {name: fmean(each[name] for each in questions) if questions else 0.0 for name in NAMES}
    return {**means, "n": len(questions)}
