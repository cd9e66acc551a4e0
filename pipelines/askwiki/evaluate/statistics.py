"""Intervals and agreement: Wilson, quadratic-weighted kappa, bootstrap. Checked against scipy in the tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
GRADES = 3
RESAMPLES = 4_000  # the interval's ends are steady to about 1 % of its width
BLOCK = 1_000_000  # numbers drawn at once: some megabytes
SEED = 20_161  # the same data give the same interval every time


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval; ``n`` observations. ``value`` is NaN without any."""

    value: float
    low: float
    high: float
    n: int


def wilson(successes: int, n: int) -> Estimate:
    """Share with its score interval (Wilson 1927), which behaves at 0, at 1 and for few cases."""
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Estimate(share, max(0.0, centre - half), min(1.0, centre + half), n)


def kappa(first: Sequence[int], second: Sequence[int]) -> Estimate:
    """Agreement beyond chance with quadratic weights (Cohen 1968); grades are 0, 1 and 2.

    NaN when both always give one and the same grade: there is no chance to compare with. The interval is a percentile
    bootstrap over questions: drawing them with replacement is drawing the table of their grades from a multinomial.
    """
    table = _table(first, second)
    value, n = float(_kappas(table[None])[0]), len(first)
    if math.isnan(value):
        return Estimate(value, math.nan, math.nan, n)
    drawn = np.random.default_rng(SEED).multinomial(n, table.ravel() / n, size=RESAMPLES)
    kappas = _kappas(drawn.reshape(RESAMPLES, GRADES, GRADES).astype(float))
    low, high = np.nanquantile(kappas, _ends())  # a draw of one single grade says nothing about agreement
    return Estimate(value, float(low), float(high), n)


def paired_difference(before: Sequence[float], after: Sequence[float]) -> Estimate:
    """Mean of ``after - before`` over the same questions, percentile bootstrap over pairs (Efron 1979)."""
    if len(before) != len(after):
        raise ValueError("Both runs must hold the same questions.")
    differences = np.asarray(after, dtype=float) - np.asarray(before, dtype=float)
    return mean_interval(differences.tolist())


def mean_interval(values: Sequence[float]) -> Estimate:
    """Mean with a percentile bootstrap interval."""
    if not values:
        return Estimate(math.nan, math.nan, math.nan, 0)
    numbers = np.asarray(values, dtype=float)
    random, n = np.random.default_rng(SEED), len(numbers)
    block = max(1, BLOCK // n)
    sizes = [min(block, RESAMPLES - start) for start in range(0, RESAMPLES, block)]
    means = np.concatenate([numbers[random.integers(0, n, size=(size, n))].mean(axis=1) for size in sizes])
    low, high = np.quantile(means, _ends())
    return Estimate(float(numbers.mean()), float(low), float(high), n)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which ``share`` of ``values`` lie, interpolated; 0 without values."""
    return float(np.quantile(np.asarray(values, dtype=float), share)) if values else 0.0


def _table(first: Sequence[int], second: Sequence[int]) -> NDArray[np.float64]:
    """How often the first gave the row's grade and the second the column's, shape (GRADES, GRADES)."""
    if len(first) != len(second):
        raise ValueError("Both must grade the same questions.")
    table = np.zeros((GRADES, GRADES))
    np.add.at(table, (np.asarray(first, dtype=int), np.asarray(second, dtype=int)), 1)
    return table


def _kappas(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kappa of each table, shape (tables, GRADES, GRADES) -> (tables,)."""
    ladder = np.arange(tables.shape[-1])
    weights = (ladder[:, None] - ladder[None, :]) ** 2
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    by_chance = (weights * rows[:, :, None] * columns[:, None, :]).sum(axis=(1, 2))
    seen = (weights * tables).sum(axis=(1, 2)) * rows.sum(axis=1)
    ratio: NDArray[np.float64] = np.divide(seen, by_chance, out=np.full(len(tables), math.nan), where=by_chance > 0)
    return 1.0 - ratio


def _ends() -> tuple[float, float]:
    return (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2
