"""What all questions share is taken out of a question's vector: it says nothing about this one.

Vectors of a contrastive encoder lie in a narrow cone (Ethayarajh 2019, "How Contextual are Contextualized
Word Representations?"), and questions in a narrower one. The mean of questions without content points
along it; half of it is subtracted before the search. Documents stay as they are.
"""

from __future__ import annotations

import threading
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from askwiki.data import Question
from askwiki.encoders.port import Embedder
from askwiki.language import ru

Vector = NDArray[np.float32]

_lock = threading.Lock()
_means: WeakKeyDictionary[Embedder, Vector] = WeakKeyDictionary()


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


def is_centred(embedder: Embedder, share: float) -> bool:
    """Whether the mean is known already; making it takes as long as two dozen questions."""
    return share <= 0 or embedder in _means


def centred(vector: Vector, embedder: Embedder, share: float) -> Vector:
    """What the dense legs are asked: ``vector`` less ``share`` of the mean question, shape kept.

    Not normalised: its length tells how much is left. The mean is made once for each encoder.
    """
    if share <= 0:
        return vector
    with _lock:
        mean = _means.get(embedder)
        if mean is None:
            mean = np.mean([embedder.query(text) for text in ru.WITHOUT_CONTENT], axis=0, dtype=np.float32)
            _means[embedder] = mean
    return np.asarray(vector - np.float32(share) * mean, dtype=np.float32)
