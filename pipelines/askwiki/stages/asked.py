"""What a question wants to be told (a price, a person, a time, a number, both sides), and whether a text tells it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from askwiki.language import en, ru
from askwiki.language.stems import telling_stems
from askwiki.language.terms import grams
from askwiki.language.wording import COMPARED

ALIKE = 0.3  # of a name's groups of letters that another form of it has: «снимком» and «снимок»
_DIGIT = r"\d"
_MORE = {"time": (_DIGIT,), "number": (_DIGIT,)}  # what tells it in every language


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?<!\w)(?:{each})(?!\w)" for each in patterns), re.IGNORECASE)


_ASKS = {kind: _any_of((*ru.ASKS[kind], *en.ASKS[kind])) for kind in ru.ASKS}
_TELLS = {
    kind: re.compile(
        "|".join((rf"(?<!\w)(?:{'|'.join((*ru.TELLS[kind], *en.TELLS[kind]))})", *_MORE.get(kind, ()))), re.IGNORECASE
    )
    for kind in ru.TELLS
}
_PRICED = re.compile(rf"(?<!\w)(?:{'|'.join((*ru.PRICED, *en.PRICED))})", re.IGNORECASE)


def not_told(question: str, texts: Sequence[str]) -> tuple[str, str]:
    """(price | doer | person | time | number | side, which side) of what no text tells; ("", "") = all is told.

    ``texts``: what is quoted, each with its title. A question of two kinds is one of the first in ``ASKS``.
    """
    if side := _side_missing(question, texts):
        return "side", side
    kind = next((kind for kind, pattern in _ASKS.items() if pattern.search(question)), "")
    if not kind or any(_TELLS[kind].search(text) or (kind == "price" and _priced_column(text)) for text in texts):
        return "", ""
    return kind, ""


def _priced_column(text: str) -> bool:
    """Whether a table's head names a price or a currency («Цена, руб.») and a row below it holds a number."""
    priced = False
    for line in text.split("\n"):
        row = line.startswith("|")
        if row and priced and re.search(_DIGIT, line):
            return True
        priced = row and (priced or bool(_PRICED.search(line)))
    return False


def _side_missing(question: str, texts: Sequence[str]) -> str:
    """The one of two compared things of which no text has a word that the other lacks."""
    compared = next((match for pattern in COMPARED if (match := pattern.search(question))), None)
    if compared is None:
        return ""
    text = "\n".join(texts)
    said, written = set(telling_stems(text)), set(grams(text))
    one, other = compared["one"].strip(), compared["other"].strip()
    for side, against in ((one, other), (other, one)):
        own = set(telling_stems(side)) - set(telling_stems(against))
        letters = set(grams(side)) - set(grams(against))
        if own and own.isdisjoint(said) and len(letters & written) < ALIKE * len(letters):
            return side
    return ""
