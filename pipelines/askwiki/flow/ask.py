"""The question's way: the order of the stages and what the person sees between them.

    condense -> search -> rerank -> relevance -> passages -> answer -> sources

Knows nothing of Open WebUI. Every part may be missing: the rest does its best and says what it lacks.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace

from askwiki.configuration import settings_digest
from askwiki.data import Answer, Event, Identity, Question, Rights, Status, Trace, Turn
from askwiki.errors import ModelError, StoreError, StoreMismatch
from askwiki.flow.about import introduce
from askwiki.flow.collect import collect
from askwiki.flow.lookup import drain, look_up
from askwiki.flow.messages import not_continued, not_shown, repeat_sources, talk
from askwiki.flow.pages import tell_pages
from askwiki.flow.parts import look_for_parts
from askwiki.flow.refusing import refuse
from askwiki.flow.retrieve import check_relevance, understand
from askwiki.flow.run import QuestionRun
from askwiki.flow.writing import rework, write_answer
from askwiki.kit import Kit
from askwiki.language.page_wishes import page_wish
from askwiki.language.wording import language_of
from askwiki.settings import Settings
from askwiki.stages.dialogue import last_sources, typed
from askwiki.stages.history import still_readable
from askwiki.stages.refusal import kind_of_refusal, would_refuse
from askwiki.stages.remarks import as_meant

logger = logging.getLogger(__name__)


def ask(
    turns: Sequence[Turn],
    identity: Identity,
    *,
    kit: Kit,
    settings: Settings | None = None,
    question: Question | None = None,
    cancel: threading.Event | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[Event]:
    """One question of a dialogue, answered. Ends with ``Status(done=True)`` and exactly one ``Answer``.

    ``question`` is the filter's work where it was done. Raises ``Cancelled`` when ``cancel`` is set; but what was
    written when ``stopped`` says that the server ends gets its last sentence and its sources.
    """
    run = _run(turns, kit, settings, cancel)
    run.stopped = stopped
    started = time.perf_counter()
    yield run.status("condense", "reading")
    turns = still_readable(turns, identity, reader=kit.reader, settings=run.settings.access)
    answer, trace = yield from _answer(run, turns, identity, question)
    run.timings["total"] = time.perf_counter() - started
    answer = replace(
        answer,
        degraded=tuple(run.degraded),
        timings=dict(run.timings),
        tokens=dict(run.tokens),
        trace=replace(trace, timings=dict(run.timings)),
        settings=settings_digest(run.settings),
    )
    logger.info("flow: %s", {name: round(1000 * seconds) for name, seconds in run.timings.items()})
    yield _last_status(run, answer)
    yield answer


def retrieve(
    turns: Sequence[Turn],
    identity: Identity,
    *,
    kit: Kit,
    settings: Settings | None = None,
    question: Question | None = None,
    cancel: threading.Event | None = None,
) -> Trace:
    """Condensing, search and gates only, for measuring; raises what the parts raise."""
    run = _run(turns, kit, settings, cancel)
    turns = still_readable(turns, identity, reader=kit.reader, settings=run.settings.access)
    asked, early = drain(understand(run, turns, question))
    trace, _ = drain(look_up(run, asked, identity, early))
    return replace(trace, timings=dict(run.timings))


def _run(turns: Sequence[Turn], kit: Kit, settings: Settings | None, cancel: threading.Event | None) -> QuestionRun:
    settings = settings or kit.settings
    asked = next((typed(turn.content) for turn in reversed(turns) if turn.role == "user"), "")
    return QuestionRun(
        kit, settings, cancel, language_of(as_meant(asked[: settings.condense.question_characters]), settings.language)
    )


def _answer(
    run: QuestionRun, turns: Sequence[Turn], identity: Identity, question: Question | None
) -> Generator[Event, None, tuple[Answer, Trace]]:
    asked, early = yield from understand(run, turns, question)
    trace = Trace(asked)
    try:
        if asked.need == "about":
            return (yield from introduce(run, identity)), trace
        trace, rights = yield from look_up(run, asked, identity, early)
    except StoreMismatch as error:
        logger.error("no search: %s", error)
        return (yield from _broken(run, run.say("index_mismatch"))), trace
    except (StoreError, ModelError) as error:
        logger.warning("no search: %s", error)
        return (yield from _broken(run, run.say("store_down"))), trace
    asked = trace.question
    if asked.need == "smalltalk":
        return (yield from talk(run, asked)), trace
    if asked.need == "sources":
        return (yield from repeat_sources(run, last_sources(turns))), trace
    if asked.begun:
        yield run.token("\n\n")  # the chat puts what comes right behind what is there
    if asked.begun and run.llm is None:
        return (yield from not_continued(run)), trace
    if asked.need == "dialogue":
        return (yield from rework(run, asked, turns)), trace
    if not trace.gated:
        return (yield from _nothing(run, asked, rights)), trace
    if asked.shown and run.llm is None:
        trace = replace(trace, gated=not_shown(trace.gated, asked.shown))
        if not trace.gated:
            return (yield from not_continued(run, "nothing_more")), trace
    wish = page_wish(asked.original)
    if wish and wish.kind != "list" and (told := (yield from tell_pages(run, asked, wish, trace.gated, rights))):
        return told, trace
    judged = yield from check_relevance(run, asked, trace.gated)
    if wish and wish.kind == "list" and (told := (yield from tell_pages(run, asked, wish, judged, rights))):
        return told, replace(trace, judged=tuple(judged))
    judged = yield from look_for_parts(run, asked, identity, judged, rights)
    trace = replace(trace, judged=tuple(judged))
    if all(candidate.verdict == "no" for candidate in judged):
        return (yield from refuse(run, asked, kind_of_refusal(asked, trace.gated), trace.gated, rights)), trace
    sure = trace.confidence
    run.weak = sure is not None and sure < run.settings.answer.low_confidence
    if run.llm is None and would_refuse(sure, trace.gated, asked, run.settings.answer):
        return (yield from refuse(run, asked, kind_of_refusal(asked, trace.gated), trace.gated, rights)), trace
    cut = yield from collect(run, asked, judged, rights)
    trace = replace(trace, passages=cut.passages)
    return (yield from write_answer(run, asked, cut.passages, trace.gated, rights)), trace


def _nothing(run: QuestionRun, question: Question, rights: Rights) -> Generator[Event, None, Answer]:
    if run.kit.reader.count() == 0:
        yield run.missing("search", "index_empty")
        yield run.token(run.say("index_empty"))
        return Answer(run.text, refused="nothing_found")
    return (yield from refuse(run, question, "nothing_found", (), rights))


def _broken(run: QuestionRun, sentence: str) -> Generator[Event, None, Answer]:
    """The search itself is down: nothing can be answered, and that is said as it is."""
    run.degraded.append(sentence)
    yield Status(sentence, "search", warning=True)
    yield run.token(sentence)
    return Answer(run.text)


def _last_status(run: QuestionRun, answer: Answer) -> Status:
    if answer.refused in ("nothing_found", "insufficient", "outside"):
        return Status(run.say("finished_refused"), "done", done=True)
    if answer.sources:
        return Status(run.say("finished_sources", count=len(answer.sources)), "done", done=True)
    return Status(run.say("finished"), "done", done=True)
