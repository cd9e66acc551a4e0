"""Several ranked lists into one by their scores. Pure functions, the same for both stores."""

from __future__ import annotations

import math
from collections.abc import Mapping

from askwiki.data import LegHit
from askwiki.settings import SearchSettings

Hits = Mapping[str, LegHit]  # chunk id -> place in one leg


def fuse(legs: Mapping[str, Hits], settings: SearchSettings) -> list[tuple[str, float]]:
    """(chunk id, fused score), best first, ties by id, by the weights of the settings."""
    weights = {"text": settings.weight_text, "context": settings.weight_context, "sparse": settings.weight_sparse}
    used = {name: hits for name, hits in legs.items() if hits and weights[name] > 0}
    scores = standard_scores(used, weights)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def standard_scores(legs: Mapping[str, Hits], weights: Mapping[str, float]) -> dict[str, float]:
    """Weighted sum of each leg's scores, shifted and scaled by the mean and deviation of its own list.

    Ranks alone (reciprocal rank fusion; Cormack, Clarke, Büttcher 2009) found less on all questions that it was tried
    on. All lists count as equally long: a sparse leg lists only what shares a word with the question, and what it
    could have listed scores 0. A chunk that a full list does not name counts as its last.
    """
    scores = {chunk_id: 0.0 for hits in legs.values() for chunk_id in hits}
    longest = max((len(hits) for hits in legs.values()), default=0)
    for name in sorted(legs):
        listed = [hit.score for hit in legs[name].values()]
        listed += [0.0] * (longest - len(listed))
        mean = math.fsum(listed) / longest
        deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in listed) / longest) or 1.0
        last = min(listed)
        for chunk_id in scores:
            hit = legs[name].get(chunk_id)
            scores[chunk_id] += weights[name] * ((hit.score if hit else last) - mean) / deviation
    return scores
