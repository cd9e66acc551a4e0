"""Is what was found enough for an answer? Without a model only by how well it covers the question."""

from __future__ import annotations

from collections.abc import Sequence

from askwiki.data import Candidate, Question
from askwiki.stemming import telling_stems

LOOKED_AT = 3  # best candidates that together may cover the question


def confidence(candidates: Sequence[Candidate], question: Question) -> float:
    """Share of the question's telling stems that the best candidates hold, 0 to 1."""
    words = set(telling_stems(question.text))
    if not words or not candidates:
        return 0.0
    held: set[str] = set()
    for candidate in candidates[:LOOKED_AT]:
        chunk = candidate.chunk
        held |= words & set(telling_stems(" ".join((*chunk.path, chunk.title, *chunk.headings, chunk.text))))
    return len(held) / len(words)


def is_foreign(candidates: Sequence[Candidate], question: Question) -> bool:
    """Whether not one telling word of the question stands in anything found: it is about something else."""
    words = set(telling_stems(question.text))
    return not any(
        words & set(telling_stems(f"{' '.join(candidate.chunk.path)} {candidate.chunk.title} {candidate.chunk.text}"))
        for candidate in candidates
    )
