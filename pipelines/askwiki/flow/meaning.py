"""The encoder as it is asked while quotations are chosen: without it words decide, and nobody has to be told."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from askwiki.data import Question
from askwiki.errors import ModelError
from askwiki.flow.run import QuestionRun
from askwiki.stages.extractive.meaning import similarities
from askwiki.stages.extractive.scoring import Similar
from askwiki.stages.question_vector import question_vector

logger = logging.getLogger(__name__)


def similar_to(run: QuestionRun, question: Question) -> Similar:
    """How near texts are to the question; all alike where the encoder does not answer in time."""
    kit, settings = run.kit, run.settings.search

    def compare(texts: Sequence[str]) -> Sequence[float]:
        return similarities(texts, question_vector(question, kit.embedder), kit.embedder)

    def similar(texts: Sequence[str]) -> Sequence[float]:
        try:
            return kit.guard.call(
                "encoder of quotations", lambda: compare(texts), seconds=settings.timeout, cancel=run.cancel
            )
        except ModelError as error:
            logger.warning("quotations are chosen by their words alone: %s", error)
            return [0.0] * len(texts)

    return similar
