"""Cuts stretches of a page so that no embedded text is longer than the encoder reads.

Token counts do not add up exactly at a cut, so what was packed by the sum of its units is counted
again as it will be embedded, and cut smaller where that is too much. All counting is done in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from askwiki.errors import PageError
from indexer.blocks import parse_part
from indexer.pieces import Piece, Size, pack
from indexer.units import Unit, find_units, split_unit

Count = Callable[[Sequence[str]], list[int]]

SHRINK = 0.9  # of the size, when the pieces of a stretch came out too long
ROUNDS = 60  # 0.9 ** 60 is a six-hundredth: by then a piece is a single letter
SPARE = 0.8  # of a unit's share, because tokens are not spread evenly over its letters


class Stretch(NamedTuple):
    """``text[start:end]`` of the page, its length in tokens, and the tokens its pieces may have."""

    start: int
    end: int
    tokens: float
    size: Size
    head: str  # what stands before each piece when it is embedded


def fit_stretches(
    text: str, stretches: Sequence[Stretch], *, count: Count, special: int, limit: int, overlap: int, language: str
) -> list[list[Piece]]:
    """The pieces of every stretch; head and piece together have at most ``limit`` tokens.

    ``special`` = tokens of an empty text (prefix, begin and end marks).
    """
    fitted: list[list[Piece]] = [[] for _ in stretches]
    waiting = dict(enumerate(stretches))
    for _ in range(ROUNDS):
        whole = {n: [Piece(s.start, s.end)] for n, s in waiting.items() if s.tokens <= s.size.most}
        long = {n: stretch for n, stretch in waiting.items() if n not in whole}
        cut = _cut(text, list(long.values()), count, special, overlap, language)
        pieces = whole | dict(zip(long, cut, strict=True))
        lengths = _count_pieces(text, waiting, pieces, count)
        waiting = {}
        for number, found in pieces.items():
            stretch = stretches[number] if number not in long else long[number]
            if max(lengths[number]) <= limit:
                fitted[number] = found
            else:
                wished, most = stretch.size
                tokens = max(stretch.tokens, max(lengths[number]) - special) if number in whole else stretch.tokens
                waiting[number] = stretch._replace(tokens=tokens, size=Size(wished * SHRINK, most * SHRINK))
        if not waiting:
            return fitted
    raise PageError("A piece of this page cannot be cut short enough for the encoder.")


def _count_pieces(
    text: str, stretches: dict[int, Stretch], pieces: dict[int, list[Piece]], count: Count
) -> dict[int, list[int]]:
    texts = [f"{stretches[number].head}\n{piece.text(text)}".strip() for number in pieces for piece in pieces[number]]
    counted = iter(count(texts))
    return {number: [next(counted) for _ in found] for number, found in pieces.items()}


def _cut(
    text: str, stretches: Sequence[Stretch], count: Count, special: int, overlap: int, language: str
) -> list[list[Piece]]:
    planned = [_units(text, stretch, language) for stretch in stretches]
    tokens = _lengths(text, planned, count, special)
    pieces = []
    for stretch, units, lengths in zip(stretches, planned, tokens, strict=True):
        while any(length > stretch.size.most for length in lengths):
            units = _smaller(text, units, lengths, stretch.size)
            [lengths] = _lengths(text, [units], count, special)
        pieces.append(pack(units, lengths, stretch.size, overlap))
    return pieces


def _units(text: str, stretch: Stretch, language: str) -> list[Unit]:
    longest = int(stretch.size.wished * (stretch.end - stretch.start) / max(stretch.tokens, 1))
    return find_units(text, parse_part(text, stretch.start, stretch.end), max(longest, 1), language)


def _lengths(text: str, planned: Sequence[Sequence[Unit]], count: Count, special: int) -> list[list[float]]:
    counted = iter(count([text[unit.start : unit.end] for units in planned for unit in units]))
    return [[max(next(counted) - special, 0) for _ in units] for units in planned]


def _smaller(text: str, units: Sequence[Unit], lengths: Sequence[float], size: Size) -> list[Unit]:
    smaller: list[Unit] = []
    for unit, length in zip(units, lengths, strict=True):
        if length <= size.most or unit.end - unit.start <= 1:
            smaller.append(unit)
            continue
        characters = (unit.end - unit.start) * size.most * SPARE / length
        smaller.extend(split_unit(text, unit, max(int(characters), 1)))
    return smaller
