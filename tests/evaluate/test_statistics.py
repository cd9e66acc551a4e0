"""Statistics against the values of scipy and scikit-learn, and exact ones by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from askwiki.evaluate.metrics import area, refusal_curve
from askwiki.evaluate.statistics import kappa, mean_interval, paired_difference, percentile, wilson
from tests.support.outcomes import outcome


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (10, 10), (7, 10), (361, 400), (1, 1), (50, 160)])
def test_wilson_equals_scipy(successes: int, n: int) -> None:
    expected = stats.binomtest(successes, n).proportion_ci(method="wilson")
    estimate = wilson(successes, n)
    assert estimate.value == successes / n
    assert estimate.low == pytest.approx(expected.low, abs=1e-12)
    assert estimate.high == pytest.approx(expected.high, abs=1e-12)


def test_wilson_of_nothing_is_nothing() -> None:
    assert math.isnan(wilson(0, 0).value)
    assert wilson(0, 0).n == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_weighted_kappa_equals_scikit_learn(seed: int) -> None:
    random = np.random.default_rng(seed)
    judge = random.integers(0, 3, 80)
    human = np.where(random.random(80) < 0.7, judge, random.integers(0, 3, 80))
    expected = cohen_kappa_score(judge, human, weights="quadratic")
    estimate = kappa(judge.tolist(), human.tolist())
    assert estimate.value == pytest.approx(expected, abs=1e-12)
    assert estimate.low < expected < estimate.high


def test_kappa_is_1_for_full_agreement_and_undefined_for_one_single_grade() -> None:
    assert kappa([0, 1, 2, 2], [0, 1, 2, 2]).value == 1.0
    assert kappa([0, 0, 2, 2], [2, 2, 0, 0]).value == -1.0
    assert math.isnan(kappa([2, 2], [2, 2]).value)
    assert math.isnan(kappa([], []).value)


def test_the_paired_interval_agrees_with_scipys_bootstrap() -> None:
    random = np.random.default_rng(7)
    before = random.random(150)
    after = before + random.normal(0.03, 0.1, 150)
    estimate = paired_difference(before.tolist(), after.tolist())
    expected = stats.bootstrap(
        (after - before,), np.mean, method="percentile", n_resamples=4000, rng=np.random.default_rng(1)
    ).confidence_interval
    assert estimate.value == pytest.approx(float((after - before).mean()))
    assert estimate.low == pytest.approx(expected.low, abs=0.002)
    assert estimate.high == pytest.approx(expected.high, abs=0.002)


def test_a_bootstrap_gives_the_same_interval_every_time() -> None:
    assert paired_difference([0, 0, 1, 0], [1, 0, 1, 1]) == paired_difference([0, 0, 1, 0], [1, 0, 1, 1])
    assert mean_interval([1.0, 1.0, 1.0]).low == mean_interval([1.0, 1.0, 1.0]).high == 1.0
    with pytest.raises(ValueError, match="same questions"):
        paired_difference([1.0], [1.0, 2.0])


def test_percentiles_are_interpolated() -> None:
    assert percentile([1.0, 2.0, 3.0, 4.0, 5.0], 0.5) == 3.0
    assert percentile([1.0, 2.0, 3.0, 4.0, 5.0], 0.95) == pytest.approx(4.8)
    assert percentile([], 0.5) == 0.0


def test_the_area_under_the_refusal_curve_equals_scikit_learn() -> None:
    random = np.random.default_rng(5)
    within, without = random.integers(3, 11, 60) / 10, random.integers(0, 9, 20) / 10
    expected = roc_auc_score([1] * 60 + [0] * 20, np.concatenate([within, without]))
    assert area(within.tolist(), without.tolist()) == pytest.approx(expected, abs=1e-12)


def test_the_refusal_curve_says_what_each_threshold_would_refuse() -> None:
    run = [
        *(outcome(f"a{n}", confidence=value) for n, value in enumerate((0.4, 0.8, 1.0, 1.0))),
        *(outcome(f"n{n}", confidence=value, answerable=False) for n, value in enumerate((0.0, 0.5))),
        outcome("none"),
    ]
    curve = refusal_curve(run)
    assert curve["auc"] == 0.875
    assert curve["thresholds"][4] == {"threshold": 0.5, "right": 0.5, "wrong": 0.25}
    assert curve["thresholds"][5] == {"threshold": 0.6, "right": 1.0, "wrong": 0.25}
    assert refusal_curve([outcome("a", confidence=1.0)]) == {}
