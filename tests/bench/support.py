"""``python -m tests.bench.support``: markers kept and dropped over pairs, by kind with intervals."""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from askwiki.configuration import load_configuration
from askwiki.data import Page, Passage
from askwiki.evaluate.statistics import percentile, wilson
from askwiki.stages.citations.checked_stream import SentenceGate
from askwiki.stages.citations.support import Known, excused, known
from indexer.opening import open_source
from tests.bench.support_pairs import Pair, pairs_of, paragraph_pages, reference_pairs

LEAST_SHARE = 0.4
ANY_OF = "honest: reference answer"  # cited to all gold sections, of which one sentence may need only one
ROOT = Path(__file__).resolve().parents[2]


def right(pair: Pair) -> tuple[bool, float]:
    """Whether an honest pair keeps all its markers, or a broken one loses them; and the seconds it took."""
    passages = {number: known_of(pair.page, pair.title, text) for number, text in pair.passages.items()}
    gate = gate_of(passages, pair.question)
    begun = time.perf_counter()
    gate.feed(pair.answer)
    gate.finish()
    took = time.perf_counter() - begun
    kept = set(gate.numbers) - set(gate.listed)
    return (bool(kept) if pair.kind == ANY_OF else kept == pair.right), took


def gate_of(passages: Mapping[int, Known], question: str) -> SentenceGate:
    return SentenceGate(
        passages, hosts=frozenset(), least_share=LEAST_SHARE, broken_diagram="", excused=excused(question)
    )


@lru_cache(maxsize=64)
def known_of(page: str, title: str, text: str) -> Known:
    """A passage is read once for all answers over it, as in the chat for all sentences of one answer."""
    return known(Passage(1, page, title, (), (), "", "", text, ()))


def pages_of(sources: Sequence[str], squads: Sequence[Path]) -> dict[str, str]:
    """The Markdown of all pages by their ids, articles of question files in the form of SQuAD among them."""
    pages: dict[str, str] = {}
    for source in sources:
        found = open_source(source, load_configuration({})).pages()
        pages |= {page.id: page.markdown for page in found if isinstance(page, Page)}
    for file in squads:
        pages |= paragraph_pages(file)
    return pages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", nargs="*", default=[f"html:{ROOT / 'tests/wiki/html'}"], help="KIND:PATH of a wiki")
    parser.add_argument("--questions", type=Path, action="append", default=[], help="question file over these pages")
    parser.add_argument("--squad", type=Path, action="append", default=[], help="paragraphs in the form of SQuAD")
    parser.add_argument("--half", choices=("look", "held-out", "both"), default="both")
    parser.add_argument("--show", help="print the pairs of this kind that went wrong")
    parser.add_argument("--write", type=Path, help="all pairs as JSON lines, for reading")
    options = parser.parse_args()
    pages = pages_of(options.source, options.squad)
    pairs = [*pairs_of(pages), *(pair for file in options.questions for pair in reference_pairs(file, pages))]
    pairs = [one for one in pairs if options.half == "both" or one.held_out == (options.half == "held-out")]
    if options.write:
        options.write.write_text(
            "".join(f"{json.dumps([one.kind, one.answer], ensure_ascii=False)}\n" for one in pairs)
        )
    counts: dict[str, list[bool]] = defaultdict(list)
    seconds = []
    for pair in pairs:
        fine, took = right(pair)
        counts[pair.kind].append(fine)
        counts["all honest" if pair.right else "all broken"].append(fine)
        seconds.append(took)
        if options.show == pair.kind and not fine:
            print(f"{pair.page}: {pair.answer}")
    for kind in sorted(counts):
        share = wilson(sum(counts[kind]), len(counts[kind]))
        print(f"{kind:28} {share.value:.3f} [{share.low:.3f}, {share.high:.3f}]  n = {share.n}")
    print(
        f"milliseconds an answer: p50 {1000 * percentile(seconds, 0.5):.2f}, p95 {1000 * percentile(seconds, 0.95):.2f}"
    )


if __name__ == "__main__":
    main()
