"""Questions that speak of the same thing, grouped by the word stems they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from askwiki.language.stems import telling_stems

ALIKE = 0.34  # least share of common stems: a third tells a topic in questions of three to six telling words
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Topic(Generic[T]):
    """What belongs together, named after its most typical question."""

    name: str
    items: tuple[T, ...]


def topics(items: Sequence[T], text: Callable[[T], str]) -> list[Topic[T]]:
    """The largest first. Each item joins the topic it shares most with, or begins one of its own."""
    groups: list[list[T]] = []
    stems: list[Counter[str]] = []
    for item in items:
        own = set(telling_stems(text(item)))
        best = max(range(len(groups)), key=lambda place: _overlap(own, stems[place], len(groups[place])), default=None)
        if best is None or _overlap(own, stems[best], len(groups[best])) < ALIKE:
            groups.append([])
            stems.append(Counter())
            best = len(groups) - 1
        groups[best].append(item)
        stems[best].update(own)
    named = [Topic(_typical(group, of, text), tuple(group)) for group, of in zip(groups, stems, strict=True)]
    return sorted(named, key=lambda topic: -len(topic.items))


def _overlap(own: set[str], stems: Counter[str], size: int) -> float:
    """Share of the stems of either that both have; a stem that few of the group use counts for less."""
    if not own or not stems:
        return 0.0
    common = sum(stems[stem] / size for stem in own)
    every = len(own) + sum(count / size for stem, count in stems.items() if stem not in own)
    return common / every


def _typical(group: Sequence[T], stems: Counter[str], text: Callable[[T], str]) -> str:
    """The question whose stems most others share; of equal ones the shortest."""

    def weight(item: T) -> tuple[float, int]:
        own = set(telling_stems(text(item)))
        return (-sum(stems[stem] for stem in own) / max(len(own), 1), len(text(item)))

    return text(min(group, key=weight))
