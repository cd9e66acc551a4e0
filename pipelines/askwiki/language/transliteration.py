"""Russian written with Latin letters: «kak dobavit disk» is «как добавит диск».

Every usual spelling of a letter is read (passport, GOST, chat). What a spelling leaves out, as a rule the soft sign,
stays out: stems and letter groups of words bear it.
"""

from __future__ import annotations

import re

from askwiki.language import en, ru
from askwiki.language.stems import fold
from askwiki.language.wording import CYRILLIC

_SPELLINGS = {
    **{"tsya": "тся", "tsja": "тся", "shch": "щ", "sch": "щ"},  # podklyuchaetsya
    **{"yo": "ё", "jo": "ё", "yu": "ю", "ju": "ю", "ya": "я", "ja": "я", "ye": "е", "je": "е"},
    **{"zh": "ж", "kh": "х", "ts": "ц", "ch": "ч", "sh": "ш", "ck": "к", "ph": "ф"},
    **{"a": "а", "b": "б", "c": "ц", "d": "д", "e": "е", "f": "ф", "g": "г", "h": "х", "i": "и", "j": "й", "k": "к"},
    **{"l": "л", "m": "м", "n": "н", "o": "о", "p": "п", "q": "к", "r": "р", "s": "с", "t": "т", "u": "у", "v": "в"},
    **{"w": "в", "x": "кс", "y": "ы", "z": "з", "'": "ь"},
}
_SHORT_I = re.compile(r"(?<=[aeiouy])y(?![aou])")  # novyy, kakoy; but moya, moyu, moyo
_HARD = re.compile(r"(?<=[bcdfghklmnpqrstvwxz])ye")  # failovye: ые; at a word's beginning and after a vowel е
_LETTERS = re.compile(r"ts[yj]a\b|(?!ts[yj]a)(?:shch|sch|yo|jo|yu|ju|ya|ja|ye|je|zh|kh|ts|ch|sh|ck|ph|[a-z'])|[a-z]")
_WORD = re.compile(r"[A-Za-z][A-Za-z']*")
_NAME = re.compile(r"[0-9_./@:\\#+=-]|[A-Z]{2}")  # a code, an address, VPN: nobody writes words so


def transliterated(text: str) -> str:
    """The text in Cyrillic; empty where it is not in Latin letters alone. Codes and addresses stay as they are."""
    if CYRILLIC.search(text) or not _WORD.search(text):
        return ""
    return " ".join(part if _NAME.search(part.rstrip(".,:;!?")) else _read(part) for part in text.split())


def is_transliteration(text: str) -> bool:
    """Whether words that every Russian text has stand in it, more of them than of the English ones."""
    latin, cyrillic = set(fold(text).split()), set(fold(transliterated(text)).split())
    return len(_bare(cyrillic) & ru.STOP_WORDS) > len(_bare(latin) & en.STOP_WORDS)


def _bare(words: set[str]) -> set[str]:
    return {word.strip(".,:;!?\"'()") for word in words}


def _read(word: str) -> str:
    return _WORD.sub(lambda found: _cyrillic(found[0]), word)


def _cyrillic(word: str) -> str:
    small = _SHORT_I.sub("j", _HARD.sub("y-e", word.lower()))  # the hyphen keeps them apart, and is no letter
    return "".join(_SPELLINGS[part] for part in _LETTERS.findall(small))
