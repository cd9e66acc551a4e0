"""Generated text with the statistics of a language: few words are frequent, most are met once or twice.

Frequency falls with rank as Mandelbrot has it, ``1 / (rank + SHIFT) ** STEEPNESS``, near the counts of docs-ru: of
83 thousand words the hundredth is met 92 times there (150 here), the thousandth 15 (15), the five thousandth twice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

STEMS = 200_000
STEEPNESS = 1.5
SHIFT = 40  # fewer of the most frequent words
COMMON = 200  # ranks that a question does not ask for
ENDINGS = ("", "а", "ами")
_SYLLABLES = [first + second for first in "бвгджзклмнпрстфхцчш" for second in "аеиоуыюя"]


class Zipf:
    """The same texts for the same ``seed``."""

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        frequencies = 1 / (np.arange(STEMS) + 1 + SHIFT) ** STEEPNESS
        self._heap = np.cumsum(frequencies) / frequencies.sum()
        self._stems = [_stem(rank) for rank in range(STEMS)]

    def text(self, words: int) -> str:
        """Sentences of about ten words."""
        found = self._drawn(words, 0.0)
        return ". ".join(" ".join(found[start : start + 10]) for start in range(0, words, 10)) + "."

    def question(self, words: int) -> str:
        """Words that tell something: none of the most frequent."""
        return " ".join(self._drawn(words, self._heap[COMMON])) + "?"

    def ranks(self, words: int, rarer_than: int = 0) -> NDArray[np.int64]:
        """Of so many words of a text; 0 is the most frequent word of all."""
        least = self._heap[rarer_than] if rarer_than else 0.0
        found = np.searchsorted(self._heap, self._random.uniform(least, 1.0, size=words))
        return np.minimum(found, STEMS - 1).astype(np.int64)

    def _drawn(self, words: int, least: float) -> list[str]:
        ranks = np.searchsorted(self._heap, self._random.uniform(least, 1.0, size=words))
        endings = self._random.integers(0, len(ENDINGS), size=words)
        return [
            self._stems[min(rank, STEMS - 1)] + ENDINGS[ending] for rank, ending in zip(ranks, endings, strict=True)
        ]


def _stem(rank: int) -> str:
    """The rank written in syllables; the last sound is never a vowel, so that an ending can follow."""
    number, found = rank, ""
    while number or not found:
        number, place = divmod(number, len(_SYLLABLES))
        found += _SYLLABLES[place]
    return found + "бвгдзклмнпрст"[rank % 13]
