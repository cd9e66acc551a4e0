"""From the dialogue to candidates and what was found on the way; again if the keyboard was in its other layout."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

from askwiki.data import Candidate, Event, Identity, Passage, Question, Rights, Status, Trace, Turn
from askwiki.flow.retrieve import Vector, pass_gates, recheck, search_question, understand
from askwiki.flow.run import QuestionRun
from askwiki.language.wording import language_of, other_layout
from askwiki.stages.refusal import confidence, is_foreign


@dataclass(slots=True)
class Traced:
    """The trace while it grows."""

    question: Question = Question("")
    found: Sequence[Candidate] = ()
    gated: Sequence[Candidate] = ()
    judged: Sequence[Candidate] = ()
    passages: Sequence[Passage] = ()
    confidence: float | None = None

    def record(self, run: QuestionRun) -> Trace:
        return Trace(
            self.question,
            tuple(self.found),
            tuple(self.gated),
            tuple(self.judged),
            tuple(self.passages),
            self.confidence,
            timings=dict(run.timings),
        )


def search_dialogue(
    run: QuestionRun, turns: Sequence[Turn], identity: Identity, question: Question | None, trace: Traced
) -> Generator[Status, None, Rights]:
    """Understand and search; what would be refused is searched again as the other keyboard layout has it."""
    trace.question, early = yield from understand(run, turns, question)
    if trace.question.need in ("smalltalk", "dialogue"):
        return Rights()
    rights = yield from _search(run, trace, identity, early)
    if _is_weak(run, trace) and (text := other_layout(trace.question.text)):
        again = Traced(replace(trace.question, text=text, language=language_of(text, run.settings.language)))
        drain(_search(run, again, identity))
        if not _is_weak(run, again) and not is_foreign(again.gated, again.question):
            trace.question, trace.found, trace.gated = again.question, again.found, again.gated
            trace.confidence, run.language = again.confidence, again.question.language
            yield run.status("condense", "understood", question=text)
    return rights


def _search(
    run: QuestionRun, trace: Traced, identity: Identity, early: Future[Vector] | None = None
) -> Generator[Status, None, Rights]:
    trace.found, rights = yield from search_question(run, trace.question, identity, early)
    trace.gated = yield from recheck(run, identity, (yield from pass_gates(run, trace.question, trace.found)))
    trace.confidence = confidence(trace.gated, trace.question, run.settings.answer, run.kit.synonyms)
    return rights


def _is_weak(run: QuestionRun, trace: Traced) -> bool:
    """Whether what was found would be refused: then the keyboard may have been in its other layout."""
    return (trace.confidence or 0.0) < run.settings.answer.refusal_threshold


def drain(work: Generator[Event, None, object]) -> None:
    for _ in work:
        pass
