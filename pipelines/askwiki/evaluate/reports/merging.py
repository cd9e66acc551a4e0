"""Joins what several people and the judge said of the same answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from askwiki.evaluate.outcome import Outcome
from askwiki.evaluate.reports.review import HumanGrade


@dataclass(frozen=True, slots=True)
class Merged:
    """One grade an answer, and the answers on which people differ: those have none until settled."""

    grades: Mapping[str, HumanGrade]
    disputed: Mapping[str, tuple[HumanGrade, ...]]
    unknown: tuple[str, ...]  # graded, but not part of the run


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An answer on which judge and human differ."""

    id: str
    judge: int
    reason: str
    human: int
    comment: str


def merge(grades: Iterable[HumanGrade], outcomes: Sequence[Outcome]) -> Merged:
    """Where people agree their first words stand; the same sheet read twice changes nothing."""
    by_id: dict[str, list[HumanGrade]] = {}
    for grade in grades:
        by_id.setdefault(grade.id, []).append(grade)
    known = {outcome.id for outcome in outcomes}
    agreed: dict[str, HumanGrade] = {}
    disputed: dict[str, tuple[HumanGrade, ...]] = {}
    for name, given in by_id.items():
        if name not in known:
            continue
        if len({each.grade for each in given}) == 1:
            agreed[name] = given[0]
        else:
            disputed[name] = tuple(given)
    return Merged(agreed, disputed, tuple(name for name in by_id if name not in known))


def both_graded(outcomes: Iterable[Outcome], merged: Merged) -> tuple[list[int], list[int]]:
    """(judge's grades, human grades) of the answers that have both, in the order of the run."""
    pairs = [
        (outcome.grade, merged.grades[outcome.id].grade)
        for outcome in outcomes
        if outcome.grade is not None and outcome.id in merged.grades
    ]
    return [judge for judge, _ in pairs], [human for _, human in pairs]


def disagreements(outcomes: Iterable[Outcome], merged: Merged) -> list[Disagreement]:
    """The farthest apart first: 0 against 2 before 1 against 2."""
    differing = [
        Disagreement(outcome.id, outcome.grade, outcome.grades[0].reason, human.grade, human.comment)
        for outcome in outcomes
        if outcome.grade is not None
        and (human := merged.grades.get(outcome.id)) is not None
        and human.grade != outcome.grade
    ]
    return sorted(differing, key=lambda each: -abs(each.judge - each.human))
