"""From the support of questions with and without an answer to a calibration: logistic regression, then two measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askwiki.data import Calibration

RIDGE = 1e-3  # keeps the weights finite where the two kinds part completely
ROUNDS = 50  # of Newton's method; it converges in fewer than ten
NARROWEST = 1e-3  # of a deviation

Support = tuple[float, float]  # similarity, share of words


@dataclass(frozen=True, slots=True)
class Observed:
    """Support of the index's own questions, of the same asked without their page, and of foreign ones."""

    own: Sequence[Support]
    without: Sequence[Support]
    foreign: Sequence[Support]


def fitted(observed: Observed, chunks: int) -> Calibration:
    """The direction that parts own questions from the others, and where the own ones lie along it.

    Questions without their page and foreign ones count alike, whatever their numbers.
    """
    own = np.asarray(observed.own)
    others = [np.asarray(rows) for rows in (observed.without, observed.foreign) if len(rows)]
    similarity, words = _direction(own, others)
    middle, spread = _measured(own @ np.array([similarity, words]))
    words_middle, words_spread = _measured(own[:, 1])
    return Calibration(similarity, words, middle, spread, words_middle, words_spread, chunks)


def _direction(own: NDArray[np.float64], others: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    """Weights of similarity and words, of words 1; what tells the kinds apart the wrong way round weighs nothing."""
    rows = np.vstack([own, *others])
    kinds = [own, *others]
    shares = [0.5, *([0.5 / len(others)] * len(others))]
    weights = np.concatenate([np.full(len(kind), share / len(kind)) for kind, share in zip(kinds, shares, strict=True)])
    wanted = np.concatenate([np.ones(len(own)), np.zeros(len(rows) - len(own))])
    scale = rows.std(axis=0) + 1e-9
    design = np.column_stack([(rows - rows.mean(axis=0)) / scale, np.ones(len(rows))])
    found, penalty = np.zeros(3), np.diag([RIDGE, RIDGE, 1e-9])
    for _ in range(ROUNDS):
        likely = 1.0 / (1.0 + np.exp(-design @ found))
        slope = design.T @ (weights * (likely - wanted)) + penalty @ found
        curvature = (design * (weights * likely * (1 - likely))[:, None]).T @ design + penalty
        found = found - np.linalg.solve(curvature, slope)
    similarity, words = found[:2] / scale
    if similarity <= 0 or words <= 0:
        return (0.0, 1.0) if words >= similarity else (1.0, 0.0)
    return float(similarity / words), 1.0


def _measured(values: NDArray[np.float64]) -> tuple[float, float]:
    """Median, and the root mean square of what lies below it."""
    middle = float(np.median(values))
    below = values[values <= middle] - middle
    return middle, max(float(np.sqrt(np.mean(below**2))), NARROWEST)
