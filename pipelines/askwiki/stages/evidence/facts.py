"""Exact facts of a text: numbers however they are written, parts of dates, identifiers, names."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from askwiki.language.numerals import NUMBER, SPOKEN, number_of, spoken_number
from askwiki.language.stems import REMEMBERED, STOP_STEMS, fold, stem, telling_stems

_DATE = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})\b|\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_IDENTIFIER = re.compile(
    r"\b(?=[\w./-]{0,40}[A-Za-zА-Яа-я])(?=[\w./-]{0,40}\d)\w+(?:[-./]\w+)*|\b[A-Za-z]\w*(?:[_.]\w{2,})+|\b[A-Z]\w*[A-Z]\w*\b"
)
_COMPOUND = re.compile(r"(?<=\w)-(?=[а-яё]+\b)")  # `API-запрос`, `91-го`: a word beside what it is about
_NAME = re.compile(
    r"(?<=[\w,»\")—–] )[«\"]?([A-ZА-ЯЁ](?:[a-zа-яё]{2,}(?:[A-ZА-ЯЁ]\w*)?|[А-ЯЁ]{2,})(?:-[A-ZА-ЯЁa-zа-яё]+)*)(?![\w/])"
)
_LIST_NUMBER = re.compile(r"\A\s*(?:[-*+>|]\s*)*\d{1,3}[.)]\s+")
_CODE = re.compile(r"(?<!`)`++([^`\n]++)`++")
_TOKEN = re.compile(r"\w++(?:[.:/@-]++\w++)*+")
_REFERENCE = re.compile(  # a source that is named in words is no fact of it
    r"\b(?:passages?|sources?|documents?|источник\w*|фрагмент\w*|документ\w*)[ \u00a0№#]{1,3}"
    r"\d{1,3}(?:(?:,| and| и) ?\d{1,3})*\b",
    re.IGNORECASE,
)
_GOAL = re.compile(r"\]\([^()\n]*\)")  # where a link leads is not what the sentence says
_SHORT_FOR = re.compile(r"\(([A-ZА-ЯЁ]{2,8})\)")
_MONTHS = {
    stem(fold(name)): str(number)
    for names in (
        "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
        "january february march april may june july august september october november december",
        "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    )
    for number, name in enumerate(names.split(), 1)
}


class Facts(NamedTuple):
    """What a text states exactly, folded. ``names`` are words in the case that stands there."""

    numbers: frozenset[str]
    identifiers: frozenset[str]
    names: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.numbers or self.identifiers or self.names)


def without_goals(text: str) -> str:
    """``text`` without the addresses to which its links and pictures lead."""
    return _GOAL.sub("]", text)


@lru_cache(maxsize=REMEMBERED)
def facts_of(sentence: str) -> Facts:
    """The facts that a sentence of an answer states, each of which a source must hold."""
    sentence = without_goals(sentence)
    codes = {token for span in _CODE.findall(sentence) for token in _TOKEN.findall(fold(span)) if len(token) > 1}
    words = _SHORT_FOR.sub(_without_initials, _REFERENCE.sub(" ", _CODE.sub(" ", sentence)))
    words = _COMPOUND.sub(" ", _LIST_NUMBER.sub("", words))
    numbers, identifiers = _exact(words)
    spoken = {
        number
        for match in SPOKEN.finditer(fold(NUMBER.sub("#", words)))
        if (number := spoken_number(match.group())) != "1"
    }
    numbers |= {number for number in spoken if number}
    parts = [part for name in _NAME.findall(words) for part in name.split("-") if len(part) > 1]
    names = {word for part in parts if stem(word := fold(part)) not in STOP_STEMS}
    return Facts(frozenset(numbers), frozenset(identifiers | codes), frozenset(names))


def _without_initials(match: re.Match[str]) -> str:
    """Nothing for an abbreviation of the words before it: «Bureau of Labor Statistics (BLS)»."""
    before = match.string[max(0, match.start() - 120) : match.start()]
    initials = "".join(word[0] for word in re.findall(r"\w+", before) if word[0].isupper())
    return " " if initials.endswith(match[1]) else match.group()


def exact_facts(text: str) -> frozenset[str]:
    """Numbers, parts of dates and identifiers, written one way: ``1 500`` = ``1500``, ``05.06.2025`` = 5, 6, 2025."""
    numbers, identifiers = _exact(text)
    return numbers | identifiers


@lru_cache(maxsize=REMEMBERED)
def _exact(text: str) -> tuple[frozenset[str], frozenset[str]]:
    text = _COMPOUND.sub(" ", _LIST_NUMBER.sub("", text))
    numbers = {part.lstrip("0") or "0" for match in _DATE.finditer(text) for part in match.groups() if part}
    text = _DATE.sub(" ", text)
    identifiers = {fold(match.group()) for match in _IDENTIFIER.finditer(text)}
    text = _IDENTIFIER.sub(" ", text)
    numbers |= {number_of(match) for match in NUMBER.finditer(text)}
    if numbers:
        numbers |= {_MONTHS[word] for word in telling_stems(text) if word in _MONTHS}
    return frozenset(numbers), frozenset(identifiers)


@lru_cache(maxsize=REMEMBERED)
def held_numbers(text: str) -> frozenset[str]:
    """All numbers that ``text`` can be said to hold: also the hour of a time, the parts of a code, number words."""
    exact, identifiers = _exact(text)
    held = set(exact)
    for match in NUMBER.finditer(text):
        held |= {number_of(match), *(_bare(part) for part in re.split(r"[:.,]", match["digits"]))}
    for code in identifiers:
        held |= {_bare(part) for part in re.findall(r"\d+", code)}
    held |= {spoken_number(match.group()) for match in SPOKEN.finditer(fold(text))}
    return frozenset(held - {""})


@lru_cache(maxsize=REMEMBERED)
def held_identifiers(text: str) -> frozenset[str]:
    """Identifiers of ``text`` and their parts, and every word as it is written."""
    held = set(_exact(text)[1])
    for token in _TOKEN.findall(fold(text)):
        held.add(token)
        if not token.isalnum():
            held |= {part for part in re.split(r"[-./_:@]", token) if part}
    return frozenset(held)


def month_of(word: str) -> str:
    return _MONTHS.get(word, word)


def _bare(digits: str) -> str:
    digits = re.sub(r"\s", "", digits)
    return digits.lstrip("0") or "0"
