"""How likely it is that no passage bears a clause out: a logistic regression over its features.

Weights, threshold and what they were learned from stand in ``weights.json``; ``tests/bench/support_training.py``
writes it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from askwiki.stages.evidence.features import NAMES


class Weights(NamedTuple):
    """``of`` a feature by its name; ``threshold`` = the probability from which a clause counts as unsupported."""

    of: Mapping[str, float]
    intercept: float
    threshold: float


@lru_cache(maxsize=1)
def weights() -> Weights:
    """The weights that come with the package."""
    data = json.loads(files("askwiki.stages.evidence").joinpath("weights.json").read_text(encoding="utf-8"))
    return Weights(data["weights"], data["intercept"], data["threshold"])


def unsupported_probability(values: Sequence[float], learned: Weights) -> float:
    """``values`` in the order of ``NAMES``."""
    total = learned.intercept + sum(learned.of[name] * value for name, value in zip(NAMES, values, strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
