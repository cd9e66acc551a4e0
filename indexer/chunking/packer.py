"""Parts into pieces of the wished size, cut where it costs a reader least."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from indexer.chunking.units import IN_A_SENTENCE, PageUnit

# What a piece of half the wished size costs, on the scale of the border prices. Fuller pieces are found
# first more often: a border between sentences is taken when no better one leaves three quarters full.
HALF_FULL = 75
OVERLAP_SHARE = 0.2  # of the wished size: longer sentences and rows are not repeated
HEADER_SHARE = 0.4  # of the wished size: wider table headers are not repeated


class Size(NamedTuple):
    """Tokens for the text of a piece: wished, and never more than ``most``."""

    wished: float
    most: float


class Piece(NamedTuple):
    """``text[start:end]`` of the page, after the earlier stretches in ``lead`` that it repeats."""

    start: int
    end: int
    lead: tuple[tuple[int, int], ...] = ()

    @property
    def stretches(self) -> tuple[tuple[int, int], ...]:
        """All of the page that it holds, what it repeats first."""
        return *self.lead, (self.start, self.end)

    def text(self, page: str) -> str:
        own = page[self.start : self.end]
        return "".join([*(page[start:end] for start, end in self.lead), own]) if self.lead else own

    @property
    def overlap(self) -> int:
        """Leading characters of the piece's text that repeat earlier text."""
        return sum(end - start for start, end in self.lead) if self.lead else 0


def pack_units(units: Sequence[PageUnit], tokens: Sequence[float], size: Size, overlap_sentences: int) -> list[Piece]:
    """Pieces that hold all units in order; ``tokens`` is the length of each unit. What a piece repeats takes room."""
    density = sum(tokens) / max(units[-1].end - units[0].start, 1) if units else 0.0

    def lead(start: int) -> tuple[tuple[int, int], ...]:
        return _lead(units, tokens, start, size, overlap_sentences) if start else ()

    def repeated(start: int) -> float:
        return sum(end - begin for begin, end in lead(start)) * density

    packed = pack([unit.price for unit in units], tokens, size, repeated=repeated)
    return [Piece(units[start].start, units[end - 1].end, lead(start)) for start, end in packed]


def pack(
    prices: Sequence[int],
    tokens: Sequence[float],
    size: Size,
    *,
    repeated: Callable[[int], float] = lambda start: 0.0,
) -> Iterator[tuple[int, int]]:
    """The one packer: (first, after) of the parts of each piece; ``tokens`` are their lengths.

    From each beginning the cheapest border within reach is taken: its price, plus what an underfilled
    piece costs. So parts whose borders cost nothing fill each piece as far as they go. ``repeated``:
    tokens of what a piece that begins with this part repeats.
    """
    start = 0
    left = sum(tokens)
    while start < len(tokens):
        taken = repeated(start)
        end = _best_end(prices, tokens, start, Size(size.wished - taken, size.most - taken), left)
        yield start, end
        left -= sum(tokens[start:end])
        start = end


def pack_runs(kinds: Sequence[Hashable], tokens: Sequence[float], size: Size) -> Iterator[tuple[int, int]]:
    """``pack`` where no border is dearer than another and no piece may hold parts of two kinds."""
    at = 0
    for _, run in groupby(kinds):
        parts = len(list(run))
        for first, after in pack([0] * parts, tokens[at : at + parts], size):
            yield at + first, at + after
        at += parts


def _best_end(prices: Sequence[int], tokens: Sequence[float], start: int, size: Size, left: float) -> int:
    """The part before which to cut; at least one part is taken."""
    if left <= size.most:
        return len(tokens)
    best, lowest = start + 1, float("inf")
    filled = 0.0
    for end in range(start + 1, len(tokens)):
        filled += tokens[end - 1]
        if filled > size.most:
            break
        cost = prices[end] + 4 * HALF_FULL * max(1 - filled / size.wished, 0.0) ** 2
        if cost <= lowest:
            best, lowest = end, cost
    return best


def _lead(
    units: Sequence[PageUnit], tokens: Sequence[float], start: int, size: Size, overlap_sentences: int
) -> tuple[tuple[int, int], ...]:
    """What a piece that begins with this unit repeats: a table's header, a fence's line, sentences."""
    unit = units[start]
    if unit.lead:
        density = tokens[start] / max(unit.end - unit.start, 1)
        kept = unit.lead
        while kept and sum(end - begin for begin, end in kept) * density > size.wished * HEADER_SHARE:
            kept = kept[:-1]
        return kept
    if not unit.prose or unit.price == IN_A_SENTENCE:
        return ()
    first = start
    while first > 0 and start - first < overlap_sentences and units[first - 1].prose:
        if sum(tokens[first - 1 : start]) > size.wished * OVERLAP_SHARE:
            break
        first -= 1
    return ((units[first].start, unit.start),) if first < start else ()
