"""``python -m tests.bench.support_training LABELLED … --source KIND:PATH``: learns ``weights.json``, says how well.

Learned from answers with labels of people (the form of ``eval support``), judged by cross-validation over questions.
The pairs of the half of a wiki's pages that may be looked at show whether it holds in the other language, too: the
threshold is the lowest at which false alarms, those of the rules among them, stay below the limit here and there.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askwiki.evaluate.support_file import read_labelled
from askwiki.stages.citations.support import Known, claims, contradicted, excused, values_of
from askwiki.stages.evidence.features import NAMES
from tests.bench.support import known_of, pages_of
from tests.bench.support_pairs import Pair, pairs_of, reference_pairs

FOLDS, PENALTY, STEPS = 8, 10.0, 30
FALSE_ALARMS = 0.055  # the aim is 0.06: what is learned is always a little better where it was learned
MOST_OF_KIND = 300  # pairs
SUPPORTED = ("honest: reference answer", "honest: reordered", "honest: table row", "honest: number words")
UNSUPPORTED = ("broken: polarity", "broken: other number", "broken: other name")


@dataclass(frozen=True, slots=True)
class Example:
    """``group``: examples of one question or page are never on both sides; ``answer``: those of one answer."""

    values: list[float]
    bad: bool
    claims: bool
    clashes: bool
    group: str
    origin: str
    answer: int = -1


def of_labels(path: Path) -> Iterator[Example]:
    for number, answer in enumerate(read_labelled(path)):
        sources = [known_of("", "", text) for text in answer.passages]
        own = excused(answer.question)
        for text, bad in answer.sentences:
            yield Example(
                values_of(text, sources, own),
                bad,
                claims(text),
                contradicted(text, sources, own),
                answer.question,
                "labels",
                number,
            )


def of_pairs(pairs: Sequence[Pair]) -> Iterator[Example]:
    draw = random.Random(1)
    for kind in (*SUPPORTED, *UNSUPPORTED):
        of_kind = [pair for pair in pairs if pair.kind == kind]
        for pair in draw.sample(of_kind, min(MOST_OF_KIND, len(of_kind))):
            sources = [known_of(pair.page, pair.title, text) for text in pair.passages.values()]
            yield _example(pair, sources, kind in UNSUPPORTED, kind)
    honest = [pair for pair in pairs if pair.kind == "honest: copied"]
    for pair in draw.sample(honest, min(MOST_OF_KIND, len(honest))):  # what pages say, over those of quite another one
        other = draw.choice([one for one in honest if one.page != pair.page])
        yield _example(pair, [known_of(other.page, "", text) for text in other.passages.values()], True, "foreign")


def _example(pair: Pair, sources: Sequence[Known], bad: bool, origin: str) -> Example:
    said = pair.answer.partition(" [1]")[0]
    own = excused(pair.question)
    values, clashes = values_of(said, sources, own), contradicted(said, sources, own)
    return Example(values, bad, claims(said), clashes, pair.page, origin)


def fit(x: NDArray[np.float64], bad: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
    """Weights and intercept by Newton's method with a quadratic penalty on the standardized features."""
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale == 0] = 1.0
    z = np.column_stack([(x - mean) / scale, np.ones(len(x))])
    penalty = np.diag([PENALTY] * x.shape[1] + [0.0])
    w = np.zeros(z.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(z @ w, -30, 30)))
        w -= np.linalg.solve((z * (p * (1 - p))[:, None]).T @ z + penalty, z.T @ (p - bad) + penalty @ w)
    return w[:-1] / scale, float(w[-1] - (w[:-1] / scale) @ mean)


def cross_validated(x: NDArray[np.float64], bad: NDArray[np.bool_], groups: Sequence[str]) -> NDArray[np.float64]:
    """Each example's probability by weights learned without its group."""
    order = sorted(set(groups))
    random.Random(0).shuffle(order)
    fold = {group: place % FOLDS for place, group in enumerate(order)}
    folds = np.array([fold[group] for group in groups])
    found = np.zeros(len(bad))
    for number in range(FOLDS):
        w, intercept = fit(x[folds != number], bad[folds != number])
        found[folds == number] = probability(x[folds == number], w, intercept)
    return found


def probability(x: NDArray[np.float64], w: NDArray[np.float64], intercept: float) -> NDArray[np.float64]:
    found: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(x @ w + intercept, -30, 30)))
    return found


def report(examples: Sequence[Example], flagged: NDArray[np.bool_], bad: NDArray[np.bool_]) -> None:
    """Shares of flagged examples by their origin; of the labelled ones also F1 of sentences and answers."""
    origins = np.array([one.origin for one in examples])
    for origin in dict.fromkeys(origins):
        shares = [(name, flagged[(origins == origin) & of]) for name, of in (("bad", bad), ("fine", ~bad))]
        print(f"{origin:24}", *(f"{share.mean():.3f} of {len(share)} {name}" for name, share in shares if len(share)))
    labels = origins == "labels"
    print(f"sentences F1 {f1(flagged[labels], bad[labels]):.3f}")
    numbers = np.array([one.answer for one in examples])
    whole = [(flagged[numbers == one].any(), bad[numbers == one].any()) for one in range(numbers.max() + 1)]
    print(f"answers F1 {f1(np.array([one for one, _ in whole]), np.array([other for _, other in whole])):.3f}")


def f1(flagged: NDArray[np.bool_], bad: NDArray[np.bool_]) -> float:
    return float(2 * (flagged & bad).sum() / (flagged.sum() + bad.sum()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labelled", type=Path)
    parser.add_argument("--source", action="append", default=[], help="KIND:PATH of a wiki")
    parser.add_argument("--questions", type=Path, action="append", default=[])
    options = parser.parse_args()
    pages = pages_of(options.source, ())
    pairs = [*pairs_of(pages), *(pair for file in options.questions for pair in reference_pairs(file, pages))]
    labelled = list(of_labels(options.labelled))
    examples = [*labelled, *of_pairs([pair for pair in pairs if not pair.held_out])]
    x, bad = np.array([one.values for one in examples]), np.array([one.bad for one in examples])
    labels = np.arange(len(examples)) < len(labelled)
    w, intercept = fit(x[labels], bad[labels])
    found = np.concatenate([
        cross_validated(x[labels], bad[labels], [one.group for one in labelled]), probability(x[~labels], w, intercept)
    ])  # fmt: skip
    found[[one.clashes for one in examples]] = 1.0
    found *= [one.claims for one in examples]
    fine = [found[labels & ~bad], found[~labels & ~bad]]
    threshold = max(float(np.quantile(one, 1 - FALSE_ALARMS)) for one in fine if len(one))
    clashing = np.array([one.clashes for one in examples])
    print(f"by rules: {clashing[labels & bad].mean():.3f} of bad, {clashing[labels & ~bad].mean():.3f} of fine labels")
    flagged = found > threshold
    report(examples, flagged, bad)
    print(f"threshold {threshold:.3f}")
    learned = {
        "about": "Probability that no passage supports. Written by tests/bench/support_training.py.",
        "examples": len(labelled),
        "threshold": round(threshold, 4),
        "intercept": round(intercept, 4),
        "weights": {name: round(float(value), 4) for name, value in zip(NAMES, w, strict=True)},
    }
    Path(str(files("askwiki.stages.evidence").joinpath("weights.json"))).write_text(
        f"{json.dumps(learned, indent=2)}\n"
    )


if __name__ == "__main__":
    main()
