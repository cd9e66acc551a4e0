"""Sentences of a wiki said otherwise: in ways that keep what they say, and in ways that turn it wrong."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from askwiki.language.stems import telling_stems

NUMBER = re.compile(r"(?<![\w.,:/-])(?<!\d[ \u00a0])\d{1,6}(?:,\d+)?(?![\w.,:/-]*\d|[\w/%-]|[ \u00a0]\d{3})")
NAME = re.compile(r"(?<=[\w,] )[A-ZА-ЯЁ][A-Za-zА-Яа-яё]{3,}(?:-[A-ZА-ЯЁa-zа-яё]{2,})*(?![\w.-])")
_VERB = re.compile(
    r"\b(?!(?:не|нет|ни)\b)[а-яё]{3,}(?:ется|ются|ится|ятся|ает|яет|ует|ают|яют|уют|ит|ят|ете|ите|ен[аоы]?)\b"
)
_EXCEPT = re.compile(r",? (?:кроме|за исключением) [^,.;()]*|\b(?:только|лишь) ")
_NOT = re.compile(r"\bне (?!только|более|менее|позже|раньше)")
_JOINED = re.compile(r"\d ?[–—/+] ?|[–—/+] ?\d")  # a range or a formula is not said in words
_CAN = (("нельзя", "можно"), ("можно", "нельзя"), ("запрещено", "разрешено"), ("разрешено", "запрещено"))
_WORDS = (
    *("ноль", "один", "два", "три", "четыре", "пять", "шесть", "семь", "восемь", "девять", "десять"),
    *("одиннадцать", "двенадцать"),
)
_TENS = {20: "двадцать", 30: "тридцать", 40: "сорок", 50: "пятьдесят", 60: "шестьдесят", 90: "девяносто", 100: "сто"}


def reordered(sentence: str) -> str:
    """The part after the first comma in front, where the sentence has just one."""
    first, comma, second = sentence.rstrip(".").partition(", ")
    if not comma or "," in second or len(telling_stems(first)) < 2 or len(telling_stems(second)) < 2:
        return sentence
    return f"{second[0].upper()}{second[1:]}, {first[0].lower()}{first[1:]}."


def spoken(sentence: str) -> str:
    """Its numbers as words, where they have one: 5 as «пять», 15000 as «15 тысяч»."""

    def word(match: re.Match[str]) -> str:
        digits = match.group()
        if (
            _JOINED.search(sentence[max(0, match.start() - 2) : match.end() + 2])
            or not digits.isdigit()
            or digits.startswith("0")
        ):
            return digits
        if 2 <= int(digits) < len(_WORDS):
            return _WORDS[int(digits)]
        return _TENS.get(int(digits), f"{digits[:-3]} тысяч" if digits.endswith("000") else digits)

    return NUMBER.sub(word, sentence)


def inflected(sentence: str) -> str:
    """Cyrillic names in another case, by the endings of nouns."""

    def other(match: re.Match[str]) -> str:
        name = match.group()
        if not re.fullmatch(r"[А-Яа-яЁё-]+", name):
            return name
        return name[:-1] + "ой" if name.endswith("а") else name + "ом" if name[-1] in "бвгджзклмнпрстфх" else name

    return NAME.sub(other, sentence)


def turned(sentence: str) -> str:
    """The same with a "not" more or less; empty where there is no place for it."""
    for word, opposite in _CAN:
        if re.search(rf"\b{word}\b", sentence, re.IGNORECASE):
            return re.sub(rf"\b{word}\b", opposite, sentence, count=1, flags=re.IGNORECASE)
    if len(_NOT.findall(sentence)) == 1:
        return _NOT.sub("", sentence, count=1)
    verbs = [match for match in _VERB.finditer(sentence) if not sentence[: match.start()].endswith("не ")]
    return f"{sentence[: verbs[0].start()]}не {sentence[verbs[0].start() :]}" if verbs else ""


def without_exception(sentence: str) -> str:
    """The same without its "except" or "only"; empty where it has none."""
    whole = _EXCEPT.sub(" ", sentence).replace("  ", " ").replace(" .", ".")
    return whole if whole != sentence and len(telling_stems(whole)) >= 2 else ""


def swapped(sentence: str, text: str, pattern: re.Pattern[str], draw: random.Random, most: int = 1) -> Iterator[str]:
    """Numbers or names of the sentence, up to ``most`` of them, replaced each by another one of the same passage."""
    mine = list(pattern.finditer(sentence))
    rest = text.replace(sentence, " ")
    said = {match.group()[:4].lower() for match in mine} | {word[:4].lower() for word in sentence.split()}
    others = sorted({match.group() for match in pattern.finditer(rest)})
    others = [one for one in others if one[:4].lower() not in said and one not in {match.group() for match in mine}]
    if not others:
        return
    for match in draw.sample(mine, min(most, len(mine))):
        yield sentence[: match.start()] + draw.choice(others) + sentence[match.end() :]
