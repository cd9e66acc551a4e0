"""Does a passage support a sentence: by numbers, dates, names, identifiers and word stems, never by a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from askwiki.data import Passage
from askwiki.language.stems import STOP_STEMS, fold, stem, telling_stems

_DATE = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})\b|\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\w)|\d+(?:[.,:]\d+)*")
_IDENTIFIER = re.compile(
    r"\b(?=[\w./-]{0,40}[A-Za-zА-Яа-я])(?=[\w./-]{0,40}\d)\w+(?:[-./]\w+)*|\b[A-Za-z]\w*(?:[_.-]\w+)+|\b[A-Z]{2,}\b"
)
_COMPOUND = re.compile(r"(?<=\w)-(?=[а-яё]+\b)")  # `API-запрос`, `91-го`: a word beside what it is about
_NAME = re.compile(r"(?<=[\w,»\")] )[«\"]?([A-ZА-ЯЁ][a-zа-яё]{2,}(?:[A-ZА-ЯЁ]\w*|-[A-ZА-ЯЁ]?[a-zа-яё]+)?)(?![\w/])")
_LIST_NUMBER = re.compile(r"\A\s*(?:[-*+>|]\s*)*\d{1,3}[.)]\s+")
_MONTHS = {
    stem(fold(name)): str(number)
    for names in (
        "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
        "january february march april may june july august september october november december",
        "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    )
    for number, name in enumerate(names.split(), 1)
}
_NUMERALS = {
    stem(fold(word)): number
    for number, words in (
        ("1", "один одна одно one"),
        ("2", "два две двух двумя two"),
        ("3", "три трех тремя three"),
        ("4", "четыре четырех four"),
        ("5", "пять five"),
        ("6", "шесть six"),
        ("7", "семь seven"),
        ("8", "восемь восьми eight"),
        ("9", "девять nine"),
        ("10", "десять ten"),
        ("12", "двенадцать twelve"),
        ("15", "пятнадцать fifteen"),
        ("20", "двадцать twenty"),
        ("30", "тридцать thirty"),
        ("100", "сто hundred"),
    )
    for word in words.split()
}


class Known:
    """What a passage says, ready for comparison; worked out when it is first cited, and most are not."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def facts(self) -> frozenset[str]:
        spoken = {_NUMERALS[word] for word in self.stems & _NUMERALS.keys()}
        return frozenset(exact_facts(self._text)) | _looser(self._text) | spoken

    @cached_property
    def stems(self) -> frozenset[str]:
        words = telling_stems(self._text)
        return frozenset(words) | {_month(word) for word in words}


def known(passage: Passage) -> Known:
    """Text, title, headings and path count: an answer may name the page it is from."""
    return Known("\n".join((passage.title, *passage.headings, *passage.path, passage.updated, passage.text)))


def supporting(sentence: str, cited: Sequence[int], passages: dict[int, Known], least_share: float) -> list[int]:
    """Those of the ``cited`` passages that support ``sentence``, in order.

    Every exact fact of the sentence must stand in one of the cited passages, and a passage that is
    cited must hold one of them itself; of the word stems it must hold at least ``least_share``.
    """
    facts = exact_facts(sentence)
    names = {stem(fold(name)) for name in _NAME.findall(sentence)} - STOP_STEMS
    words = set(telling_stems(sentence))
    there = [number for number in cited if number in passages]
    said = frozenset[str]().union(*(passages[number].facts for number in there))
    stems = frozenset[str]().union(*(passages[number].stems for number in there))
    if not facts <= said or not names <= stems:
        return []
    share = least_share / max(1, len(set(there)))  # several sources share what the sentence says
    return [number for number in there if _holds(passages[number], facts, names, words, share)]


def _holds(passage: Known, facts: set[str], names: set[str], words: set[str], least_share: float) -> bool:
    if (facts or names) and not (facts & passage.facts or names & passage.stems):
        return False
    return not words or len(words & passage.stems) / len(words) >= least_share


def exact_facts(text: str) -> set[str]:
    """Numbers, parts of dates and identifiers, written one way: ``1 500`` = ``1500``, ``05.06.2025`` = 5, 6, 2025."""
    text = _COMPOUND.sub(" ", _LIST_NUMBER.sub("", text))
    facts = {part.lstrip("0") or "0" for match in _DATE.finditer(text) for part in match.groups() if part}
    text = _DATE.sub(" ", text)
    identifiers = {fold(match.group()) for match in _IDENTIFIER.finditer(text)}
    text = _IDENTIFIER.sub(" ", text)
    numbers = {_plain(match.group()) for match in _NUMBER.finditer(text)}
    months = {_MONTHS[word] for word in telling_stems(text) if word in _MONTHS} if numbers else set[str]()
    return facts | identifiers | numbers | months


def _looser(text: str) -> set[str]:
    """Further ways to say the same: the hour of a time, the parts of an identifier, the whole of a decimal."""
    more: set[str] = set()
    for match in _NUMBER.finditer(text):
        whole = _plain(match.group())
        more |= {whole, *(_plain(part) for part in re.split(r"[:.]", whole))}
    for match in _IDENTIFIER.finditer(text):
        more |= {fold(part) for part in re.split(r"[-./_]", match.group()) if part}
    return more


def _plain(number: str) -> str:
    digits = re.sub(r"[ \u00a0\u202f]", "", number).replace(",", ".")
    return digits.lstrip("0") or "0" if digits.isdigit() else digits


def _month(word: str) -> str:
    return _MONTHS.get(word, word)
