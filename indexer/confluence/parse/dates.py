"""Dates as wikis write them -> ISO 8601; leniently, because the locale is the exporter's."""

from __future__ import annotations

import re

ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
STAMP = re.compile(r"(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?")
# Beginnings of month names; enough letters that no two languages contradict each other.
MONTHS = {
    "jan": 1, "янв": 1, "ene": 1, "gen": 1, "sty": 1, "січ": 1, "sij": 1,
    "feb": 2, "fév": 2, "fev": 2, "фев": 2, "lut": 2, "лют": 2, "úno": 2,
    "mar": 3, "mär": 3, "мар": 3, "mrz": 3, "бер": 3, "maa": 3, "mrt": 3, "bře": 3,
    "apr": 4, "avr": 4, "abr": 4, "апр": 4, "kwi": 4, "кві": 4, "dub": 4,
    "may": 5, "mai": 5, "mag": 5, "май": 5, "мая": 5, "maj": 5, "mei": 5, "тра": 5, "kvě": 5,
    "jun": 6, "jui": 0, "июн": 6, "giu": 6, "cze": 6, "чер": 6, "čer": 0,
    "jul": 7, "июл": 7, "lug": 7, "lip": 7, "лип": 7,
    "aug": 8, "aoû": 8, "aou": 8, "ago": 8, "авг": 8, "sie": 8, "сер": 8, "srp": 8,
    "sep": 9, "set": 9, "сен": 9, "wrz": 9, "вер": 9, "zář": 9,
    "oct": 10, "okt": 10, "out": 10, "ott": 10, "окт": 10, "paź": 10, "жов": 10, "říj": 10,
    "nov": 11, "ноя": 11, "lis": 11, "лис": 11,
    "dec": 12, "déc": 12, "dez": 12, "dic": 12, "дек": 12, "gru": 12, "гру": 12, "pro": 12, "des": 12,
}  # fmt: skip
LONG_MONTHS = {"juin": 6, "juil": 7, "červenec": 7, "července": 7, "červen": 6, "června": 6}
NUMBER_FORMS = (
    (re.compile(r"\b(\d{4})[./年-]\s?(\d{1,2})[./月-]\s?(\d{1,2})"), (0, 1, 2)),
    (re.compile(r"\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b"), (2, 1, 0)),
)


def iso_date(text: str) -> str:
    """The day in ``text`` as YYYY-MM-DD, "" when there is none that can be told."""
    text = text.strip()
    if match := ISO.search(text):
        return match.group() if _valid(*match.groups()) else ""
    for form, order in NUMBER_FORMS:
        if match := form.search(text):
            year, month, day = (match[place + 1] for place in order)
            return _format(int(year), int(month), int(day))
    return _worded(text)


def iso_stamp(text: str) -> str:
    """A timestamp ("2019-07-31 09:54:26.000") as ISO 8601, its zone only where it is given."""
    match = STAMP.search(text)
    if not match:
        return iso_date(text)
    zone = (match[3] or "").replace("Z", "+00:00")
    if re.fullmatch(r"[+-]\d{4}", zone):
        zone = f"{zone[:3]}:{zone[3:]}"
    return f"{match[1]}T{match[2]}{zone}"


def _worded(text: str) -> str:
    lowered = text.lower()
    year = re.search(r"\b(\d{4})\b", lowered)
    day = re.search(r"(?<!\d)(\d{1,2})(?!\d|:\d)", lowered)
    words = re.findall(r"[^\W\d_]{3,}", lowered)
    month = next((found for word in words if (found := _month(word))), 0)
    return _format(int(year[1]), month, int(day[1])) if year and day and month else ""


def _month(word: str) -> int:
    for beginning, number in LONG_MONTHS.items():
        if word.startswith(beginning):
            return number
    return MONTHS.get(word[:3], 0)


def _valid(year: str, month: str, day: str) -> bool:
    return 1 <= int(month) <= 12 and 1 <= int(day) <= 31


def _format(year: int, month: int, day: int) -> str:
    return f"{year:04d}-{month:02d}-{day:02d}" if _valid(str(year), str(month), str(day)) else ""
