"""From the question to candidates and what was found on the way; again if the keyboard was in its other layout."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeVar

from askwiki.data import Event, Identity, Question, Rights, Status, Trace
from askwiki.flow.retrieve import Vector, pass_gates, recheck, search_question
from askwiki.flow.run import QuestionRun
from askwiki.language.transliteration import is_transliteration, transliterated
from askwiki.language.wording import language_of, other_layout
from askwiki.stages.refusal import confidence, is_foreign, would_refuse

T = TypeVar("T")


def look_up(
    run: QuestionRun, question: Question, identity: Identity, early: Future[Vector] | None
) -> Generator[Status, None, tuple[Trace, Rights]]:
    """Search what needs a search, Russian in Latin letters as it is written in the wiki.

    What would be refused is searched again as the other keyboard layout has it, and as Russian in Latin letters.
    """
    if question.need not in ("search", "outside"):
        return Trace(question), Rights()
    if is_transliteration(question.text):
        question, early = _meant(run, question, transliterated(question.text)), None
        run.language = question.language
        yield run.status("condense", "understood", question=question.text)
    trace, rights = yield from _search(run, question, identity, early)
    for text in filter(None, (other_layout(question.text), transliterated(question.text))):
        if not _is_weak(run, trace):
            break
        meant = _meant(run, question, text)
        again, _ = drain(_search(run, meant, identity))
        if not _is_weak(run, again) and not is_foreign(again.gated, meant):
            run.language = meant.language
            yield run.status("condense", "understood", question=text)
            return again, rights
    return trace, rights


def _meant(run: QuestionRun, question: Question, text: str) -> Question:
    """The question as it was meant; the words as they were typed stay further words: names may be among them."""
    typed = tuple(dict.fromkeys((*question.terms, *question.text.split())))
    return replace(question, text=text, terms=typed, language=language_of(text, run.settings.language))


def _search(
    run: QuestionRun, question: Question, identity: Identity, early: Future[Vector] | None = None
) -> Generator[Status, None, tuple[Trace, Rights]]:
    found, rights = yield from search_question(run, question, identity, early)
    gated = yield from recheck(run, identity, (yield from pass_gates(run, question, found)))
    sure = confidence(gated, question, run.calibration, run.kit.synonyms)
    return Trace(question, tuple(found), tuple(gated), confidence=sure), rights


def _is_weak(run: QuestionRun, trace: Trace) -> bool:
    """Whether what was found would be refused: then the keyboard may have been in its other layout."""
    return would_refuse(trace.confidence, trace.gated, trace.question, run.settings.answer)


def drain(work: Generator[Event, None, T]) -> T:
    """What the work gives at its end; nobody sees its events."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: T = end.value
            return result
