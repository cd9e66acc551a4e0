"""Wishes about pages themselves, by their words: a list of pages on something, who wrote one and when, what is new."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from askwiki.language import en, ru
from askwiki.language.stems import WORD, telling_stems

LONGEST = 300  # characters that are read: a longer message is no wish
_SIGNS = " ?!.,:;…-—«»\"'()"


class PageWish(NamedTuple):
    """``subject``: the words that say what the pages are about, empty where what was said before does."""

    kind: Literal["list", "facts", "news"]
    subject: str = ""


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_LIST = [_any_of(ru.PAGE_LISTS), _any_of(en.PAGE_LISTS)]
_FACTS = [_any_of(ru.PAGE_FACTS), _any_of(en.PAGE_FACTS)]
_OF_WISHES = frozenset(telling_stems(" ".join((*ru.PAGE_WORDS, *en.PAGE_WORDS))))
_NEWS = [_any_of(ru.PAGE_NEWS), _any_of(en.PAGE_NEWS)]


def page_wish(text: str) -> PageWish | None:
    """The wish that a message is, None for a question to the wiki's text."""
    said = " ".join(text[:LONGEST].split()).strip(_SIGNS)
    if any(pattern.search(said) for pattern in _NEWS):
        return PageWish("news")
    if any(pattern.search(said) for pattern in _LIST):
        return PageWish("list", subject_of(said))
    return PageWish("facts", subject_of(said)) if any(pattern.search(said) for pattern in _FACTS) else None


def subject_of(text: str) -> str:
    """The telling words of a wish without those that any wish about a page has; a question is left as it is."""
    words = (word for word in WORD.findall(text) if not _OF_WISHES.issuperset(telling_stems(word)))
    return " ".join(words)
