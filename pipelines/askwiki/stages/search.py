"""Question -> candidates: three legs in one batch under the rights, fused, payloads fetched once."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askwiki.data import Candidate, Chunk, Question, Rights, Sparse
from askwiki.encoders.port import SparseEncoder
from askwiki.language import en, ru
from askwiki.language.glossary import Glossary
from askwiki.language.stems import fold, stems
from askwiki.language.synonyms import Synonyms
from askwiki.settings import SearchSettings
from askwiki.stages.fusion import Hits, fuse
from askwiki.stages.passages.spans import text_of
from askwiki.stages.question_vector import own_words
from askwiki.stages.refusal import share_of
from askwiki.store.port import Leg, Reader

logger = logging.getLogger(__name__)

# Best of the sparse leg that are looked at for the words' vote, and pass the gate of similarity, which says little
# about identifiers and surnames.
SURE_SPARSE = 5
BEFORE = 0.3  # of a follow-up's earlier words; an equal weight halves recall@1 when the topic has changed (measured)
ENOUGH = 0.5  # share of the question in a found text from which the words have their full vote (measured)


@dataclass(frozen=True, slots=True)
class Query:
    """What the legs are asked. A part is None when its encoder is down: the other one searches alone."""

    dense: NDArray[np.float32] | None
    sparse: Sparse | None
    words: str = ""  # the question, to see how much of it the found texts hold


def search_terms(question: Question, glossary: Glossary, synonyms: Synonyms) -> tuple[str, ...]:
    """The glossary's other spellings, how the wiki writes everyday words, and the further words of the condenser."""
    text = question.text
    return tuple(dict.fromkeys((*glossary.expansions(text), *synonyms.expansions(text), *question.terms)))


def question_sparse(question: Question, terms: Sequence[str], encoder: SparseEncoder) -> Sparse:
    """Words of the question; of a follow-up that no model has rewritten, at ``BEFORE`` of the weight those before."""
    alone = own_words(question)
    if not alone:
        return encoder.query(question.text, terms)
    before, own = encoder.query(question.previous), encoder.query(alone, terms)
    weights = {index: BEFORE * value for index, value in zip(before.indices, before.values, strict=True)}
    for index, value in zip(own.indices, own.values, strict=True):
        weights[index] = max(value, weights.get(index, 0.0))
    ordered = sorted(weights.items())
    return Sparse(tuple(index for index, _ in ordered), tuple(value for _, value in ordered))


def search(query: Query, rights: Rights, *, reader: Reader, settings: SearchSettings) -> list[Candidate]:
    """The best ``settings.candidates`` with rank and score in every leg, in fused order."""
    legs = _legs(query, settings)
    if not legs:
        return []
    found: dict[str, Hits] = {str(name): hits for name, hits in reader.search(legs, rights).items()}
    order = _order(found, settings, 1.0)
    chunks = reader.fetch([chunk_id for chunk_id, _ in order], rights)
    vote = _sparse_vote(query.words, found.get("sparse", {}), chunks)
    if vote < 1.0 and query.dense is not None:
        order = _order(found, settings, vote)
        chunks |= reader.fetch([chunk_id for chunk_id, _ in order if chunk_id not in chunks], rights)
    candidates = [
        Candidate(chunks[chunk_id], score, {name: hits[chunk_id] for name, hits in found.items() if chunk_id in hits})
        for chunk_id, score in order
        if chunk_id in chunks
    ]
    counts = {name: len(hits) for name, hits in found.items()}
    logger.info("search: %d candidates of %s, vote of the words %.2f", len(candidates), counts, vote)
    return candidates


def _order(found: Mapping[str, Hits], settings: SearchSettings, vote: float) -> list[tuple[str, float]]:
    weighed = replace(settings, weight_sparse=settings.weight_sparse * vote)
    return fuse(found, weighed)[: settings.candidates]


def _sparse_vote(words: str, sparse: Hits, chunks: Mapping[str, Chunk]) -> float:
    """Share of its weight that the sparse leg gets: all once one of its first chunks holds enough of the question.

    Over pages in another language than the question's the words in common are accidents.
    """
    if not words:
        return 1.0
    first = sorted((hit.rank, chunk_id) for chunk_id, hit in sparse.items() if hit.rank <= SURE_SPARSE)
    best = 0.0
    for _, chunk_id in first:
        if chunk_id in chunks:
            best = max(best, share_of(words, text_of(chunks[chunk_id])))
            if best >= ENOUGH:
                return 1.0
    return best / ENOUGH


def _legs(query: Query, settings: SearchSettings) -> list[Leg]:
    legs = []
    if query.dense is not None:
        legs.append(Leg("text", query.dense, settings.depth))
        if settings.weight_context > 0:
            legs.append(Leg("context", query.dense, settings.depth))
    if query.sparse is not None and query.sparse.indices:
        legs.append(Leg("sparse", query.sparse, settings.depth))
    return legs


def boost_preferred(candidates: Sequence[Candidate], question: Question, settings: SearchSettings) -> list[Candidate]:
    """Candidates of the kind, the space or the label that the question names come earlier; none is dropped.

    The boost is a share of the spread of the fused scores.
    """
    if len(candidates) < 2:
        return list(candidates)
    spread = max(candidate.score for candidate in candidates) - min(candidate.score for candidate in candidates)
    named = _named_places(question.text)

    def boosted(candidate: Candidate) -> Candidate:
        chunk, boost = candidate.chunk, 0.0
        if question.intent is not None and chunk.screen == (question.intent == "screen"):
            boost += settings.boost_intent
        if named and _lies_in(chunk, named):
            boost += settings.boost_place
        return replace(candidate, score=candidate.score + spread * boost) if boost else candidate

    return sorted(map(boosted, candidates), key=lambda candidate: (-candidate.score, candidate.chunk.id))


_PLACE_WORD = f"(?:{'|'.join((*ru.PLACES, *en.PLACES))})"
_QUOTED = r"[«\"“'](?P<quoted>[^»\"”'\n]{1,60})[»\"”']"
_PLACE = re.compile(
    # «в разделе HR», «с меткой “касса”», "the section about leave"
    rf"\b{_PLACE_WORD}\s+(?:(?:{'|'.join((*ru.PLACE_LINKS, *en.PLACE_LINKS))})\s+)?(?:{_QUOTED}|(?P<name>\w[\w&/-]*))"
    # "the HR space"
    rf"|\b(?:{'|'.join(en.BEFORE_THEM)})\s+(?P<before>\w[\w&/-]*)\s+(?:{'|'.join(en.PLACES_BEHIND)})\b"
    rf"|\b(?P<joined>\w+)-(?:{'|'.join(ru.PLACES_JOINED)})",  # HR-спейс
    re.IGNORECASE,
)


def _named_places(text: str) -> list[str]:
    """What the question names as a place."""
    return [next(filter(None, match.groups())) for match in _PLACE.finditer(text)]


def _lies_in(chunk: Chunk, named: Sequence[str]) -> bool:
    """Whether the chunk's space, one of its labels, or a section it lies in is one of the named places."""
    places = [place for place in (chunk.space, *chunk.labels, *chunk.path) if place]
    for name in named:
        wanted = set(stems(name))
        if any((wanted and wanted <= set(stems(place))) or fold(place) == fold(name) for place in places):
            return True
    return False
