"""``python -m tests.audit KIND:PATH [answers.jsonl]``: what quotations leave out without a word; 0 is right.

Without ``answers.jsonl`` (of ``askwiki eval --out``) every section of every page is quoted for words of its own.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter

from askwiki.configuration import load_configuration
from askwiki.data import Page
from askwiki.stages.extractive.counts import counted_in
from askwiki.texts import load_texts
from indexer.opening import open_source
from tests.audit.answers import of_answers
from tests.audit.faults import KINDS, Fault, faults
from tests.audit.placing import unplaced
from tests.audit.quoting import Quotation, quotations

SHOWN = 3  # examples of a kind


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.audit", description=__doc__)
    parser.add_argument("source", metavar="KIND:PATH")
    parser.add_argument("answers", nargs="?", help="answers.jsonl of a run of askwiki eval")
    options = parser.parse_args()
    configuration = load_configuration(os.environ)
    pages = [page for page in open_source(options.source, configuration).pages() if isinstance(page, Page)]
    if options.answers:
        quoted = list(of_answers(options.answers, pages))
    else:
        count = counted_in(load_texts(configuration.folder / "texts"), "ru")
        quoted = [each for page in pages for each in quotations(page, configuration.settings.answer, count)]
    return _report(quoted)


def _report(quoted: list[Quotation]) -> int:
    found: dict[str, list[tuple[Quotation, Fault]]] = {kind: [] for kind in KINDS}
    strange = 0
    for each in quoted:
        strange += len(unplaced(each.page.markdown, each.text))
        for fault in faults(each.page.markdown, each.text, each.label):
            found[fault.kind].append((each, fault))
    print(f"quotations: {len(quoted)}, pieces that no page has: {strange}")
    for kind, of in found.items():
        print(f"{kind}: {len(of)} in {len({id(each) for each, _ in of})} quotations")
        for each, fault in of[:SHOWN]:
            print(f"    {each.page.title} | {each.question[:60]} | {fault.said}")
    lengths = sorted(len(each.text) for each in quoted)
    if lengths:
        print(f"characters: median {lengths[len(lengths) // 2]}, nine in ten {lengths[9 * len(lengths) // 10]}")
    kinds = Counter(fault.kind for of in found.values() for _, fault in of)
    return int(bool(kinds))


if __name__ == "__main__":
    sys.exit(main())
