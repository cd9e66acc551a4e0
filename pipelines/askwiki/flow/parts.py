"""A question of several parts: what the first search did not bring of one of them is looked for once more."""

from __future__ import annotations

import logging
from collections.abc import Generator, Sequence
from dataclasses import replace

from askwiki.data import Candidate, Identity, Question, Rights, Status
from askwiki.errors import ModelError, ModelRefuses, StoreError
from askwiki.flow.lookup import drain
from askwiki.flow.retrieve import check_relevance, pass_gates, recheck, search_question
from askwiki.flow.run import QuestionRun
from askwiki.language.wording import may_have_parts
from askwiki.stages.question_vector import own_words
from askwiki.stages.relevance.linked import linked_candidates
from askwiki.stages.relevance.missing import missing_part

logger = logging.getLogger(__name__)

PART_CANDIDATES = 8  # best finds of a part's own search: where none of them is relevant yet, they are judged
LEAST_SECONDS = 2.0  # of the time for judging; with less the parts are not looked for


def look_for_parts(
    run: QuestionRun, question: Question, identity: Identity, judged: Sequence[Candidate], rights: Rights
) -> Generator[Status, None, list[Candidate]]:
    """``judged`` with what was found for the parts that it holds nothing relevant about; once for each part.

    The parts are those that the condenser named; else, of a question that may have some, the one that the judge misses.
    What is not relevant to the whole question may be to a part of it, so that is judged once more.
    """
    found = list(judged)
    if run.llm is None or not run.settings.relevance.enabled:
        return found
    missed = "" if question.searches else _missed(run, question, judged)
    for text in filter(None, (*question.searches, missed)):
        if not _time_left(run):
            break
        part = replace(question, text=text, original=text, previous="", terms=(), searches=(), intent=None)
        verdicts = {each.chunk.id: each.verdict for each in found}
        try:
            best = drain(_best(run, part, identity))[:PART_CANDIDATES]
            linked = drain(_linked(run, part, identity, found, rights))
        except (StoreError, ModelError) as error:
            logger.warning("a part was not looked for: %s", error)
            yield run.missing("search", "part_down", part=text)
            continue
        asked = {each.chunk.id: each for each in (*best, *linked) if verdicts.get(each.chunk.id) != "yes"}
        there = any(verdicts.get(each.chunk.id) == "yes" for each in best) or verdicts.keys() >= asked.keys()
        if not asked or (there and not missed):  # what the judge misses is not there, whatever it said before
            continue
        yield run.status("search", "searching_more", part=text)
        again = yield from check_relevance(run, part, list(asked.values()))
        relevant = {each.chunk.id for each in again if each.verdict == "yes" or each.chunk.id not in verdicts}
        found = [each for each in found if each.chunk.id not in relevant]
        found += [each for each in again if each.chunk.id in relevant]
    order = ("yes", "unanswered", None, "no")
    return sorted(found, key=lambda each: order.index(each.verdict))


def _time_left(run: QuestionRun) -> bool:
    left = run.settings.relevance.total_timeout - run.timings.get("relevance", 0.0)
    return left >= LEAST_SECONDS and not run.refused


def _missed(run: QuestionRun, question: Question, judged: Sequence[Candidate]) -> str:
    """The part that the judge misses among what it found relevant; without an answer of the judge none."""
    relevant = [each for each in judged if each.verdict == "yes"]
    llm, settings = run.llm, run.settings.relevance
    if (question.language, "missing") not in run.kit.prompts.names():  # a folder of a company's own from before
        return ""
    if llm is None or not relevant or not may_have_parts(own_words(question) or question.text) or not _time_left(run):
        return ""
    with run.stage("relevance"):
        try:
            return missing_part(question, relevant, llm=llm, kit=run.kit, settings=settings, cancel=run.cancel)
        except ModelError as error:
            logger.warning("whether a part is missing is not known: %s", error)
            run.refused = run.refused or isinstance(error, ModelRefuses)
            return ""


def _best(run: QuestionRun, part: Question, identity: Identity) -> Generator[Status, None, list[Candidate]]:
    found, _ = yield from search_question(run, part, identity, None)
    return (yield from recheck(run, identity, (yield from pass_gates(run, part, found))))


def _linked(
    run: QuestionRun, part: Question, identity: Identity, judged: Sequence[Candidate], rights: Rights
) -> Generator[Status, None, list[Candidate]]:
    """Of the pages that relevant fragments link to."""
    relevant = [each for each in judged if each.verdict == "yes"]
    known = {each.chunk.id for each in relevant}

    def work() -> list[Candidate]:
        return linked_candidates(part.text, relevant, known, rights, run.kit.reader)

    found = run.kit.guard.call("store", work, seconds=run.settings.search.timeout, cancel=run.cancel)
    return (yield from recheck(run, identity, found))
