"""``python -m tests.bench.parts.nested NAME=STORE:QUESTIONS …``: whether a choice of weights carries to another wiki.

Each index in turn is left out: the weights with the best MRR@10 on the others (each index counts the same) are put to
it, and compared with today's (paired, 95 % bootstrap intervals). The pages of a wiki are never on both sides.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from itertools import product
from statistics import fmean

from askwiki.evaluate.statistics import paired_difference
from tests.bench.parts.__main__ import bench_of, run, sources_of
from tests.bench.parts.replay import AS_IT_IS, Variant, ranking

GRID = {
    "sparse.gram_weight": (0.1, 0.2, 0.3),
    "search.depth": (50, 200),
    "search.weight_text": (0.7, 1.0, 1.4),
}


def main(places: Sequence[str]) -> None:
    bench, sources = bench_of(os.environ), sources_of(places, 0)
    indexes = list(dict.fromkeys(place.partition("=")[2].partition(":")[0] for place in places))
    owner = {place.partition("=")[0]: place.partition("=")[2].partition(":")[0] for place in places}
    grid = [Variant(str(values), dict(zip(GRID, values, strict=True))) for values in product(*GRID.values())]
    found: dict[tuple[str, str], list[float]] = {}
    for variant in (AS_IT_IS, *grid):
        for source in sources:
            rows = run(source, partial(ranking, index=source.index, bench=bench, variant=variant))
            found.setdefault((variant.name, owner[source.name]), []).extend(each["mrr@10"] for each in rows)
    print(f"{', '.join(GRID)}: the best of all but one, put to that one, less today's")
    for index in indexes:
        others = [each for each in indexes if each != index]
        best = max(grid, key=lambda each: fmean(fmean(found[each.name, other]) for other in others))
        gain = paired_difference(found[AS_IT_IS.name, index], found[best.name, index])
        print(f"  {index}: {best.name} {gain.value:+.3f} ({gain.low:+.3f} … {gain.high:+.3f}) of {gain.n}")


if __name__ == "__main__":
    main(sys.argv[1:])
