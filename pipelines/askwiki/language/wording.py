"""What a question says by its words alone: its language, its keyboard layout, what it leans on, what it is about."""

from __future__ import annotations

import re

from askwiki.data import Intent
from askwiki.language import en, ru
from askwiki.language.stems import STOP_WORDS, WORD, fold, telling_stems

_POINTING = re.compile(rf"\b(?:{'|'.join((*ru.POINTING, *en.POINTING))})\b", re.IGNORECASE)
_CARRYING_ON = re.compile(rf"\A\W*(?:{'|'.join((*ru.CARRYING_ON, *en.CARRYING_ON))})\b", re.IGNORECASE)
_SCREEN = re.compile(rf"\b(?:{'|'.join((*ru.SCREEN, *en.SCREEN))})\b", re.IGNORECASE)
_ALL = re.compile(rf"\b(?:{'|'.join((*ru.ALL, *en.ALL))})\b", re.IGNORECASE)
_SECOND = re.compile(
    rf"\w,? (?:{'|'.join((*ru.AND, *en.AND))}) (?:{'|'.join((*ru.ASKING, *en.ASKING))})\b", re.IGNORECASE
)
_ASKING_WORD = rf"(?:{'|'.join((*ru.ASKING, *en.ASKING))})(?!\w)"
_ASKING = re.compile(rf"(?<!\w){_ASKING_WORD}(?:\s{{1,3}}{_ASKING_WORD})*+", re.IGNORECASE)  # "how do I" asks once
COMPARED = [re.compile(each.format(""), re.IGNORECASE) for each in (*ru.COMPARED, *en.COMPARED)]
_CONCEPT = re.compile(rf"\b(?:{'|'.join((*ru.CONCEPT, *en.CONCEPT))})\b", re.IGNORECASE)
CYRILLIC, LATIN = re.compile(r"[А-Яа-яЁё]"), re.compile(r"[A-Za-z]")
# The same keys, letter for letter: «jngecr» is «отпуск».
_LATIN_KEYS = "`qwertyuiop[]asdfghjkl;'zxcvbnm,./~QWERTYUIOP{}ASDFGHJKL:\"ZXCVBNM<>?&"
_CYRILLIC_KEYS = "ёйцукенгшщзхъфывапролджэячсмитьбю.ЁЙЦУКЕНГШЩЗХЪФЫВАПРОЛДЖЭЯЧСМИТЬБЮ,?"
_TO_CYRILLIC, _TO_LATIN = str.maketrans(_LATIN_KEYS, _CYRILLIC_KEYS), str.maketrans(_CYRILLIC_KEYS, _LATIN_KEYS)
_LATIN_WORD = re.compile(r"\b[A-Za-z']+\b")

_VOWEL = re.compile("[аеёиоуыэюяaeiouy]")

FEW_WORDS = 4  # Latin words without one that only English has: codes and commands
FEW_LETTERS = 2  # no word of more with a vowel: keys of the other layout make none
FEW_STEMS = 2  # a question of no more telling words leans on what was said before it


def points(text: str) -> bool:
    """Whether a word of the text points at something said elsewhere."""
    return bool(_POINTING.search(text))


def points_back(text: str) -> bool:
    """Whether the text points at what was said before it, or carries it on."""
    return points(text) or bool(_CARRYING_ON.match(text))


def leans_on_dialogue(text: str) -> bool:
    """Whether a question cannot be understood without what was said before it."""
    return points_back(text) or len(set(telling_stems(text))) <= FEW_STEMS


def intent_of(text: str) -> Intent | None:
    """Whether a question is about a screen with its fields or about the matter itself, when its words say so."""
    screen, concept = bool(_SCREEN.search(text)), bool(_CONCEPT.search(text))
    return None if screen == concept else "screen" if screen else "concept"


def asks_twice(text: str) -> bool:
    """Whether a message holds a second question, whose answer may stand on another page."""
    return text.count("?") > 1 or bool(_SECOND.search(text))


def may_have_parts(text: str) -> bool:
    """Whether an answer may need several pages: two questions in one, two things compared, one named by another."""
    return asks_twice(text) or len(_ASKING.findall(text)) > 1 or any(each.search(text) for each in COMPARED)


def asks_for_all(text: str) -> bool:
    """Whether a list or a number is asked for that a part of the wiki's text may not give."""
    return bool(_ALL.search(text))


def language_of(text: str, default: str = "ru") -> str:
    """``ru`` or ``en``: which prompts and sentences fit. The answer itself follows the question's language.

    A bare code or command (``E-136``, ``routerctl enable``) has no language: the ``default`` holds.
    """
    cyrillic, latin = len(CYRILLIC.findall(text)), len(LATIN.findall(text))
    if 2 * cyrillic >= latin and cyrillic:
        return "ru"
    words = [word.lower() for word in _LATIN_WORD.findall(text)]
    return "en" if len(words) > FEW_WORDS or not STOP_WORDS.isdisjoint(words) else default


def other_layout(text: str) -> str:
    """What the same keys write in the other layout.

    Empty for a text in both alphabets or in none, where a word that every text has shows that the layout is right, and
    where the other one makes no word: «хм» is no `[v`.
    """
    if not STOP_WORDS.isdisjoint(WORD.findall(fold(text))):
        return ""
    latin, cyrillic = LATIN.search(text), CYRILLIC.search(text)
    if bool(latin) == bool(cyrillic):
        return ""
    other = text.translate(_TO_CYRILLIC if latin else _TO_LATIN)
    made = any(len(word) > FEW_LETTERS and word.isalpha() and _VOWEL.search(word) for word in WORD.findall(fold(other)))
    return other if made else ""
