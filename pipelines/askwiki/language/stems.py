"""Words of a text as the question's way compares them: stems, so that Russian endings do not matter."""

from __future__ import annotations

import re
import threading
from functools import lru_cache

import Stemmer

# A word with the signs that hold an identifier together: `ext-sub17`, `os_require`, `10.2.0.1`, `a/b`.
WORD = re.compile(r"\w+(?:[._\-/:@+&’']\w+)*")
_JOINTS = re.compile(r"[._\-/:@+&’']")
_CYRILLIC = re.compile(r"[а-яё]")

_lock = threading.Lock()  # a Stemmer keeps state between its calls
_russian = Stemmer.Stemmer("russian")
_english = Stemmer.Stemmer("english")

_SAY_NOTHING = """
    а без более больше будет будто бы был была были было быть в вам вас ведь весь во вот все всего всех всю вы где да
    даже для до его ее если есть еще ж же за зачем здесь и из или им иногда их к как какая каким какими каких какого
    какое какой каком какую какие кем когда кого ком кому которая которого которое которой котором которому которую
    которые который которых кто куда ли либо лучше между меня мне много может можно мой мы на над надо наш не него нее
    ней нельзя нет ни нибудь никогда ним них но ну нужно о об однако он она они оно от откуда очень по под пожалуйста
    после потом потому почему почти при про раз разве с сам свою себе себя сейчас сколько со совсем так такая также
    такие такой такое там тебя тем теперь то тогда того тоже той только том тот тут ты у уже хоть чего чей чем через что
    чтоб чтобы чуть эта эти этим этих это этого этой этом этот эту я
    a about all also an and any are as at be been but by can could did do does for from had has have how i if in into is
    it its may me might my no not of on or our please shall should so than that the their them then there these they
    this those to was we were what when where which who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_SAY_NOTHING.split())


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
    return [found for found in stems(text) if found not in STOP_STEMS]


STOP_STEMS = frozenset(STOP_WORDS | {stem(word) for word in STOP_WORDS})
