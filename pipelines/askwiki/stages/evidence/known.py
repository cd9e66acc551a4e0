"""What a passage says, ready for comparison: its statements and an index of their words."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from askwiki.data import Passage
from askwiki.language.stems import telling_stems
from askwiki.stages.evidence.facts import held_identifiers, held_numbers, month_of
from askwiki.stages.evidence.names import forms_of, stands_among
from askwiki.stages.evidence.statements import Statement, statements

BEGINNING = 5  # letters by which two words may be of one root
NEAR = 4  # telling words apart
ABOVE = 0.6  # weight of a word that stands in the heading, the line or the table's head above a statement


class Told(NamedTuple):
    """A statement with its stems, and those of what stands above it."""

    statement: Statement
    stems: frozenset[str]
    above: frozenset[str]


class Known:
    """A passage's facts and words; worked out when it is first cited, and most are not.

    ``name`` is what an answer may take from the page besides its text: title, headings, path, date.
    """

    def __init__(self, text: str, name: str = "", updated: str = "") -> None:
        self.text, self.name, self.updated = text, name, updated
        self._nearest: dict[tuple[frozenset[str], int], list[tuple[float, int]]] = {}

    @cached_property
    def numbers(self) -> frozenset[str]:
        named = held_numbers(f"{self.name}\n{self.updated}")
        return frozenset(named).union(*self._numbers, *(held_numbers(above) for above in self._above))

    @cached_property
    def words(self) -> frozenset[str]:
        """Identifiers, their parts and all words as they are written, folded."""
        return frozenset(held_identifiers(f"{self.text}\n{self.name}"))

    @cached_property
    def stems(self) -> frozenset[str]:
        words = telling_stems(f"{self.text}\n{self.name}\n{self.updated}")
        return frozenset(words) | {month_of(word) for word in words}

    @cached_property
    def forms(self) -> frozenset[str]:
        """All words as they are written, folded, the parts of a compound too."""
        return frozenset(forms_of(f"{self.text}\n{self.name}\n{self.updated}"))

    @cached_property
    def told(self) -> Sequence[Told]:
        above: dict[str, frozenset[str]] = {}
        return [
            Told(each, frozenset(words), above.setdefault(each.above, frozenset(telling_stems(each.above))))
            for each, words in zip(self._statements, self._words, strict=True)
        ]

    @cached_property
    def roots(self) -> frozenset[str]:
        """The beginnings of words, by which two of one root are alike."""
        return frozenset(word[:BEGINNING] for word in self.stems if len(word) >= BEGINNING)

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Telling words side by side in a statement."""
        return frozenset(pair for words in self._words for pair in pairwise(words))

    @cached_property
    def near_pairs(self) -> frozenset[frozenset[str]]:
        """Telling words near each other in a statement, in whatever order."""
        return frozenset(
            frozenset((word, other))
            for words in self._words
            for at, word in enumerate(words)
            for other in words[at + 1 : at + 1 + NEAR]
        )

    @cached_property
    def _statements(self) -> Sequence[Statement]:
        return statements(self.text)

    @cached_property
    def _words(self) -> Sequence[Sequence[str]]:
        return [telling_stems(each.text) for each in self._statements]

    @cached_property
    def weights(self) -> dict[str, float]:
        """How telling a stem is within the passage: rare ones more."""
        counts: dict[str, int] = {}
        for each in self.told:
            for word in each.stems:
                counts[word] = counts.get(word, 0) + 1
        return {word: 1 / (1 + math.log(count)) for word, count in counts.items()}

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Stem, identifier or word -> the statements in which it stands."""
        places: dict[str, list[int]] = {}
        for number, each in enumerate(self.told):
            for word in each.stems | held_identifiers(each.statement.text):
                places.setdefault(word, []).append(number)
        return places

    @cached_property
    def _above(self) -> frozenset[str]:
        return frozenset(each.statement.above for each in self.told)

    @cached_property
    def _numbers(self) -> Sequence[frozenset[str]]:
        return [frozenset(held_numbers(each.statement.text)) for each in self.told]

    def prepare(self) -> None:
        """Works out what a first comparison would; the time of one passage, not of a sentence."""
        _ = self.numbers, self.words, self.stems, self.forms, self.roots, self.pairs, self.near_pairs, self.weights
        _ = self._places, self._number_places, self._forms, self._name_forms

    def numbers_in(self, place: int) -> frozenset[str]:
        """The numbers of one statement."""
        return self._numbers[place]

    @cached_property
    def _number_places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, numbers in enumerate(self._numbers):
            for number in numbers:
                places.setdefault(number, []).append(place)
        return places

    def places_of_number(self, number: str) -> Sequence[int]:
        return self._number_places.get(number, ())

    def places_of_word(self, word: str) -> Sequence[int]:
        return self._places.get(word, ())

    def named(self, name: str) -> bool:
        """Whether title, headings or path hold a name."""
        return stands_among(name, self._name_forms)

    @cached_property
    def _name_forms(self) -> frozenset[str]:
        return frozenset(forms_of(self.name))

    def places_of_name(self, name: str) -> Sequence[int]:
        """The statements in which, or above which, a name stands in whatever case."""
        return [place for place, forms in enumerate(self._forms) if stands_among(name, forms)]

    @cached_property
    def _forms(self) -> Sequence[frozenset[str]]:
        above: dict[str, frozenset[str]] = {}
        return [
            frozenset(forms_of(each.statement.text))
            | above.setdefault(each.statement.above, frozenset(forms_of(each.statement.above)))
            for each in self.told
        ]

    def likeness(self, words: frozenset[str], place: int) -> float:
        """Share of ``words``, by weight, that a statement holds; what stands above it counts in part."""
        told = self.told[place]
        total = sum(self.weights.get(word, 1.0) for word in words)
        own = sum(self.weights.get(word, 1.0) for word in words & told.stems)
        above = sum(self.weights.get(word, 1.0) for word in (words & told.above) - told.stems)
        return (own + ABOVE * above) / total if total else 0.0

    def share(self, words: frozenset[str], place: int) -> float:
        """Share of ``words`` that a statement or what stands above it holds."""
        told = self.told[place]
        return len(words & (told.stems | told.above)) / len(words)

    def nearest(self, words: frozenset[str], most: int = 5) -> list[tuple[float, int]]:
        """The statements most like ``words``, best first: (likeness, place)."""
        if (words, most) not in self._nearest:
            self._nearest[words, most] = self._most_alike(words, most)
        return self._nearest[words, most]

    def _most_alike(self, words: frozenset[str], most: int) -> list[tuple[float, int]]:
        counts: dict[int, float] = {}
        for word in words:
            for place in self._places.get(word, ()):
                counts[place] = counts.get(place, 0.0) + self.weights.get(word, 1.0)
        best = sorted(counts, key=lambda place: (-counts[place], place))[: 4 * most]
        return sorted(((self.likeness(words, place), place) for place in best), key=lambda pair: (-pair[0], pair[1]))[
            :most
        ]


def known(passage: Passage) -> Known:
    """Text, title, headings and path count: an answer may name the page it is from."""
    name = "\n".join((passage.title, *passage.headings, *passage.path))
    return Known(passage.text, re.sub(r"[\r\x00]", " ", name), passage.updated)
