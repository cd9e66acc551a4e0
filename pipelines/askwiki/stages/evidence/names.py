"""Names in whatever case they stand: «Титова», «Титовой»; only what is left behind a common beginning may differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from askwiki.language import en, ru
from askwiki.language.stems import fold

_WORD = re.compile(r"[^\W_]+")
_ENDINGS = frozenset({"", *ru.CASE_ENDINGS, *en.CASE_ENDINGS})
LEAST_COMMON = 3  # letters that two forms of one name begin with
LONGEST_ENDING = max(map(len, _ENDINGS))


def forms_of(text: str) -> Iterator[str]:
    """The words of ``text``, folded, parts of compounds each for itself."""
    return (match.group() for match in _WORD.finditer(fold(text)))


def stands_among(name: str, forms: Set[str]) -> bool:
    """Whether ``name`` (folded) or another case of it is one of ``forms``."""
    if name in forms:
        return True
    for cut in range(len(name), max(LEAST_COMMON, len(name) - LONGEST_ENDING) - 1, -1):
        if name[cut:] in _ENDINGS and any(f"{name[:cut]}{ending}" in forms for ending in _ENDINGS):
            return True
    return False
