"""The index asked its own questions; what comes of it is kept beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from askwiki.calibration.fit import Observed, Support, fitted
from askwiki.calibration.questions import own_questions
from askwiki.data import PUBLIC, Calibration, Candidate, Question, Rights
from askwiki.encoders.port import Embedder, SparseEncoder
from askwiki.language import en, ru
from askwiki.language.glossary import Glossary
from askwiki.language.synonyms import Synonyms
from askwiki.settings import SearchSettings
from askwiki.stages.question_vector import question_vector
from askwiki.stages.refusal import support
from askwiki.stages.search import Query, question_sparse, search, search_terms
from askwiki.store.port import Reader

QUESTIONS = 150  # chunks that are asked about
LEAST = 20  # own questions and answers without their page; fewer say nothing
CHANGED = 0.2  # share of the chunks by which an index must have grown or shrunk to be measured again


@dataclass(frozen=True, slots=True)
class Asking:
    """What a search needs."""

    reader: Reader
    embedder: Embedder
    sparse: SparseEncoder
    glossary: Glossary
    synonyms: Synonyms
    settings: SearchSettings


def is_due(reader: Reader) -> bool:
    """Whether the index has no calibration of its own, or is no longer the size it was made at."""
    made, chunks = reader.calibration(), reader.count()
    return chunks >= LEAST and (made is None or abs(chunks - made.chunks) > CHANGED * made.chunks)


def measured(asking: Asking) -> Calibration | None:
    """None for an index too small to tell; ModelError, StoreError when a part is down. A question costs a search."""
    reader = asking.reader
    rights = Rights(frozenset((PUBLIC, *reader.conjunctions())))
    own, without = list[Support](), list[Support]()
    for question in own_questions(reader.sample(QUESTIONS, rights)):
        found = _found(question.text, rights, asking)
        others = [each for each in found if each.chunk.page_id != question.page_id]
        own += _support(found, question.text, asking)
        without += _support(others, question.text, asking)
    if min(len(own), len(without)) < LEAST:
        return None
    foreign = [
        row for text in (*ru.FOREIGN, *en.FOREIGN) for row in _support(_found(text, rights, asking), text, asking)
    ]
    return fitted(Observed(own, without, foreign), reader.count())


def _found(text: str, rights: Rights, asking: Asking) -> Sequence[Candidate]:
    question = Question(text)
    dense = question_vector(question, asking.embedder)
    terms = search_terms(question, asking.glossary, asking.synonyms)
    query = Query(dense, question_sparse(question, terms, asking.sparse), text)
    return search(query, rights, reader=asking.reader, settings=asking.settings)


def _support(found: Sequence[Candidate], text: str, asking: Asking) -> list[Support]:
    """As one row, or none where nothing was found."""
    if not found:
        return []
    similarity, share = support(found, text, asking.synonyms)
    return [] if similarity is None else [(similarity, share)]
