"""``python -m tests.bench.parts.quotations NAME=STORE:QUESTIONS …``: what each weight of the quotations is worth.

Of each question with an answer: the share of its expected passages that stand in the quotations which the chat would
show without a language model. Printed: as it is, and the difference that each weight makes (with it less without it,
paired, 95 % bootstrap intervals; * where it is not chance), the characters quoted beside it. All without synonyms.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from types import ModuleType
from typing import Any

from askwiki.data import Candidate, Passage, Question
from askwiki.evaluate.questions import GoldQuestion, load_questions
from askwiki.evaluate.running.quoted import quoted_of
from askwiki.evaluate.statistics import paired_difference
from askwiki.language.synonyms import Synonyms
from askwiki.language.wording import asks_for_all
from askwiki.llm.tokens import make_counter
from askwiki.stages import search as search_stage
from askwiki.stages.condense import by_rule
from askwiki.stages.extractive import meaning, quotations, scoring
from askwiki.stages.extractive.counts import counted_in
from askwiki.stages.extractive.meaning import similarities
from askwiki.stages.passages.assemble import make_passages
from askwiki.stages.question_vector import question_vector
from askwiki.texts import load_texts
from tests.bench.parts.__main__ import Bench, bench_of, shown
from tests.bench.parts.memory import MemoryIndex, load
from tests.bench.parts.replay import WHO, found_for


@dataclass(frozen=True, slots=True)
class Weights:
    """Constants of ``stages/extractive/scoring.py`` and ``quotations.py`` that are changed."""

    name: str
    scoring: Mapping[str, Any] = field(default_factory=dict)
    choosing: Mapping[str, Any] = field(default_factory=dict)


VARIANTS = (
    Weights("as it is"),
    Weights("not by the question's words", {"BY_WORDS": 0.0}),
    Weights("not by meaning", {"BY_MEANING": 0.0}),
    Weights("not by the search", {"BY_SEARCH": 0.0}),
    Weights("all three alike", {"BY_WORDS": 1 / 3, "BY_MEANING": 1 / 3, "BY_SEARCH": 1 / 3}),
    Weights("no weight of what stands above", {"ABOVE": 0.0}),
    Weights("groups of half the best score too", choosing={"NEAR_SHARE": 0.5}),
    Weights("groups of any score too", choosing={"NEAR_SHARE": 0.0}),
    Weights("a group may take all", choosing={"SHARE": 1.0}),
    Weights("nothing of what goes on", choosing={"BEHIND": 0}),
)


@dataclass(frozen=True, slots=True)
class Ready:
    """A question with all that its quotations are made of."""

    gold: GoldQuestion
    question: Question
    candidates: Sequence[Candidate]
    passages: Sequence[Passage]


def ready(gold: GoldQuestion, index: MemoryIndex, bench: Bench) -> Ready:
    question = by_rule(gold.turns, bench.settings.condense)
    found = found_for(question, index, bench)
    passages = make_passages(
        found,
        WHO,
        reader=index,  # type: ignore[arg-type]
        count=make_counter(bench.settings.llm),
        settings=bench.settings.passages,
        wide=asks_for_all(question.text),
    ).passages
    return Ready(gold, question, found, passages)


def quoted(of: Ready, bench: Bench, weights: Weights, count: Callable[..., str]) -> tuple[float, int]:
    """(share of the expected passages that are quoted, characters quoted)."""
    vector = question_vector(of.question, bench.embedder)
    own = search_stage.own_words(of.question)
    terms = search_stage.search_terms(of.question, bench.glossary, Synonyms())
    asked, terms = (own, (*terms, of.question.previous)) if own else (of.question.text, terms)
    with changed(scoring, weights.scoring), changed(quotations, weights.choosing):
        found = quotations.extract(
            of.passages,
            of.candidates,
            asked,
            terms,
            bench.settings.answer,
            count,
            similar=lambda texts: similarities(texts, vector, bench.embedder),
        )
    said = quoted_of(quotations.as_markdown(found), of.gold.gold)
    return (len(said.entries) / len(of.gold.gold), said.characters) if said else (0.0, 0)


@contextmanager
def changed(module: ModuleType, names: Mapping[str, Any]) -> Iterator[None]:
    before = {name: getattr(module, name) for name in names}
    vars(module).update(names)
    try:
        yield
    finally:
        vars(module).update(before)


def main(places: Sequence[str]) -> None:
    meaning.REMEMBERED = sys.maxsize  # every variant compares the same texts
    bench = bench_of(os.environ)
    count = counted_in(load_texts(Path("config/texts")), "ru")
    for place in places:
        name, _, rest = place.partition("=")
        store, _, file = rest.partition(":")
        index = load(Path(store))
        asked = [ready(each, index, bench) for each in load_questions(Path(file)) if each.answerable]
        rows = {each.name: [quoted(of, bench, each, count) for of in asked] for each in VARIANTS}
        now = rows.pop("as it is")
        print(f"\n{name}: {len(asked)} questions")
        print(f"  {'as it is':34} {fmean(share for share, _ in now):.3f}  {median(size for _, size in now):.0f}")
        for variant, row in rows.items():
            difference = paired_difference([share for share, _ in row], [share for share, _ in now])
            print(f"{shown(variant, [difference])} {median(size for _, size in row):.0f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
