"""Text to the terms that lexical search counts: stems, identifiers both whole and in parts."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from askwiki.stemming import STOP_WORDS, fold, stem

# Letters and digits; signs between them keep an identifier together: order_status_id, КЗ-17, v2.3.1,
# 10.0.0.1/24, name@host, a::b, C&A. A trailing ++ or # belongs to names such as C++ and C#.
_TOKEN = re.compile(r"\w+(?:[.\-/:@+&\\]+\w+)*(?:\+\+|#)?")
_PART = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"[A-ZА-Я]+(?![a-zа-я])|[A-ZА-Я]?[a-zа-я]+|\d+")  # camelCase, HTTPServer
_LONGEST = 64  # characters of a term; longer ones are hashes, keys and encoded files
_MEMORY = 100_000  # tokens whose terms are remembered


@dataclass(frozen=True, slots=True)
class Term:
    """A stem, or an identifier as it was written (``whole``): then its parts are there beside it."""

    text: str
    whole: bool = False


def terms(text: str) -> Iterator[Term]:
    """The terms of a text in order, stop words left out."""
    for token in _TOKEN.findall(unicodedata.normalize("NFKC", text)):
        yield from _terms_of(token)


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
    """The pieces of ``camelCase``; none for a word in one case or with a capital in front only."""
    if part.isupper() or part[1:].islower():
        return []
    found: list[str] = _HUMP.findall(part)
    return found if len(found) > 1 else []


def _whole(folded: str) -> str:
    """An identifier stays as it is; the last word of a compound (веб-сервера) is stemmed."""
    head, sign, last = folded.rpartition("-")
    return f"{head}{sign}{stem(last)}" if sign and last.isalpha() else folded
