"""What turns a statement round: negations, exceptions, bounds. Words of grammar only, Russian and English."""

from __future__ import annotations

import re
from functools import lru_cache

from askwiki.language import en, ru
from askwiki.language.stems import REMEMBERED, fold, stem, telling_stems

# No negation, though written like one: «не только», «не более 5», "no later than".
_BOUND = {
    "most": r"не (?:более|больше|позже|позднее|выше|старше|дольше)|максимум"
    r"|at most|no (?:more|later|longer|greater) than|not (?:more|later|longer) than|up to|maximum",
    "least": r"не (?:менее|меньше|раньше|ранее|ниже|младше)|минимум|at least|no (?:less|fewer|earlier) than"
    r"|not less than|minimum",
    "above": r"(?<!не )(?:более|больше|свыше|выше|позже|позднее|дольше)|more than|over|later than|longer than",
    "below": r"(?<!не )(?:менее|меньше|ниже|раньше|ранее)|less than|fewer than|under|earlier than",
}
_NUMBER_AFTER = r"(?: чем)?(?: (?:за|в|на|до|через|than|the))?[ \u00a0]*[«\"*`]*(?P<number>\d[\d.,:]*|\w+)"
_BOUNDS = {kind: re.compile(rf"\b(?:{words})\b{_NUMBER_AFTER}") for kind, words in _BOUND.items()}
_AGAINST = {
    "most": {"least", "above"},
    "least": {"most", "below"},
    "above": {"most", "below"},
    "below": {"least", "above"},
}
_NONE = re.compile(
    r"\bне (?:только|более|больше|позже|позднее|выше|старше|дольше|менее|меньше|раньше|ранее|ниже|младше)\b"
    r"|\bnot only\b|\bno (?:more|later|longer|greater|less|fewer|earlier) than\b"
    r"|\bnot (?:more|later|longer|less) than\b"
    r"|\bодин не\b|\bкак ни\b|\bчто бы ни\b|\bвсе равно\b|\bв том числе\b"
)
_NEGATION = re.compile(
    r"\b(?:не|нет|нельзя|невозможно|недопустим\w*|ни|никогда|никто|никак\w*|ничего|нигде|запрещ\w+"
    r"|запрет\w*|not|no|never|none|nothing|cannot|neither|nor|prohibited|forbidden|unable)\b|n['’]t\b"
)
_LACK = re.compile(r"\b(?:без|отсутств\w+|лишен\w*|избега\w+|вместо|without|lacks?|avoid\w*|rather than|instead of)\b")
_CONDITION = re.compile(rf"\b(?:{'|'.join((*ru.CONDITIONS, *en.CONDITIONS))})\b")  # what holds only then
_OPENING = re.compile(r"\A\W*(?:да|нет|никак|yes|no)\b\s*[,.:;!—–-]\s*", re.IGNORECASE)
_EXCEPT = re.compile(
    r"\b(?:кроме|за исключением|исключая|except(?: for)?|excluding|other than)\b(?! того[, ])(?P<what>[^.;()\n]*)"
)
_ONLY = re.compile(r"\b(?:только|лишь|исключительно|only|solely|exclusively)\b")
_SAYS_NOTHING = frozenset(
    map(
        stem,
        [
            "нельзя",
            "невозможно",
            "можно",
            "запрещено",
            "разрешено",
            "допустимо",
            "cannot",
            "allowed",
            "нет",
            "есть",
            "имеет",
            "является",
        ],
    )
)


@lru_cache(maxsize=REMEMBERED)
def denies(clause: str) -> bool:
    """Whether a clause says "not"; in Russian two of them (никто не) are one, and so are those of a list."""
    return bool(_NEGATION.search(_NONE.sub(" ", fold(opened(clause)))))


def opposite(one: str, other: str) -> bool:
    """Whether one clause says "not" and the other does not, nor says it as a lack: «не имеет прав», «без прав»."""
    if denies(one) == denies(other):
        return False
    without_not = other if denies(one) else one
    with_not = one if denies(one) else other
    return not _LACK.search(fold(without_not)) or bool(_LACK.search(fold(with_not)))


@lru_cache(maxsize=REMEMBERED)
def conditional(text: str) -> bool:
    """Whether what is said holds only then, or is what should not come about."""
    return bool(_CONDITION.search(fold(text)))


def opened(sentence: str) -> str:
    """A sentence without the «да» or «нет» that answers the question before it."""
    return _OPENING.sub("", sentence)


@lru_cache(maxsize=REMEMBERED)
def matter(clause: str) -> frozenset[str]:
    """The stems of what a clause is about, the words that deny and allow left out."""
    folded = _LACK.sub(" ", _NEGATION.sub(" ", fold(clause)))
    return frozenset(word for word in telling_stems(folded) if word not in _SAYS_NOTHING)


def words_of(matter: frozenset[str]) -> int:
    """How many words, numbers apart, a clause is about."""
    return sum(not word[0].isdigit() for word in matter)


@lru_cache(maxsize=REMEMBERED)
def exceptions(text: str) -> frozenset[str]:
    """The stems of what a text leaves out: «кроме карт»."""
    return frozenset(word for match in _EXCEPT.finditer(fold(text)) for word in telling_stems(match["what"]))


def restricts(text: str) -> bool:
    """Whether a text says "only", "except" or "not"."""
    folded = fold(text)
    return bool(_ONLY.search(folded) or _EXCEPT.search(folded) or _NEGATION.search(folded))


def only(text: str) -> bool:
    return bool(_ONLY.search(fold(text)))


@lru_cache(maxsize=REMEMBERED)
def bounds(text: str) -> frozenset[tuple[str, str]]:
    """The bounds in a text: (most, least, above or below, the number or word behind it)."""
    folded = fold(text)
    found = ((kind, match["number"]) for kind, pattern in _BOUNDS.items() for match in pattern.finditer(folded))
    return frozenset((kind, number.rstrip(".,:")) for kind, number in found)


def bounds_clash(said: frozenset[tuple[str, str]], held: frozenset[tuple[str, str]]) -> bool:
    """Whether an upper bound is said where only a lower one stands before the same number, or the other way round."""
    return any((against, number) in held for kind, number in said - held for against in _AGAINST[kind])


def prefixed(word: str) -> str:
    """The stem behind a negating prefix (``недоступн`` -> ``доступн``); empty where there is none."""
    for prefix in ("не", "un", "non"):
        if word.startswith(prefix) and len(word) >= len(prefix) + 5:
            return word[len(prefix) :]
    return ""
