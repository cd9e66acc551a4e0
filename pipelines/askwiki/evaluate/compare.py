"""Two runs over the same questions, compared pair by pair: never two percentages alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from askwiki.errors import SourceError
from askwiki.evaluate.losses import entries_at
from askwiki.evaluate.metrics import NAMES, measures, page_ranks, snippet_ranks
from askwiki.evaluate.outcome import Outcome
from askwiki.evaluate.statistics import Estimate, paired_difference

Measure = Callable[[Outcome], float | None]  # None = the measure says nothing about this question


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One measure: its means over the questions that both runs have it for, and their paired difference."""

    name: str
    before: float
    after: float
    difference: Estimate

    @property
    def sure(self) -> bool:
        """The interval leaves out 0."""
        return self.difference.low > 0 or self.difference.high < 0


@dataclass(frozen=True, slots=True)
class OutcomeChange:
    """A question that went another way: what it was, what it is."""

    id: str
    question: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """All measures that both runs have, the questions that changed, those that only one run has."""

    rows: tuple[ComparisonRow, ...]
    better: tuple[OutcomeChange, ...]
    worse: tuple[OutcomeChange, ...]
    unpaired: tuple[str, ...]


def compare(before: Mapping[str, Outcome], after: Mapping[str, Outcome]) -> Comparison:
    """Question by question; a run with no question in common with the other raises."""
    common = [name for name in before if name in after]
    if not common:
        raise SourceError("The two runs have no question in common; compare runs over the same file.")
    pairs = [(before[name], after[name]) for name in common]
    rows = [row for name, measure in MEASURES.items() if (row := _row(name, measure, pairs)) is not None]
    changes = [(_worth(one), _worth(other), _change(one, other)) for one, other in pairs]
    return Comparison(
        rows=tuple(rows),
        better=tuple(change for old, new, change in changes if new > old),
        worse=tuple(change for old, new, change in changes if new < old),
        unpaired=tuple(sorted(before.keys() ^ after.keys())),
    )


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON, each row with whether its interval leaves out 0."""
    values = asdict(comparison)
    for row, of in zip(values["rows"], comparison.rows, strict=True):
        row["sure"] = of.sure
    return values


def comparison_rows(comparison: Comparison) -> list[list[str]]:
    """A table; ``*`` marks differences whose interval leaves out 0."""
    rows = [["measure", "before", "after", "difference", "95 % interval", "n", ""]]
    for row in comparison.rows:
        of = row.difference
        interval = f"{of.low:+.3f} … {of.high:+.3f}"
        means = [f"{row.before:.3f}", f"{row.after:.3f}", f"{of.value:+.3f}"]
        rows.append([row.name, *means, interval, str(of.n), "*" if row.sure else ""])
    return rows


def _row(name: str, measure: Measure, pairs: Sequence[tuple[Outcome, Outcome]]) -> ComparisonRow | None:
    values = [(measure(one), measure(other)) for one, other in pairs]
    both = [(one, other) for one, other in values if one is not None and other is not None]
    if not both:
        return None
    old, new = [one for one, _ in both], [other for _, other in both]
    return ComparisonRow(name, sum(old) / len(old), sum(new) / len(new), paired_difference(old, new))


def _ranking(name: str, by_page: bool = False) -> Measure:
    def measure(outcome: Outcome) -> float | None:
        if not outcome.entries:
            return None
        ranks = (page_ranks if by_page else snippet_ranks)(outcome.ranking, outcome.entries)
        return measures(ranks)[name]

    return measure


def _grade(outcome: Outcome) -> float | None:
    return None if outcome.grade is None else float(outcome.grade)


def _not_0(outcome: Outcome) -> float | None:
    return None if outcome.grade is None else float(outcome.grade > 0)


def _in_prompt(outcome: Outcome) -> float | None:
    if not outcome.entries or "prompt" not in outcome.stages:
        return None
    return len(entries_at(outcome, "prompt")) / outcome.entries


def _right_link(outcome: Outcome) -> float | None:
    if not outcome.entries or "prompt" not in outcome.stages:
        return None
    return float(any(link.right_page for link in outcome.links))


def _refused(outcome: Outcome) -> float | None:
    return float(bool(outcome.refused)) if "prompt" in outcome.stages else None


def _total(outcome: Outcome) -> float | None:
    return outcome.seconds.get("total")


MEASURES: dict[str, Measure] = {
    **{f"snippet {name}": _ranking(name) for name in NAMES},
    **{f"page {name}": _ranking(name, by_page=True) for name in NAMES},
    "grade": _grade,
    "grade not 0": _not_0,
    "gold in the prompt": _in_prompt,
    "right link": _right_link,
    "refused": _refused,
    "seconds": _total,
}


def _worth(outcome: Outcome) -> tuple[float, float]:
    """What makes a question better: the grade, else how early its gold is found."""
    found = _ranking(f"ndcg@{10}")(outcome) or 0.0
    return (float(outcome.grade if outcome.grade is not None else -1), 0.0 if outcome.grade is not None else found)


def _change(before: Outcome, after: Outcome) -> OutcomeChange:
    return OutcomeChange(before.id, before.question, _state(before), _state(after))


def _state(outcome: Outcome) -> str:
    ranks = snippet_ranks(outcome.ranking, outcome.entries)
    found = "/".join("–" if rank is None else str(rank) for rank in ranks)
    graded = [] if outcome.grade is None else [f"grade {outcome.grade}"]
    return ", ".join(graded + ([f"rank {found}"] if found else []))
