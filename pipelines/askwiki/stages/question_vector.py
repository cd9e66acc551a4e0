"""The vector that the dense legs are asked with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askwiki.data import Question
from askwiki.encoders.port import Embedder

Vector = NDArray[np.float32]


def question_vector(question: Question, embedder: Embedder) -> Vector:
    """The vector of a question, shape (size,), length 1.

    A follow-up that no model has rewritten is embedded alone and with the question before it, half of each,
    so that its own words weigh more than those before them.
    """
    vector = embedder.query(question.text)
    if alone := own_words(question):
        vector = vector + embedder.query(alone)
        vector = vector / np.float32(np.linalg.norm(vector) or 1.0)
    return vector


def own_words(question: Question) -> str:
    """What a follow-up itself says, where the question before it was put in front of it; else empty."""
    return question.text.removeprefix(question.previous).strip() if question.previous else ""
