"""How a damaged name is told from one that is not known: it is a letter or two away from one that is."""

from __future__ import annotations

import functools

LONG = 7  # letters of a name; in a longer one two may be wrong


def misspelt(name: str, known: frozenset[str] | tuple[str, ...]) -> str:
    """The known name that this one nearly is, "" when it is known or far from all."""
    return "" if name in known else _nearest(name, tuple(sorted(known)))


@functools.lru_cache(maxsize=4096)  # an export has a few hundred names, each many thousand times
def _nearest(name: str, known: tuple[str, ...]) -> str:
    for other in known:
        allowed = 2 if len(other) > LONG else 1
        if abs(len(name) - len(other)) <= allowed and _distance(name.casefold(), other.casefold()) <= allowed:
            return other
    return ""


def _distance(first: str, second: str) -> int:
    """Letters to change, add or leave out (Levenshtein 1965)."""
    row = list(range(len(second) + 1))
    for number, letter in enumerate(first, start=1):
        before, row = row, [number]
        for place, other in enumerate(second):
            row.append(min(before[place] + (letter != other), before[place + 1] + 1, row[place] + 1))
    return row[-1]
