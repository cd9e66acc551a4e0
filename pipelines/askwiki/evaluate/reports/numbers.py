"""The numbers of a run: ``report.json``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from askwiki.evaluate.metrics import mean_measures, measures, page_ranks, refusal_curve, snippet_ranks
from askwiki.evaluate.outcome import Outcome
from askwiki.evaluate.questions import SIDES
from askwiki.evaluate.statistics import percentile

Report = dict[str, Any]  # the JSON that is written; its keys are described in README.md


def retrieval_report(outcomes: Sequence[Outcome], settings: Mapping[str, Any], file: str) -> Report:
    """The report of a run that searched and did not answer."""
    return {
        "mode": "retrieval",
        "file": file,
        "questions": counts(outcomes),
        "retrieval": retrieval(outcomes),
        "by_kind": {kind: {"retrieval": rankings(of)} for kind, of in by_kind(outcomes).items()},
        "by_split": {side: {"retrieval": rankings(of)} for side, of in by_split(outcomes).items()},
        "confidence": refusal_curve(outcomes),
        "seconds": seconds(outcomes),
        "settings": dict(settings),
    }


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many questions there were, how many have an answer in the wiki, how many failed."""
    return {
        "all": len(outcomes),
        "answerable": sum(each.answerable for each in outcomes),
        "failed": sum(bool(each.fault) for each in outcomes),
    }


def retrieval(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Measures by snippet and by page, over answerable questions, and the same for each kind."""
    return {**rankings(outcomes), "by_kind": {kind: rankings(of) for kind, of in by_kind(outcomes).items()}}


def rankings(outcomes: Iterable[Outcome]) -> dict[str, dict[str, float]]:
    """A question that failed counts as one that found nothing."""
    ranked = [each for each in outcomes if each.answerable and each.entries]
    return {
        "snippet": mean_measures([measures(snippet_ranks(each.ranking, each.entries)) for each in ranked]),
        "page": mean_measures([measures(page_ranks(each.ranking, each.entries)) for each in ranked]),
    }


def by_kind(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """Outcomes grouped by the kind of their question, kinds in alphabetical order."""
    groups: dict[str, list[Outcome]] = {}
    for each in outcomes:
        groups.setdefault(each.kind, []).append(each)
    return dict(sorted(groups.items()))


def by_split(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """Outcomes of the tuning part and of the hold-out, as far as the file divides them."""
    kept = list(outcomes)
    sides = {side: [each for each in kept if each.split == side] for side in SIDES}
    return {side: of for side, of in sides.items() if of}


def seconds(outcomes: Iterable[Outcome]) -> dict[str, dict[str, float]]:
    """Median and 95th percentile of every stage's seconds, over the questions that ran through it."""
    stages: dict[str, list[float]] = {}
    for each in outcomes:
        for stage, spent in each.seconds.items():
            stages.setdefault(stage, []).append(spent)
    return {
        stage: {"p50": percentile(values, 0.5), "p95": percentile(values, 0.95)} for stage, values in stages.items()
    }
