"""Where sentences begin and end, and where a text may be cut when there is nothing else left."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from sentencex import get_sentence_boundaries

from askwiki.language import en, ru

_UNFINISHED = re.compile(rf"(?<![\w.])(?:{'|'.join((*ru.ABBREVIATIONS, *en.ABBREVIATIONS))})\.\s+$", re.IGNORECASE)
STRETCH = 4_000  # characters that the library is given at once
_LONGEST_ABBREVIATION = 24  # characters, blanks behind it included
_GOES_ON = re.compile(r"[\s*_`(«\"]*[a-zа-яё0-9]")
SAMPLE_CHARACTERS = 1000  # of a text, enough to tell its language
_LATIN = re.compile(r"[A-Za-z]+")
_CYRILLIC = re.compile(r"[А-Яа-яЁё]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_JOINER = "\u200d"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_REGIONAL = range(0x1F1E6, 0x1F200)


def language_of(text: str) -> str:
    """``ru`` when at least a fifth of the letters are Cyrillic (identifiers are Latin), else ``en``."""
    sample = text[:SAMPLE_CHARACTERS]
    cyrillic = sum(map(len, _CYRILLIC.findall(sample)))
    return "ru" if cyrillic and cyrillic * 5 >= cyrillic + sum(map(len, _LATIN.findall(sample))) else "en"


def sentence_ends(text: str, language: str) -> list[int]:
    """Offsets after each sentence and the blanks behind it; the last one is ``len(text)``."""
    readable = _SURROGATE.sub("?", text)  # the library takes valid Unicode only; lengths stay
    finished: list[int] = []
    start = taken = 0
    for border in _borders(readable, language):
        if border <= taken:
            continue  # inside the blanks that the sentence before already took
        end = taken = _after_blanks(text, border)
        if end < len(text) and not (
            _UNFINISHED.search(text, max(start, end - _LONGEST_ABBREVIATION), end) and _GOES_ON.match(text, end)
        ):
            finished.append(end)
            start = end
    return [*dict.fromkeys(finished), len(text)]


def _borders(text: str, language: str) -> Iterator[int]:
    """Where the library sees sentences end; it is given a stretch at a time, for its time grows with the square."""
    at = 0
    while at < len(text):
        ends = [at + one["end_index"] for one in get_sentence_boundaries(language, text[at : at + STRETCH])]
        if at + STRETCH >= len(text):
            yield from ends
            return
        whole = [end for end in ends[:-1] if end > at]  # the last one ends with the stretch, not with a sentence
        yield from whole
        at = whole[-1] if whole else at + STRETCH


def _after_blanks(text: str, end: int) -> int:
    while end < len(text) and text[end].isspace():
        end += 1
    return end


def word_ends(text: str, characters: int) -> list[int]:
    """Ends of stretches of at most ``characters``: after a blank where there is one, else in a word."""
    ends: list[int] = []
    at = 0
    while len(text) - at > characters:
        reach = at + max(characters, 1)
        blank = max(text.rfind(" ", at + 1, reach), text.rfind("\n", at + 1, reach), text.rfind("\t", at + 1, reach))
        at = blank + 1 if blank > at + characters // 2 else _between_characters(text, at, reach)
        ends.append(at)
    return [*ends, len(text)]


def _between_characters(text: str, least: int, wanted: int) -> int:
    """The nearest place at or before ``wanted`` that does not part what a person sees as one letter."""
    for at in range(wanted, least, -1):
        if not _belongs_together(text, at):
            return at
    return wanted  # one "letter" longer than a part: there is no better place


def _belongs_together(text: str, at: int) -> bool:
    """Whether the letters before and after ``at`` are one: marks, joined emoji, flags, surrogates."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if unicodedata.category(after) in ("Mn", "Mc", "Me") or _JOINER in (before, after):
        return True
    if ord(after) in _SKIN_TONES or (before == "\r" and after == "\n"):
        return True
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return True
    return ord(before) in _REGIONAL and ord(after) in _REGIONAL
