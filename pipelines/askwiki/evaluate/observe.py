"""From what the flow did with one question to the outcome that is kept of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from askwiki.data import Candidate, Trace
from askwiki.evaluate.matching import gold_of
from askwiki.evaluate.outcome import Hit, Outcome
from askwiki.evaluate.questions import Gold, GoldQuestion


def blank(question: GoldQuestion, run: str) -> Outcome:
    """The outcome before anything happened."""
    return Outcome(
        id=question.id,
        kind=question.kind,
        question=question.question,
        reference=question.answer,
        answerable=question.answerable,
        entries=len(question.gold),
        split=question.split,
        run=run,
    )


def searched(trace: Trace, gold: Sequence[Gold]) -> Mapping[str, tuple[Hit, ...]]:
    """The stages of the search alone: what was found, and what the gates left of it."""
    return {"found": hits(trace.found, gold), "gated": hits(trace.gated, gold)}


def hits(candidates: Iterable[Candidate], gold: Sequence[Gold]) -> tuple[Hit, ...]:
    """Candidates in their order, each with the gold entries it holds."""
    return tuple(Hit(each.chunk.id, each.chunk.page_id, each.score, *gold_of(each.chunk, gold)) for each in candidates)
