"""Words of a text as the question's way compares them: stems, so that Russian endings do not matter."""

from __future__ import annotations

import re
import threading
from functools import lru_cache

import Stemmer

from askwiki.language import en, ru

# A word with the signs that hold an identifier together: `ext-sub17`, `os_require`, `10.2.0.1`, `a/b`.
WORD = re.compile(r"\w+(?:[._\-/:@+&’']\w+)*")
_JOINTS = re.compile(r"[._\-/:@+&’']")
_CYRILLIC = re.compile(r"[а-яё]")

REMEMBERED = 2_000  # short texts: a passage's statements are compared with each sentence of an answer

_lock = threading.Lock()  # a Stemmer keeps state between its calls
_russian = Stemmer.Stemmer("russian")
_english = Stemmer.Stemmer("english")

STOP_WORDS = ru.STOP_WORDS | en.STOP_WORDS


def fold(text: str) -> str:
    """Lower case, ё as е: how words are compared everywhere."""
    return text.lower().replace("ё", "е")


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of one folded word; numbers and identifiers stay whole."""
    if not word.isalpha():
        return word
    with _lock:
        return str((_russian if _CYRILLIC.search(word) else _english).stemWord(word))


def stems(text: str) -> list[str]:
    """Stems of all words in order, the parts of an identifier after the identifier itself."""
    return [found for word in WORD.findall(fold(text)) for found in _stems_of(word)]


@lru_cache(maxsize=100_000)
def _stems_of(word: str) -> tuple[str, ...]:
    parts = _JOINTS.split(word)
    found = tuple(stem(part) for part in parts if part)
    return (word, *found) if len(parts) > 1 else found


def telling_stems(text: str) -> list[str]:
    """Stems without the words that every text has."""
    return list(_telling_stems(text))


@lru_cache(maxsize=REMEMBERED)
def _telling_stems(text: str) -> tuple[str, ...]:
    return tuple(found for found in stems(text) if found not in STOP_STEMS)


STOP_STEMS = frozenset(STOP_WORDS | {stem(word) for word in STOP_WORDS})
