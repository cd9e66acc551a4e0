"""Numbers that stand on no page and are right all the same: counts of what is listed, and what was worked out."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from askwiki.language import en, ru
from askwiki.language.numerals import NUMBER, SPOKEN, number_of, spoken_number
from askwiki.language.stems import fold, stem, telling_stems
from askwiki.stages.evidence.known import Known

_PLAIN = re.compile(r"\d{1,12}(?:\.\d{1,6})?")
_NEXT = re.compile(r"[ \u00a0]([^\W\d_]+)")
_UNITS = frozenset(stem(fold(word)) for word in (*ru.UNITS, *en.UNITS))
MOST_COUNTED = 12  # things that an answer counts by itself
MOST_GIVEN = 40  # numbers of question and sentence that are tried, each with each


def is_count(number: str, sentence: str, sources: Sequence[Known]) -> bool:
    """Whether a small number may count what is listed: items or rows under one line, or parts of the sentence."""
    if not number.isdigit() or not 2 <= int(number) <= 50:
        return False
    listed = sentence.partition(":")[2]
    if listed and len([part for part in re.split(r"[,;]|\sи\s|\sand\s", listed) if part.strip()]) == int(number):
        return True
    if int(number) <= MOST_COUNTED and (nouns := _behind(number, sentence)) and not nouns & _UNITS:
        return not any(_counts(source, nouns) for source in sources)
    words = set(telling_stems(sentence))
    for source in sources:
        runs: dict[str, int] = {}
        for told in source.told:
            runs[told.statement.above] = runs.get(told.statement.above, 0) + 1
        for above, count in runs.items():
            if count in (int(number), int(number) + 1) and words & set(telling_stems(f"{above}\n{source.name}")):
                return True
    return False


def _behind(number: str, text: str) -> frozenset[str]:
    """The stems of the words right behind a number: what it counts."""
    found = []
    for match in NUMBER.finditer(text):
        found += [match.end()] if number_of(match) == number else []
    for match in SPOKEN.finditer(folded := fold(text)):
        found += [match.end()] if spoken_number(match.group()) == number else []
    return frozenset(stem(word[1]) for end in found if (word := _NEXT.match(folded, end)))


def _counts(source: Known, nouns: Set[str]) -> bool:
    """Whether a passage itself gives a number of such things: then another number is not our own count."""
    return any(
        nouns & _behind(number, told.statement.text)
        for place, told in enumerate(source.told)
        if nouns & told.stems
        for number in source.numbers_in(place)
    )


def is_worked_out(number: str, given: Set[str]) -> bool:
    """Whether a number is sum, difference, product, quotient or percentage of two that are given."""
    if not _PLAIN.fullmatch(number):
        return False
    wanted, values = float(number), [float(one) for one in sorted(given)[:MOST_GIVEN] if _PLAIN.fullmatch(one)]
    for one in values:
        for other in values:
            results = [one + other, one - other, one * other, one * other / 100, one * (1 + other / 100)]
            results += [one * (1 - other / 100)] + ([one / other] if other else [])
            if any(abs(result - wanted) < 0.005 for result in results):
                return True
    return False
