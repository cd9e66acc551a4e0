"""How well the search's own confidence tells what the wiki can answer: to choose ``answer.refusal_threshold``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from askwiki.evaluate.outcome import Outcome

STEPS = 10  # thresholds shown: 0.1, 0.2 … 1.0


def refusal_curve(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """For each threshold the share of right and of wrong refusals, and the area under that curve.

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
