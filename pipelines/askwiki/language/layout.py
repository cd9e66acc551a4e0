"""A question typed in the other keyboard layout: «jngecr» is «отпуск»."""

from __future__ import annotations

from askwiki.language.stems import STOP_WORDS, WORD, fold
from askwiki.language.wording import CYRILLIC, LATIN

_LATIN = "`qwertyuiop[]asdfghjkl;'zxcvbnm,./~QWERTYUIOP{}ASDFGHJKL:\"ZXCVBNM<>?&"
_CYRILLIC = "ёйцукенгшщзхъфывапролджэячсмитьбю.ЁЙЦУКЕНГШЩЗХЪФЫВАПРОЛДЖЭЯЧСМИТЬБЮ,?"
_TO_CYRILLIC, _TO_LATIN = str.maketrans(_LATIN, _CYRILLIC), str.maketrans(_CYRILLIC, _LATIN)


def other_layout(text: str) -> str:
    """What the same keys write in the other layout.

    Empty for a text in both alphabets or in none, and where a word that every text has shows that the layout is right.
    """
    if not STOP_WORDS.isdisjoint(WORD.findall(fold(text))):
        return ""
    latin, cyrillic = LATIN.search(text), CYRILLIC.search(text)
    if bool(latin) == bool(cyrillic):
        return ""
    return text.translate(_TO_CYRILLIC if latin else _TO_LATIN)
