"""What needs no search, recognised by rule: greetings, thanks, wishes about the last answer."""

from __future__ import annotations

import re

from askwiki.language import en, ru
from askwiki.language.stems import fold

_WORDS = re.compile(r"[^\W\d_]+")
_ANY_WORD = re.compile(r"\w")
_FRIENDLY = ru.FRIENDLY | en.FRIENDLY
_SIGNS = ru.FRIENDLY_SIGNS | en.FRIENDLY_SIGNS
_BYE = re.compile(rf"\b(?:{'|'.join((*ru.FAREWELLS, *en.FAREWELLS))})\b", re.IGNORECASE)
_GREETING_WORD = re.compile(rf"\b(?:{'|'.join((*ru.GREETING_WORDS, *en.GREETING_WORDS))})\b", re.IGNORECASE)
_NOTHING_ASKED = re.compile(
    rf"\W*+(?:{'|'.join((*ru.INTERJECTIONS, *en.INTERJECTIONS))}|[^\W\d])\W*+",  # хм, а
    re.IGNORECASE,
)
_SUM_SIGNS = re.compile(r"[\d\s.,()+*/×÷=^−?-]++")
_SUM = re.compile(r"\d\s*[+*×÷=^]|\d\s[-−/]\s*\d")
_DIGIT = re.compile(r"\d")
SHORTEST_CODE = 3  # digits: 403 may be asked about, 1 and 42 say nothing
_SHORT_WISH = 5  # words: a longer wish may bring its own text
_LONGEST = 8  # words of a message that is only friendly
_GREETING = re.compile(
    rf"\A\s*(?:(?:{'|'.join((*ru.GREETINGS, *en.GREETINGS))})"  # Добрый день
    rf"(?:\s*+(?:,\s*+)?(?:{'|'.join((*ru.GREETED, *en.GREETED))}))?\s*+[,.!)]++\s*+"  # , коллеги!
    rf"|(?:{'|'.join((*ru.THANKS, *en.THANKS))})[,.!]++\s*+)++",  # Спасибо.
    re.IGNORECASE,
)
_ABOUT_LAST = re.compile(
    rf"\A\W*(?:{'|'.join((*ru.WISH_BEGINNINGS, *en.WISH_BEGINNINGS))})*"  # А теперь …
    rf"(?:{'|'.join((*ru.WISHES, *en.WISHES))})\W*\Z",  # … переведи это на английский!
    re.IGNORECASE | re.DOTALL,
)


def is_friendly(text: str) -> bool:
    """A greeting, thanks or a farewell and nothing else; also a message of signs and emoji only."""
    if not _ANY_WORD.search(text):
        return bool(text.strip())
    words = [fold(word) for word in _WORDS.findall(text)]
    return 0 < len(words) <= _LONGEST and _FRIENDLY.issuperset(words) and not _SIGNS.isdisjoint(words)


def is_no_question(text: str) -> bool:
    """«хм», a single letter, a number too short for a code, a sum: nothing that a wiki could be asked."""
    if _SUM_SIGNS.fullmatch(text) and _DIGIT.search(text):
        return bool(_SUM.search(text)) or len(_DIGIT.findall(text)) < SHORTEST_CODE
    return is_interjection(text)


def is_interjection(text: str) -> bool:
    """«хм», a single letter: no answer to anything either."""
    return bool(_NOTHING_ASKED.fullmatch(text))


def kind_of_talk(text: str) -> str:
    """The sentence that answers a friendly message: its name in ``config/texts``."""
    if not text.strip() or (_ANY_WORD.search(text) and is_no_question(text)):
        return "refused_empty"
    if is_short_wish(text):
        return "nothing_said"
    if _BYE.search(text):
        return "goodbye"
    if not _ANY_WORD.search(text):
        return "noted"
    return "hello" if _GREETING_WORD.search(text) else "thanks"


def is_about_last_answer(text: str) -> bool:
    """Whether the person wants the last answer translated, shortened or put another way."""
    return bool(_ABOUT_LAST.match(text))


def is_short_wish(text: str) -> bool:
    """«переведи на английский»: as the first message of a chat it names nothing that could be looked for."""
    return is_about_last_answer(text) and len(_WORDS.findall(text)) <= _SHORT_WISH


def without_greeting(text: str) -> str:
    """The question without «Привет!» before it; a message that is nothing else stays as it is."""
    return _GREETING.sub("", text).strip() or text.strip()
