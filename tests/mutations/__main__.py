"""``python -m tests.mutations``: which share of small changes in the modules that decide do the tests see?"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.mutations.copies import CALM, Copy, project_copy
from tests.mutations.equivalent import EQUIVALENT
from tests.mutations.flips import Flip, flip_of, sites_of
from tests.mutations.table import NEAREST, NOT_NEAR

LEAST = 0.95  # 19 of 20 of those that change behaviour
SEEN, NOT_SEEN, SAME = "seen", "NOT SEEN", "equivalent"


def drawn(folder: Path, modules: Sequence[str], count: int, seed: int) -> list[Flip]:
    """Different changes, drawn from all sites of the modules alike; grouped by module."""
    dice = random.Random(seed)
    sources = {module: (folder / module).read_text(encoding="utf-8") for module in modules}
    sites = [(module, site) for module in modules for site in sites_of(sources[module])]
    chosen = dice.sample(sites, min(count, len(sites)))
    flips = [flip_of(module, sources[module], site, dice) for module, site in chosen]
    return sorted(flips, key=lambda flip: (modules.index(flip.module), flip.line))


def outcome(flip: Flip, copy: Copy) -> str:
    if flip.name in EQUIVALENT:
        return SAME
    with copy.changed(flip.module, flip.source):
        return SEEN if copy.fails(NEAREST[flip.module], NOT_NEAR) else NOT_SEEN


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="another seed draws other changes")
    parser.add_argument("--count", type=int, default=60, help="how many changes")
    parser.add_argument("--module", default="", metavar="TEXT", help="only modules whose path holds this")
    parser.add_argument("--without", default="", metavar="TEXT", help="no module whose path holds this")
    parser.add_argument("--seconds", type=float, default=240, help="time limit of one run of tests")
    options = parser.parse_args()
    os.nice(CALM)
    modules = [
        module for module in NEAREST if options.module in module and not (options.without and options.without in module)
    ]
    counts: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    with project_copy(options.seconds) as copy:
        nearest = sorted({file for module in modules for file in NEAREST[module]})
        if copy.fails(nearest, NOT_NEAR):
            print("The tests fail already without a change; mend that first.")
            return 2
        for flip in drawn(copy.folder, modules, options.count, options.seed):
            started = time.monotonic()
            found = outcome(flip, copy)
            counts[found] += 1
            missed[flip.module] += found == NOT_SEEN
            seconds = time.monotonic() - started
            print(f"{found:10} {seconds:5.1f} s  line {flip.line}  {flip.name}", flush=True)
    for module, number in missed.most_common():
        if number:
            print(f"{number} not seen in {module}")
    behaving = counts[SEEN] + counts[NOT_SEEN]
    share = counts[SEEN] / max(1, behaving)
    print(f"{counts[SEEN]} of {behaving} changes of behaviour seen ({share:.0%}), {counts[SAME]} change nothing.")
    return 0 if share >= LEAST else 1


if __name__ == "__main__":
    raise SystemExit(main())
