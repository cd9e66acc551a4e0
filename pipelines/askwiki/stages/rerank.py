"""Three gates between the search and the LLM, each can be off: similarity, cross-encoder, strict minimum."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import replace

from askwiki.data import Candidate
from askwiki.encoders.rerankers import Reranker
from askwiki.errors import ModelError
from askwiki.settings import RerankSettings
from askwiki.stages.passages.spans import text_of
from askwiki.stages.search import SURE_SPARSE

logger = logging.getLogger(__name__)


def gate(
    candidates: Sequence[Candidate], question: str, *, reranker: Reranker | None, settings: RerankSettings
) -> list[Candidate]:
    """The candidates that pass, in the order of the strictest gate that judged them."""
    passed = [candidate for candidate in candidates if _similar(candidate, settings.minimum)]
    if reranker is not None and passed:
        scores = reranker.scores(question, [text_of(candidate.chunk) for candidate in passed])
        if len(scores) != len(passed) or not all(map(math.isfinite, scores)):
            raise ModelError("The reranker did not give one score for each text.")
        scored = [replace(candidate, rerank=score) for candidate, score in zip(passed, scores, strict=True)]
        passed = sorted(scored, key=lambda candidate: (-(candidate.rerank or 0.0), candidate.chunk.id))
        if settings.strict_minimum > 0:
            passed = [candidate for candidate in passed if (candidate.rerank or 0.0) >= settings.strict_minimum]
    logger.info("rerank: %d of %d candidates pass", min(len(passed), settings.cap), len(candidates))
    return passed[: settings.cap]


def _similar(candidate: Candidate, minimum: float) -> bool:
    """Gate 1. What the dense leg does not list is too far, unless the words themselves are there."""
    if minimum <= 0:
        return True
    sparse, dense = candidate.legs.get("sparse"), candidate.legs.get("text")
    return (dense is not None and dense.score >= minimum) or (sparse is not None and sparse.rank <= SURE_SPARSE)
