"""``python -m tests.bench.parts NAME=STORE:QUESTIONS … [--made N]``: what each part of the search is worth.

STORE is the folder of an embedded index, QUESTIONS a question file over it; ``--made`` adds N questions made of each
index's headings, N that ask for a screen or a concept, N of its sentences, N follow-ups that change the topic, and its
questions again with the label of their page. Printed: the plain script, the search as it is, and the difference that
each part makes (with it less without it, paired, 95 % bootstrap intervals; * where it is not chance). All without
synonyms.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

from askwiki.configuration import load_configuration
from askwiki.data import Question
from askwiki.encoders.factory import make_embedder
from askwiki.evaluate.metrics import recall, reciprocal_rank
from askwiki.evaluate.statistics import Estimate, paired_difference
from askwiki.language.glossary import load_glossary
from askwiki.language.synonyms import load_synonyms
from tests.bench.parts.asked import Asked, of_changes, of_file, of_headings, of_kinds, of_labels, of_sentences
from tests.bench.parts.memory import MemoryIndex, load
from tests.bench.parts.replay import VARIANTS, Bench, Remembered, ranking
from tests.bench.parts.script import Script

MEASURES = ("recall@1", "recall@10", "recall@50", "mrr@10", "pages@10")
SHOWN = ("recall@1", "recall@10", "mrr@10")
MADE = {"headings": of_headings, "kinds": of_kinds, "sentences": of_sentences}
Ranking = Callable[[Question], list[str]]


@dataclass(frozen=True, slots=True)
class Source:
    """Questions over one index."""

    name: str
    index: MemoryIndex
    asked: list[Asked]


def sources_of(places: Sequence[str], made: int) -> list[Source]:
    indexes: dict[str, MemoryIndex] = {}
    sources = []
    for place in places:
        name, _, rest = place.partition("=")
        store, _, file = rest.partition(":")
        fresh = store not in indexes
        index = indexes.setdefault(store, indexes[store] if not fresh else load(Path(store)))
        asked = of_file(Path(file), index.chunks)
        sources.append(Source(name, index, asked))
        if made and fresh:
            sources.append(Source(f"{name}: changes of topic", index, of_changes(asked, made)))
            labelled, index_with_labels = of_labels(asked, index)
            sources.append(Source(f"{name}: labels", index_with_labels, labelled))
            for kind, make in MADE.items():
                sources.append(Source(f"{name}: {kind}", index, make(index.chunks, made)))
    return [source for source in sources if source.asked]


def measured(asked: Asked, found: Sequence[str], index: MemoryIndex) -> dict[str, float]:
    """Of one question. ``pages@10``: whether every page that is needed is among the first ten chunks."""
    ranks = [next((rank for rank, name in enumerate(found, 1) if name in of), None) for of in asked.holding]
    near = {index.by_id[name].page_id for name in found[:10]}
    return {
        "recall@1": recall(ranks, 1),
        "recall@10": recall(ranks, 10),
        "recall@50": recall(ranks, 50),
        "mrr@10": reciprocal_rank(ranks, 10),
        "pages@10": float(all(near & pages for pages in asked.pages)),
    }


def run(source: Source, order: Ranking) -> list[dict[str, float]]:
    return [measured(each, order(each.question), source.index) for each in source.asked]


def shown(name: str, values: Sequence[Estimate]) -> str:
    cells = [f"{each.value:+.3f} {each.low:+.3f}…{each.high:+.3f}{_mark(each)}" for each in values]
    return f"  {name:30} " + " ".join(f"{cell:24}" for cell in cells)


def _mark(each: Estimate) -> str:
    return "*" if each.low > 0 or each.high < 0 else " "


def bench_of(environ: os._Environ[str]) -> Bench:
    configuration = load_configuration(environ)
    folder, settings = configuration.folder, configuration.settings
    embedder = Remembered(make_embedder(settings.embedding))
    synonyms = load_synonyms(folder / "synonyms.yaml")
    return Bench(settings, embedder, load_glossary(folder / "glossary.yaml"), synonyms)  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.bench.parts")
    parser.add_argument("place", nargs="+", metavar="NAME=STORE:QUESTIONS")
    parser.add_argument("--made", type=int, default=0, metavar="N")
    options = parser.parse_args()
    bench = bench_of(os.environ)
    for source in sources_of(options.place, options.made):
        script = Script(source.index, bench.embedder, Path(bench.settings.sync.cache))
        rows = {"the plain script": run(source, script.ranking)}
        for variant in VARIANTS:
            rows[variant.name] = run(source, partial(ranking, index=source.index, bench=bench, variant=variant))
        print(f"\n{source.name}: {len(source.asked)} questions, {len(source.index.chunks)} chunks")
        for name in ("the plain script", "as it is"):
            means = [f"{measure} {fmean(each[measure] for each in rows[name]):.3f}" for measure in MEASURES]
            print(f"  {name:30} {'  '.join(means)}")
        print(f"  {'as it is, less without:':30} " + " ".join(f"{measure:24}" for measure in SHOWN))
        now = rows["as it is"]
        for name, row in rows.items():
            if name != "as it is":
                differences = [
                    paired_difference([each[of] for each in row], [each[of] for each in now]) for of in SHOWN
                ]
                print(shown(name, differences), flush=True)


if __name__ == "__main__":
    main()
