"""Where in the flow the gold text of a question was lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from askwiki.evaluate.outcome import STAGES, Outcome

PLACES = (*STAGES[:-1], "answer")  # the stages before the answer, then the answer itself


def entries_at(outcome: Outcome, stage: str) -> frozenset[int]:
    """Gold entries whose text some chunk or passage of this stage holds."""
    return frozenset(entry for hit in outcome.stages.get(stage, ()) for entry in hit.snippets)


def recall_by_stage(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """Mean share of a question's gold entries that is still there after each stage that ran."""
    asked = [each for each in outcomes if each.entries and not each.fault]
    ran = [stage for stage in STAGES if any(stage in each.stages for each in asked)]
    return {stage: fmean(len(entries_at(each, stage)) / each.entries for each in asked) for stage in ran}


def failed(outcome: Outcome) -> bool:
    """Graded 0; without a grade: refused or asked without all it needed, though the wiki has the answer."""
    if outcome.grade is not None or not outcome.answerable:
        return outcome.grade == 0
    return bool(outcome.refused) or len(entries_at(outcome, "prompt")) < outcome.entries


def lost_at(outcome: Outcome) -> str:
    """The first stage that let a gold entry go; ``answer`` when the model had all it needed."""
    for stage in STAGES[:-1]:
        if stage in outcome.stages and len(entries_at(outcome, stage)) < outcome.entries:
            return stage
    return "answer"


def lost_questions(outcomes: Sequence[Outcome]) -> dict[str, list[str]]:
    """Ids of the failed questions by the place where they were lost; what never ran is lost nowhere."""
    lost: dict[str, list[str]] = {place: [] for place in PLACES}
    for outcome in outcomes:
        if failed(outcome) and not outcome.fault:
            lost[lost_at(outcome)].append(outcome.id)
    return lost
