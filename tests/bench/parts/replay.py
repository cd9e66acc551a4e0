"""One question put to the search as it is, or with a part of it changed: the ids that are found, best first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askwiki.configuration import replace_setting
from askwiki.data import Candidate, Question, Rights
from askwiki.encoders.bm25 import Bm25
from askwiki.encoders.port import Embedder
from askwiki.language.glossary import Glossary
from askwiki.language.synonyms import Synonyms
from askwiki.settings import Settings
from askwiki.stages import search as stage
from askwiki.stages.question_vector import question_vector
from tests.bench.parts.memory import MemoryIndex

Array = NDArray[np.float32]
WHO = Rights()


@dataclass(frozen=True, slots=True)
class Variant:
    """What is changed: settings, the question, the words beside its own."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    question: Callable[[Question], Question] = lambda question: question
    synonyms: bool = False  # the figures of the search itself are without the list of words
    vote: bool = True  # of the words, by how much of the question the found texts hold


AS_IT_IS = Variant("as it is")


@dataclass(frozen=True, slots=True)
class Bench:
    """What all questions are asked with."""

    settings: Settings
    embedder: Embedder
    glossary: Glossary
    synonyms: Synonyms


class Remembered:
    """An encoder that embeds a question once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Array] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def query(self, text: str) -> Array:
        if text not in self._known:
            self._known[text] = self._embedder.query(text)
        return self._known[text]


def ranking(asked: Question, index: MemoryIndex, bench: Bench, variant: Variant) -> list[str]:
    return [candidate.chunk.id for candidate in found_for(asked, index, bench, variant)]


def found_for(asked: Question, index: MemoryIndex, bench: Bench, variant: Variant = AS_IT_IS) -> list[Candidate]:
    settings = bench.settings
    for name, value in variant.settings.items():
        settings = replace_setting(settings, name, value, variant.name)
    question = variant.question(asked)
    search = settings.search
    vector = question_vector(question, bench.embedder)
    words = bench.synonyms if variant.synonyms else Synonyms()
    terms = stage.search_terms(question, bench.glossary, words)
    sparse = stage.question_sparse(question, terms, Bm25(settings.sparse))
    query = stage.Query(vector, sparse, question.text if variant.vote else "")
    found = stage.search(query, WHO, reader=index, settings=search)  # type: ignore[arg-type]
    return stage.boost_preferred(found, question, search)


def as_one_text(question: Question) -> Question:
    """A follow-up with what was before it, all of one weight."""
    return replace(question, previous="")


VARIANTS = (
    AS_IT_IS,
    Variant("follow-ups as one text", question=as_one_text),
    Variant("full vote of the words always", vote=False),
    Variant("no letter groups", {"sparse.gram_weight": 0.0}),
    Variant("no boost by kind", {"search.boost_intent": 0.0}),
    Variant("no boost by place", {"search.boost_place": 0.0}),
    Variant("no vectors", {"search.weight_text": 0.0, "search.weight_context": 0.0}),
    Variant("no words", {"search.weight_sparse": 0.0}),
    Variant("no context vector", {"search.weight_context": 0.0}),
    Variant("depth 50", {"search.depth": 50}),
    Variant("with synonyms", synonyms=True),
)
