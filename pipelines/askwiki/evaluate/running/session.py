"""One measurement from questions to outcomes: ask what is open, judge what is not judged, keep all."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from askwiki.data import Identity
from askwiki.errors import AskWikiError, SourceError
from askwiki.evaluate.outcome import Outcome, append_outcomes, read_outcomes, write_outcomes
from askwiki.evaluate.questions import GoldQuestion
from askwiki.evaluate.running.asking import Ask, answerer, digest, searcher
from askwiki.evaluate.running.judge import judge
from askwiki.evaluate.running.observe import blank
from askwiki.kit import Kit
from askwiki.llm.port import Llm
from askwiki.settings import Settings

log = logging.getLogger(__name__)

ANSWERS = "answers.jsonl"

# Wraps the outcomes as they come, knowing how many there will be: a progress bar, or nothing.
Progress = Callable[[Iterable[Outcome], int, str], Iterable[Outcome]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure and how. Without ``folder`` nothing is kept and nothing can be resumed."""

    questions: Sequence[GoldQuestion]
    identity: Identity
    retrieval: bool  # search only
    parallel: int  # questions at once
    judgings: int = 0
    folder: Path | None = None


def without_progress(outcomes: Iterable[Outcome], total: int, task: str) -> Iterable[Outcome]:
    return outcomes


def perform(
    plan: Plan, *, kit: Kit, settings: Settings, in_force: Mapping[str, Any], progress: Progress = without_progress
) -> list[Outcome]:
    """Outcomes in the order of the questions; what an earlier run in the same folder did is kept."""
    file = plan.folder / ANSWERS if plan.folder else None
    if plan.folder:
        _make(plan.folder)
    done = read_outcomes(file) if file else {}
    ask = (searcher if plan.retrieval else answerer)(kit, plan.identity, settings)
    asked = run_all(plan.questions, ask, settings=in_force, done=done, parallel=plan.parallel)
    outcomes = _collect(file, progress(asked, len(plan.questions), "ask"), done)
    if kit.llm is not None and plan.judgings and not plan.retrieval:
        open_ones = [each for each in outcomes.values() if needs_judging(each, plan.judgings)]
        judged = judge_all(plan, open_ones, kit=kit, llm=kit.llm)
        outcomes |= _collect(file, progress(judged, len(open_ones), "judge"), outcomes)
    ordered = [outcomes[question.id] for question in plan.questions]
    if file:
        write_outcomes(file, ordered)
    return ordered


def run_all(
    questions: Sequence[GoldQuestion],
    ask: Ask,
    *,
    settings: Mapping[str, Any],
    done: Mapping[str, Outcome],
    parallel: int,
) -> Iterator[Outcome]:
    """Outcomes as they come; those in ``done`` that belong to this run are given back unasked.

    ``ask`` completes a blank outcome. What it raises of ours becomes the outcome's ``fault``.
    """
    open_questions = []
    for question in questions:
        run = digest(question, settings)
        kept = done.get(question.id)
        if kept is not None and kept.run == run and not kept.fault:
            yield kept
        else:
            open_questions.append((question, blank(question, run)))
    pool = ThreadPoolExecutor(max_workers=parallel, thread_name_prefix="eval")
    try:
        tasks = [pool.submit(_guarded, ask, question, outcome) for question, outcome in open_questions]
        for task in as_completed(tasks):
            yield task.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _guarded(ask: Ask, question: GoldQuestion, outcome: Outcome) -> Outcome:
    try:
        return ask(question, outcome)
    except AskWikiError as error:
        log.warning("question %s: %s", question.id, error)
        return replace(outcome, fault=str(error))


def needs_judging(outcome: Outcome, judgings: int) -> bool:
    """There is an answer, and a judgement is missing or failed."""
    given = [grade for grade in outcome.grades if grade.grade is not None]
    return not outcome.fault and len(given) < judgings


def judge_all(plan: Plan, outcomes: Sequence[Outcome], *, kit: Kit, llm: Llm) -> Iterator[Outcome]:
    """The outcomes with their grades, as they come."""
    questions = {question.id: question for question in plan.questions}

    def one(outcome: Outcome) -> Outcome:
        grades = judge(questions[outcome.id], outcome, kit=kit, llm=llm, judgings=plan.judgings)
        return replace(outcome, grades=grades)

    pool = ThreadPoolExecutor(max_workers=plan.parallel, thread_name_prefix="judge")
    try:
        for task in as_completed([pool.submit(one, outcome) for outcome in outcomes]):
            yield task.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _collect(file: Path | None, outcomes: Iterable[Outcome], done: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Take the outcomes as they come; new ones are written at once."""
    if file is None:
        return {outcome.id: outcome for outcome in outcomes}
    collected: dict[str, Outcome] = {}

    def new() -> Iterator[Outcome]:
        for outcome in outcomes:
            collected[outcome.id] = outcome
            if done.get(outcome.id) is not outcome:
                yield outcome

    for _ in append_outcomes(file, new()):
        pass
    return collected


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(f"The folder {folder} cannot be made: {error.strerror}.") from error
