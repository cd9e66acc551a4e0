"""Messages that ask nothing of the wiki: remarks about the last answer, questions about the assistant; by rule.

A remark has no subject of its own, so it never becomes what a later question leans on.
"""

from __future__ import annotations

import re
from typing import Literal

from askwiki.language import en, ru
from askwiki.language.stems import STOP_WORDS, WORD, fold
from askwiki.language.wording import other_layout
from askwiki.stages.smalltalk import is_about_last_answer, is_friendly

Remark = Literal["", "sources", "doubt", "more", "other"]
TELLING = 3  # letters: shorter words are flags of commands in the other layout, `-r` is «-к»
LONGEST = 60  # characters of a remark; a longer message has a subject
_POLITE = frozenset(map(fold, (*ru.REMARK_POLITE, *en.REMARK_POLITE)))
_WORD = re.compile(r"\w+(?:['’]\w+)?")


def _one_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_KINDS: dict[Remark, re.Pattern[str]] = {
    "sources": _one_of(*ru.REMARK_SOURCES, *en.REMARK_SOURCES),
    "doubt": _one_of(*ru.REMARK_DOUBT, *en.REMARK_DOUBT),
    "more": _one_of(*ru.REMARK_MORE, *en.REMARK_MORE),
    "other": _one_of(*ru.REMARK_OTHER, *en.REMARK_OTHER),
}
_AND = re.compile(rf" (?:{'|'.join((*ru.AND, *en.AND))}) |[?!.;] (?=\w)")
_ABOUT_US = re.compile(rf"\A\W*(?:{'|'.join((*ru.ABOUT_US, *en.ABOUT_US))})\W*\Z", re.IGNORECASE)


def remark_of(text: str) -> Remark:
    """What kind of remark about the last answer this is; empty for a question with a subject of its own."""
    if len(text) > LONGEST:
        return ""
    said = " ".join(word for word in _WORD.findall(fold(text)) if word not in _POLITE)
    return next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(said)), "")


def is_about_us(text: str) -> bool:
    """Whether the person asks about the assistant: what it can do, where its data are from, how old they are."""
    asked = _AND.split(" ".join(fold(text).split()))  # «откуда данные и когда обновлялась вики»
    return len(text) <= LONGEST and all(_ABOUT_US.match(part) for part in asked)


def as_meant(text: str) -> str:
    """The message in the other keyboard layout, where that is plainly what was meant, else as it was typed.

    Plain are a greeting, a remark, a question about us, and a word of at least ``TELLING`` letters that every text has:
    «rfr j,yjdbnm gfhjkm» is «как обновить пароль». Whatever else was meant shows when the search finds nothing.
    """
    other = other_layout(text)
    if not other:
        return text
    common = any(len(word) >= TELLING and word in STOP_WORDS for word in WORD.findall(fold(other)))
    friendly = is_friendly(other) or is_about_us(other) or is_about_last_answer(other) or bool(remark_of(other))
    return other if common or friendly else text
