"""The first half of the flow: from the dialogue to judged candidates, with what is down left out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Generator, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from askwiki.access.recheck import refused_pages
from askwiki.access.rights_age import current_rights
from askwiki.calls.parts import beside
from askwiki.data import Candidate, Identity, Question, Rights, Sparse, Status, Turn
from askwiki.errors import ModelError, StoreError
from askwiki.flow.run import QuestionRun
from askwiki.kit import Kit
from askwiki.settings import Settings
from askwiki.stages.condense import by_rule, condense, worth_asking
from askwiki.stages.dialogue import typed
from askwiki.stages.question_vector import question_vector
from askwiki.stages.relevance import judge
from askwiki.stages.relevance.calls import Untold
from askwiki.stages.remarks import as_meant
from askwiki.stages.rerank import gate
from askwiki.stages.search import Query, boost_preferred, question_sparse, search, search_terms
from askwiki.store.fingerprint import check_readable

logger = logging.getLogger(__name__)

Vector = NDArray[np.float32]


def understand(
    run: QuestionRun, turns: Sequence[Turn], question: Question | None
) -> Generator[Status, None, tuple[Question, Future[Vector] | None]]:
    """The question that stands alone, and its vector under way where it was begun beside the condensing."""
    with run.stage("condense"):
        ruled = by_rule(turns, run.settings.condense, run.settings.language)
        early: Future[Vector] | None = None
        if question is not None:
            question = replace(question, history=question.history or ruled.history, begun=ruled.begun)
        elif worth_asking(ruled, run.kit, run.settings.condense):
            yield run.status("condense", "condensing")
            early = beside(lambda: _embed(run, ruled))
            question = condense(turns, kit=run.kit, settings=run.settings, cancel=run.cancel)
        else:
            question = ruled
    run.language = question.language
    if question.note == run.say("llm_down"):  # its server refuses every call: said once, by the answer's step
        run.refused = True
    elif question.note:
        run.degraded.append(question.note)
        yield Status(question.note, "condense", warning=True)
    asked = next((typed(turn.content) for turn in reversed(turns) if turn.role == "user"), "")
    retyped = question.original == as_meant(asked) != asked
    if len(asked) > run.settings.condense.question_characters:
        yield run.missing("condense", "question_cut", count=run.settings.condense.question_characters)
    if question.need in ("search", "outside") and (retyped or question.text != question.original):
        yield run.status("condense", "understood", question=question.text)
    return question, early if question.text == ruled.text else None


def search_question(
    run: QuestionRun, question: Question, identity: Identity, early: Future[Vector] | None
) -> Generator[Status, None, tuple[list[Candidate], Rights]]:
    """Candidates under the rights of the person. Raises ``StoreError`` when the store is down."""
    yield run.status("search", "searching")
    kit, settings = run.kit, run.settings.search
    with run.stage("embed"):
        dense = yield from _dense(run, question, early)
        sparse = yield from _sparse(run, question)
    if dense is None and sparse is None:
        raise ModelError(run.say("store_down"))
    with run.stage("search"):

        def work() -> tuple[list[Candidate], Rights]:
            check_readable(kit.reader.fingerprint(), kit.embedder, kit.sparse, run.settings.chunking)
            rights = current_rights(identity, kit.reader, run.settings.access)
            run.calibration = kit.reader.calibration()
            return search(Query(dense, sparse, question.text), rights, reader=kit.reader, settings=settings), rights

        found, rights = kit.guard.call("store", work, seconds=settings.timeout, cancel=run.cancel)
        if rights.sources is not None:
            yield run.missing("search", "rights_old")
        if not kit.reader.whole():
            yield run.missing("search", "index_unfinished")
        return boost_preferred(found, question, settings), rights


def _dense(
    run: QuestionRun, question: Question, early: Future[Vector] | None
) -> Generator[Status, None, Vector | None]:
    try:
        return early.result(run.settings.search.timeout) if early else _embed(run, question)
    except (ModelError, TimeoutError):
        yield run.missing("search", "embedder_down")
        return None


def _embed(run: QuestionRun, question: Question) -> Vector:
    kit, seconds = run.kit, run.settings.search.timeout
    return kit.guard.call(
        "embedder", lambda: question_vector(question, kit.embedder), seconds=seconds, cancel=run.cancel
    )


def _sparse(run: QuestionRun, question: Question) -> Generator[Status, None, Sparse | None]:
    kit, seconds = run.kit, run.settings.search.timeout
    terms = search_terms(question, kit.glossary, kit.synonyms)
    try:
        return kit.guard.call(
            "sparse encoder",
            lambda: question_sparse(question, terms, kit.sparse),
            seconds=seconds,
            cancel=run.cancel,
        )
    except ModelError:
        yield run.missing("search", "sparse_down")
        return None


def pass_gates(
    run: QuestionRun, question: Question, found: Sequence[Candidate]
) -> Generator[Status, None, list[Candidate]]:
    """Similarity, cross-encoder, strict minimum; without the cross-encoder the order of the search stays."""
    kit, settings = run.kit, run.settings.rerank
    with run.stage("rerank"):
        if kit.reranker is None:
            return gate(found, question.text, reranker=None, settings=settings)
        yield run.status("rerank", "reranking")
        try:
            return kit.guard.call(
                "reranker",
                lambda: gate(found, question.text, reranker=kit.reranker, settings=settings),
                seconds=settings.timeout,
                cancel=run.cancel,
            )
        except ModelError:
            yield run.missing("rerank", "reranker_down")
            return gate(found, question.text, reranker=None, settings=settings)


def recheck(
    run: QuestionRun, identity: Identity, gated: Sequence[Candidate]
) -> Generator[Status, None, list[Candidate]]:
    """Without the pages that the live wiki refuses to this person now; how many they were is only logged."""
    if not run.settings.access.recheck or not gated:
        return list(gated)
    pages = {candidate.chunk.page_id for candidate in gated}
    with run.stage("recheck"):
        try:
            refused = refused_now(pages, identity, run.kit, run.settings, run.cancel)
        except (StoreError, ModelError) as error:
            logger.warning("restrictions are as the index has them: %s", error)
            yield run.missing("search", "recheck_down")
            return list(gated)
    logger.info("recheck: %d of %d pages are refused by the wiki", len(refused), len(pages))
    return [candidate for candidate in gated if candidate.chunk.page_id not in refused]


def refused_now(
    pages: Collection[str], identity: Identity, kit: Kit, settings: Settings, cancel: threading.Event | None
) -> Collection[str]:
    """Those pages that the live wiki refuses to this person. StoreError, ModelError: it does not say in time."""
    seconds = settings.access.recheck_timeout
    return kit.guard.call("wiki", lambda: refused_pages(pages, identity, settings), seconds=seconds, cancel=cancel)


def check_relevance(
    run: QuestionRun, question: Question, gated: Sequence[Candidate]
) -> Generator[Status, None, list[Candidate]]:
    """The LLM's verdicts; without them the candidates stay as they are."""
    if run.llm is None or not run.settings.relevance.enabled or not gated:
        return list(gated)
    settings = run.settings.relevance
    yield run.status("relevance", "relevance", total=min(len(gated), settings.first or len(gated)))
    untold = Untold()
    settings = replace(settings, total_timeout=settings.total_timeout - run.timings.get("relevance", 0.0))
    with run.stage("relevance"):
        judged = yield from judge(gated, question, kit=run.kit, settings=settings, cancel=run.cancel, untold=untold)
    if untold.refused:  # which the answer's step says
        run.refused = True
        return judged
    yield from _say_untold(run, untold, len(judged))
    return judged


def _say_untold(run: QuestionRun, untold: Untold, total: int) -> Iterator[Status]:
    """What happened to the candidates without a verdict, each reason in its own words."""
    if total and untold.failed + untold.late == total:
        yield run.missing("relevance", "relevance_down")
        return
    reasons = {"relevance_late": untold.late + untold.failed, "relevance_unread": untold.unread}
    for name, count in reasons.items():
        if count:
            yield run.missing("relevance", name, count=count, total=total)
