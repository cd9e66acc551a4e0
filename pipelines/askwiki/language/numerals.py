"""Numbers as they are written and said: ``80 тысяч``, ``1 500``, ``двести``, ``twenty-five`` are plain digits."""

from __future__ import annotations

import re
from decimal import Decimal

_UNITS = (
    "ноль нуля zero|один одна одно одного одной одним одну one"
    "|два две двух двум двумя двое двоих two|три трех трем тремя трое троих three"
    "|четыре четырех четырем четырьмя четверо четверых four|пять пяти пятью пятеро five|шесть шести шестью шестеро six"
    "|семь семи семью семеро seven|восемь восьми восемью восьмью eight|девять девяти девятью nine"
    "|десять десяти десятью ten|одиннадцать одиннадцати eleven|двенадцать двенадцати twelve"
    "|тринадцать тринадцати thirteen|четырнадцать четырнадцати fourteen|пятнадцать пятнадцати fifteen"
    "|шестнадцать шестнадцати sixteen|семнадцать семнадцати seventeen|восемнадцать восемнадцати eighteen"
    "|девятнадцать девятнадцати nineteen"
)
_TENS = (
    "двадцать двадцати двадцатью twenty|тридцать тридцати тридцатью thirty|сорок сорока forty"
    "|пятьдесят пятидесяти fifty|шестьдесят шестидесяти sixty|семьдесят семидесяти seventy"
    "|восемьдесят восьмидесяти eighty|девяносто девяноста ninety"
)
_HUNDREDS = (
    "сто ста|двести двухсот|триста трехсот|четыреста четырехсот|пятьсот пятисот|шестьсот шестисот|семьсот семисот"
    "|восемьсот восьмисот|девятьсот девятисот"
)
_VALUES = {
    word: value
    for groups, first, step in ((_UNITS, 0, 1), (_TENS, 20, 10), (_HUNDREDS, 100, 100))
    for value, words in zip(range(first, 10_000, step), groups.split("|"), strict=False)
    for word in words.split()
}
_LARGE = {
    1_000: "тысяча тысячи тысяч тысячу тысячей тысячам тысячах тыс thousand k",
    1_000_000: "миллион миллиона миллионов млн million",
    1_000_000_000: "миллиард миллиарда миллиардов млрд billion",
}
_SCALE = {word: scale for scale, words in _LARGE.items() for word in words.split()}
_SCALES = "|".join(sorted(_SCALE, key=len, reverse=True))
_SPOKEN_SCALES = "|".join(word for word in sorted(_SCALE, key=len, reverse=True) if len(word) > 4)
_WORDS = "|".join(sorted(_VALUES, key=len, reverse=True))
NUMBER = re.compile(
    r"(?P<digits>(?<![\w.])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\w)|(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,])"
    rf"|\d+(?:[.,:]\d+)*)(?:[ \u00a0\u202f]?(?P<scale>{_SCALES})\b)?",
    re.IGNORECASE,
)
SPOKEN = re.compile(
    rf"\b(?:{_WORDS}|полтора|полторы|hundred|{_SPOKEN_SCALES})"
    rf"(?:(?:[ -]| and )(?:{_WORDS}|hundred|{_SPOKEN_SCALES}))*\b"
)


def number_of(match: re.Match[str]) -> str:
    """A match of ``NUMBER`` as plain digits, a point before decimals: ``80 тыс.`` = 80000; a time stays a time."""
    digits = re.sub(r"[ \u00a0\u202f]", "", match["digits"])
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", digits):
        digits = digits.replace(",", "")
    digits = digits.replace(",", ".")
    if match["scale"] and digits.count(".") <= 1 and ":" not in digits:
        return plain(Decimal(digits) * _SCALE[match["scale"].lower()])
    if re.fullmatch(r"\d+\.\d+", digits) and digits.endswith("0") and not digits.startswith("0"):
        return digits  # 2.10 is a version as likely as a decimal
    if re.fullmatch(r"\d{1,2}:00", digits):
        digits = digits[:-3]
    return digits.lstrip("0") or "0" if digits.isdigit() else digits


def spoken_number(words: str) -> str:
    """A folded match of ``SPOKEN`` as digits: ``сто двадцать тысяч`` = 120000; empty where the words are no number."""
    total = part = Decimal(0)
    for word in re.split(r"[ -]+", words):
        if word in ("полтора", "полторы"):
            part += Decimal("1.5")
        elif word == "hundred":
            part = (part or Decimal(1)) * 100
        elif word in _SCALE:
            total += (part or Decimal(1)) * _SCALE[word]
            part = Decimal(0)
        else:
            part += _VALUES.get(word, 0)
    value = total + part
    return plain(value) if value else ""


def plain(value: Decimal) -> str:
    """A number without exponent and without zeros at its end after the point."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
