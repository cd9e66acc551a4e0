"""The numbers of a run that answered: grades, losses, links, refusals, language, tokens."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from askwiki.evaluate.losses import lost_questions, recall_by_stage
from askwiki.evaluate.metrics import refusal_curve
from askwiki.evaluate.outcome import Outcome
from askwiki.evaluate.reports.merging import Merged, both_graded, disagreements
from askwiki.evaluate.reports.numbers import Report, by_kind, by_split, counts, rankings, retrieval, seconds
from askwiki.evaluate.running.judge import GRADES
from askwiki.evaluate.statistics import Estimate, kappa, percentile, wilson


def answers_report(
    outcomes: Sequence[Outcome], settings: Mapping[str, Any], file: str, merged: Merged | None = None
) -> Report:
    """Everything about a full run; with ``merged`` also what people said of it."""
    report: Report = {
        "mode": "answers",
        "file": file,
        "questions": counts(outcomes),
        "grades": grade_shares(grade for each in outcomes if (grade := each.grade) is not None),
        "judge": judge_steadiness(outcomes),
        "by_kind": {kind: _group(of) for kind, of in by_kind(outcomes).items()},
        "by_split": {side: _group(of) for side, of in by_split(outcomes).items()},
        "retrieval": retrieval(outcomes),
        "stages": recall_by_stage(outcomes),
        "lost": lost_questions(outcomes),
        "links": links(outcomes),
        "refusals": refusals(outcomes),
        "quotations": quotations(outcomes),
        "confidence": refusal_curve(outcomes),
        "language": share(sum(each.language_kept for each in _answered(outcomes)), len(_answered(outcomes))),
        "degraded": _degraded(outcomes),
        "tokens": tokens(outcomes),
        "seconds": seconds(outcomes),
        "settings": dict(settings),
    }
    return report if merged is None else {**report, "human": human(outcomes, merged)}


def grade_shares(grades: Iterable[int]) -> dict[str, Any]:
    """Share of each grade and of all that is not 0, with Wilson intervals."""
    given = list(grades)
    shares = {str(grade): share(given.count(grade), len(given)) for grade in GRADES}
    return {**shares, "not_0": share(sum(grade > 0 for grade in given), len(given)), "n": len(given)}


def judge_steadiness(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """How often a second judging gives another grade, and how often the judge failed."""
    twice = [
        (each.grades[0].grade, each.grades[1].grade)
        for each in outcomes
        if len(each.grades) > 1 and each.grades[0].grade is not None and each.grades[1].grade is not None
    ]
    return {
        "changed": share(sum(first != second for first, second in twice), len(twice)),
        "failed": sum(grade.grade is None for each in outcomes for grade in each.grades),
    }


def links(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Of answers that are no refusals: has it a link, a right one; of all links: right page, right section."""
    answered = _answered(outcomes)
    needed = [each for each in answered if each.answerable]
    given = [link for each in needed for link in each.links]
    supported = [each.supported for each in answered if each.supported is not None]
    return {
        "with_link": share(sum(any(link.url for link in each.links) for each in answered), len(answered)),
        "with_right_page": share(sum(any(link.right_page for link in each.links) for each in needed), len(needed)),
        "right_page": share(sum(link.right_page for link in given), len(given)),
        "right_section": share(sum(link.right_section for link in given), len(given)),
        "missing": [each.id for each in needed if not any(link.right_page for link in each.links)],
        "supported_sentences": sum(supported) / len(supported) if supported else None,
    }


def quotations(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Length of what answers quote, share of the gold entries in it, where the first one begins; empty without any.

    Of questions that the wiki answers a refusal quotes nothing of their gold.
    """
    quoted = [each.quoted for each in outcomes if each.quoted]
    if not quoted:
        return {}
    needed = [each for each in outcomes if each.answerable and each.entries and not each.fault]
    held = [len(each.quoted.entries) / each.entries if each.quoted else 0.0 for each in needed]
    lengths = [float(each.characters) for each in quoted]
    places = [each.place for each in quoted if each.place is not None]
    return {
        "n": len(quoted),
        "characters": {"p50": percentile(lengths, 0.5), "p90": percentile(lengths, 0.9)},
        "gold": sum(held) / len(held) if held else None,
        "place": {"p50": percentile(places, 0.5), "p90": percentile(places, 0.9)} if places else None,
    }


def refusals(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Right: nothing in the wiki and said so. Wrong: refused though it is there. Missed: answered anyway."""
    asked = [each for each in outcomes if not each.fault]
    without = [each for each in asked if not each.answerable]
    within = [each for each in asked if each.answerable]
    cases = {
        "right": ([each.id for each in without if each.refused], len(without)),
        "missed": ([each.id for each in without if not each.refused], len(without)),
        "wrong": ([each.id for each in within if each.refused], len(within)),
    }
    shares = {case: share(len(ids), whole) for case, (ids, whole) in cases.items()}
    return {**shares, **{f"{case}_ids": ids for case, (ids, _) in cases.items()}}


def tokens(outcomes: Iterable[Outcome]) -> dict[str, dict[str, float]]:
    """Per role: tokens of all questions together, and the median and 95th percentile of one."""
    roles: dict[str, list[int]] = {}
    for each in outcomes:
        for role, number in each.tokens.items():
            roles.setdefault(role, []).append(number)
    return {
        role: {"sum": sum(of), "p50": percentile(of, 0.5), "p95": percentile(of, 0.95)} for role, of in roles.items()
    }


def human(outcomes: Sequence[Outcome], merged: Merged) -> dict[str, Any]:
    """Grades by people, and how far the judge agrees with them."""
    judged, graded = both_graded(outcomes, merged)
    agreeing = sum(one == other for one, other in zip(judged, graded, strict=True))
    return {
        "grades": grade_shares(grade.grade for grade in merged.grades.values()),
        "agreement": share(agreeing, len(graded)),
        "weighted_kappa": estimate(kappa(judged, graded)),
        "disagreements": [dataclasses.asdict(each) for each in disagreements(outcomes, merged)],
        "disputed": {
            name: [{"grade": each.grade, "file": each.file} for each in given]
            for name, given in merged.disputed.items()
        },
        "unknown": list(merged.unknown),
    }


def share(part: int, whole: int) -> dict[str, Any]:
    """A share with its Wilson interval, as JSON."""
    return estimate(wilson(part, whole))


def estimate(of: Estimate) -> dict[str, Any]:
    """``Estimate`` as JSON, which knows no NaN."""
    return {name: None if math.isnan(value) else value for name, value in dataclasses.asdict(of).items()}


def _group(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    grades = grade_shares(grade for each in outcomes if (grade := each.grade) is not None)
    return {"questions": len(outcomes), "grades": grades, "retrieval": rankings(outcomes)}


def _answered(outcomes: Iterable[Outcome]) -> list[Outcome]:
    return [each for each in outcomes if not each.fault and not each.refused]


def _degraded(outcomes: Iterable[Outcome]) -> dict[str, int]:
    counted: dict[str, int] = {}
    for each in outcomes:
        for sentence in each.degraded:
            counted[sentence] = counted.get(sentence, 0) + 1
    return counted
