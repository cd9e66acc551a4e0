"""Measures of a ranking (recall, reciprocal rank, nDCG over a question's gold entries) and of the confidence.

Ranks count from 1; None = not found. Binary gain and the logarithmic discount are those of Järvelin
and Kekäläinen 2002 (Cumulated gain-based evaluation of IR techniques).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from askwiki.evaluate.outcome import Hit, Outcome

DEPTHS = (1, 5, 10, 50)
CUT = 10  # MRR@10, nDCG@10
NAMES = (*(f"recall@{depth}" for depth in DEPTHS), f"mrr@{CUT}", f"ndcg@{CUT}")

STEPS = 10  # thresholds of refusal shown: 0.1, 0.2 … 1.0

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


def refusal_curve(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """For each threshold the share of right and of wrong refusals, and the area under that curve.

    How well the search's own confidence tells what the wiki can answer: to choose ``answer.refusal_threshold``.

    Empty when there are not both kinds of questions to tell apart.
    """
    known = [(each.confidence, each.answerable) for each in outcomes if each.confidence is not None]
    within = [value for value, answerable in known if answerable]
    without = [value for value, answerable in known if not answerable]
    if not within or not without:
        return {}
    thresholds = [step / STEPS for step in range(1, STEPS + 1)]
    rows = [
        {"threshold": threshold, "right": _below(without, threshold), "wrong": _below(within, threshold)}
        for threshold in thresholds
    ]
    return {"auc": area(within, without), "thresholds": rows}


def area(within: Sequence[float], without: Sequence[float]) -> float:
    """Chance that a question with an answer has the higher confidence, ties counted half (Mann and Whitney 1947)."""
    won = sum((one > other) + (one == other) / 2 for one in within for other in without)
    return won / (len(within) * len(without))


def _below(values: Sequence[float], threshold: float) -> float:
    """Share refused: confidence under the threshold, as the flow refuses."""
    return sum(value < threshold for value in values) / len(values)
