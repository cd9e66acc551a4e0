"""Text to the terms that lexical search counts: stems, identifiers whole and in parts, groups of letters.

Groups of four letters find what stems do not: «виндовая» and Windows, «постгрес» and Postgres, a word
mistyped. For them both alphabets are written in one spelling.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from askwiki.language.stems import STOP_WORDS, fold, stem

# Letters and digits; signs between them keep an identifier together: order_status_id, КЗ-17, v2.3.1,
# 10.0.0.1/24, name@host, a::b, C&A. A trailing ++ or # belongs to names such as C++ and C#.
_TOKEN = re.compile(r"\w+(?:[.\-/:@+&\\]+\w+)*(?:\+\+|#)?")
_PART = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"[A-ZА-Я]+(?![a-zа-я])|[A-ZА-Я]?[a-zа-я]+")  # camelCase, HTTPServer
_GRAM = 4  # letters of a group
_LATIN = {
    **dict(zip("абвгдезийклмнопрстуфхцыэ", "abvgdezijklmnoprstufhcye", strict=True)),
    **{"ж": "zh", "ч": "ch", "ш": "sh", "щ": "sch", "ю": "yu", "я": "ya", "ь": "", "ъ": ""},
}
_ALIKE = (("ks", "x"), ("w", "v"), ("ck", "k"), ("c", "k"), ("ph", "f"), ("y", "i"), ("ee", "i"), ("oo", "u"))
_LONGEST = 64  # characters of a term; longer ones are hashes, keys and encoded files
_MEMORY = 16_384  # tokens whose terms are remembered: the frequent ones, a few MB


@dataclass(frozen=True, slots=True)
class Term:
    """A stem, or an identifier as it was written (``whole``): then its parts are there beside it."""

    text: str
    whole: bool = False


def terms(text: str) -> Iterator[Term]:
    """The terms of a text in order, stop words left out."""
    for token in _TOKEN.findall(unicodedata.normalize("NFKC", text)):
        yield from _terms_of(token)


def grams(text: str) -> Iterator[str]:
    """The letter groups of every word in order, stop words left out; a blank in front tells them from stems."""
    for word in _PART.findall(fold(unicodedata.normalize("NFKC", text))):
        if word not in STOP_WORDS and len(word) <= _LONGEST:
            yield from _grams_of(word)


@functools.lru_cache(_MEMORY)
def _grams_of(word: str) -> tuple[str, ...]:
    spelled = "".join(_LATIN.get(letter, letter) for letter in word)
    for old, new in _ALIKE:
        spelled = spelled.replace(old, new)
    framed = f"_{spelled}_"
    return tuple(f" {framed[start : start + _GRAM]}" for start in range(max(1, len(framed) - _GRAM + 1)))


@functools.lru_cache(_MEMORY)
def _terms_of(token: str) -> tuple[Term, ...]:
    folded = fold(token)
    parts = _PART.findall(folded)
    humps = [fold(hump) for part in _PART.findall(token) for hump in _humps(part)]
    found = [Term(stem(part)) for part in (*parts, *humps) if part not in STOP_WORDS]
    if parts and parts != [folded]:
        found.append(Term(_whole(folded), whole=True))
    return tuple(term for term in found if len(term.text) <= _LONGEST)


def _humps(part: str) -> list[str]:
    """The pieces of ``camelCase``; none for a word in one case, with a capital in front only, or with digits."""
    if not part.isalpha() or part.isupper() or part[1:].islower():
        return []
    found: list[str] = _HUMP.findall(part)
    return found if len(found) > 1 else []


def _whole(folded: str) -> str:
    """An identifier stays as it is; the last word of a compound (веб-сервера) is stemmed."""
    head, sign, last = folded.rpartition("-")
    return f"{head}{sign}{stem(last)}" if sign and last.isalpha() else folded
