"""Cuts stretches of a page so that no embedded text is longer than the encoder reads.

Token counts do not add up exactly at a cut, so what was packed by the sum of its units is counted
again as it will be embedded, and cut smaller where that is too much. All counting is done in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from askwiki.errors import PageError
from askwiki.markdown.blocks import Block, blocks_of_part
from askwiki.markdown.plain_text import PlainPage
from indexer.chunking.packer import Piece, Size, pack_units
from indexer.chunking.units import PageUnit, find_units, split_unit

Count = Callable[[Sequence[str]], list[int]]

UNSEEN = 12  # letters a token at most: a chunk of addresses only must not grow without end
SHRINK = 0.9  # of the size, when the pieces of a stretch came out too long
MARGIN = 8  # tokens of what the encoder reads are kept free: counts do not add up exactly at the borders of a cut
ROUNDS = 60  # 0.9 ** 60 is a six-hundredth: by then a piece is a single letter
SPARE = 0.8  # of a unit's share, because tokens are not spread evenly over its letters


def chunk_tokens(reads: int, chunking: int) -> int:
    """What a chunk may have with the way to it: the setting, less where the encoder ``reads`` less."""
    return min(chunking, reads - MARGIN)


class Stretch(NamedTuple):
    """``text[start:end]`` of the page, its length in tokens, and the tokens its pieces may have."""

    start: int
    end: int
    tokens: float
    size: Size
    head: str  # what stands before each piece when it is embedded


class Ruler(NamedTuple):
    """The encoder's own measure, and how parts overlap."""

    measure: Count
    special: int  # tokens of an empty text: prefix, begin and end marks
    limit: int  # tokens that head and piece may have together
    overlap: int  # sentences


def fit_stretches(
    page: PlainPage, blocks: Sequence[Block], stretches: Sequence[Stretch], ruler: Ruler
) -> list[list[Piece]]:
    """The pieces of every stretch, none too long; ``blocks`` are those of the whole page."""
    fitted = [[Piece(stretch.start, stretch.end)] for stretch in stretches]
    waiting = dict(enumerate(stretches))  # all are counted: what a thought has of its group's tokens is only guessed
    for _ in range(ROUNDS):
        if not waiting:
            return fitted
        long = {n: stretch for n, stretch in waiting.items() if stretch.tokens > stretch.size.most}
        for number, pieces in zip(long, _cut(page, blocks, list(long.values()), ruler), strict=True):
            fitted[number] = pieces
        longest = _longest(page, waiting, fitted, ruler.measure)
        waiting = {
            n: _smaller_stretch(stretch, longest[n] - ruler.special, n in long)
            for n, stretch in waiting.items()
            if longest[n] > ruler.limit
        }
    raise PageError("A piece of this page cannot be cut short enough for the encoder.")


def _smaller_stretch(stretch: Stretch, tokens: int, cut: bool) -> Stretch:
    """For the next try; one that was not cut yet has the ``tokens`` it was counted with, and is cut."""
    wished, most = stretch.size
    return stretch._replace(
        tokens=stretch.tokens if cut else max(stretch.tokens, tokens), size=Size(wished * SHRINK, most * SHRINK)
    )


def _longest(
    page: PlainPage, stretches: Mapping[int, Stretch], pieces: Sequence[Sequence[Piece]], count: Count
) -> dict[int, int]:
    """Tokens of the longest piece of each stretch, as it is embedded."""
    heads = [(number, stretch.head) for number, stretch in stretches.items() for _ in pieces[number]]
    texts = [page.of(*piece.stretches) for number in stretches for piece in pieces[number]]
    counted = count([f"{head}\n{own}".strip() for (_, head), own in zip(heads, texts, strict=True)])
    longest: dict[int, int] = {}
    for (number, _), tokens in zip(heads, counted, strict=True):
        longest[number] = max(longest.get(number, 0), tokens)
    return longest


def _cut(page: PlainPage, blocks: Sequence[Block], stretches: Sequence[Stretch], ruler: Ruler) -> list[list[Piece]]:
    if not stretches:
        return []
    text = page.markdown
    planned = []
    for stretch in stretches:
        longest = int(stretch.size.wished * (stretch.end - stretch.start) / max(stretch.tokens, 1))
        own = blocks_of_part(text, blocks, stretch.start, stretch.end)
        planned.append(find_units(text, own, max(longest, 1)))
    pieces = []
    for stretch, units, lengths in zip(stretches, planned, _lengths(page, planned, ruler), strict=True):
        while any(length > stretch.size.most for length in lengths):
            units = _smaller(text, units, lengths, stretch.size)
            [lengths] = _lengths(page, [units], ruler)
        pieces.append(pack_units(units, lengths, stretch.size, ruler.overlap))
    return pieces


def _lengths(page: PlainPage, planned: Sequence[Sequence[PageUnit]], ruler: Ruler) -> list[list[float]]:
    counted = iter(ruler.measure([page.of((unit.start, unit.end)) for units in planned for unit in units]))
    return [[length_of(next(counted) - ruler.special, unit.end - unit.start) for unit in units] for units in planned]


def length_of(tokens: float, characters: int) -> float:
    """The tokens that the encoder sees, and a little for letters that it never sees (addresses, rulers)."""
    return max(tokens, characters / UNSEEN, 0)


def _smaller(text: str, units: Sequence[PageUnit], lengths: Sequence[float], size: Size) -> list[PageUnit]:
    smaller: list[PageUnit] = []
    for unit, length in zip(units, lengths, strict=True):
        if length <= size.most or unit.end - unit.start <= 1:
            smaller.append(unit)
            continue
        characters = (unit.end - unit.start) * size.most * SPARE / length
        smaller.extend(split_unit(text, unit, max(int(characters), 1)))
    return smaller
