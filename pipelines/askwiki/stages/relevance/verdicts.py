"""The verdicts in a judge's reply, in whatever clothes they come: bare digits, lines, JSON, words."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise

from askwiki.data import Verdict
from askwiki.language import en, ru

READ_CHARACTERS = 20_000  # of a reply that should be a few digits
_YES, _NO = (*ru.YES, *en.YES, "true"), (*ru.NO, *en.NO, "false")
_MEANS: dict[str, Verdict] = {**dict.fromkeys((*_YES, "1"), "yes"), **dict.fromkeys((*_NO, "0"), "no")}
_VERDICT = rf"(?<![\w.,])(?:[01](?![\d.,]\d)|{'|'.join((*_YES, *_NO))})(?!\w)"
_ONE = re.compile(_VERDICT, re.IGNORECASE)
_EMPHASIS = re.compile(r"[*_`~]+")
# "1: 0", "Фрагмент 1 — да", "[1] 0", "| 1 | 0 |", "1 → **1**", several in a line or one.
_NUMBERED = re.compile(
    rf"(?<![\w.,])(\d{{1,3}})(?:[\])>\"']{{1,2}}|[^\S\n]{{0,3}}[:=.)|–—→>-])[^\d\n]{{0,40}}?({_VERDICT})", re.IGNORECASE
)
_TWO_IN_LINE = re.compile(rf"[^\w\n]*(\d{{1,3}})\s+[^\d\n]{{0,20}}?({_VERDICT})\W*", re.IGNORECASE)
_MARK = re.compile(r"<<(\d{1,3}) \w+>>")  # ours, said back
_RUN = re.compile(r"(?<![\w.,])[01]{2,}(?![\w.,]\w)")
Read = tuple[Verdict, ...]


def read_verdicts(text: str, count: int) -> Read:
    """One verdict for each of ``count`` fragments; "unanswered" where the reply names none, or two."""
    text = _MARK.sub(r"\1", _EMPHASIS.sub("", text[:READ_CHARACTERS].replace("```json", ""))).strip()
    for read in (_bare, _json, _numbered, _lines, _single):
        if (found := read(text, count)) is not None:
            return found
    nothing: Verdict = "unanswered"
    return (nothing,) * count


def _bare(text: str, count: int) -> Read | None:
    """``0110``, ``0, 1, 1, 0``, ``[0 1 1 0]``, ``Ответ: 0110``."""
    digits = re.sub(r"[\s,;.\[\]()\"']", "", text)
    if len(runs := _RUN.findall(text)) == 1 and len(re.findall(r"\d", text)) == count:
        digits = runs[0]
    if len(digits) != count or set(digits) - {"0", "1"}:
        return None
    return tuple(_MEANS[digit] for digit in digits)


def _json(text: str, count: int) -> Read | None:
    """``{"1": 0}``, ``{"verdicts": [0, 1]}``, ``[{"fragment": 1, "relevant": true}]``."""
    start = re.search(r"[{\[]", text)
    if start is None:
        return None
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text, start.start())
    except (ValueError, RecursionError):
        return None
    return _of_value(value, count)


def _of_value(value: object, count: int) -> Read | None:
    if isinstance(value, str):
        return _bare(value, count) or _numbered(value, count)
    if isinstance(value, dict):
        return _of_pairs([(_number(name), _meaning(each)) for name, each in value.items()], count) or _inner(
            value, count
        )
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(each, dict) for each in value):
        return _of_records(value, count)
    meanings = [_meaning(each) for each in value]
    if len(meanings) != count or None in meanings:
        return None
    return tuple(meaning for meaning in meanings if meaning)


def _inner(value: dict[str, object], count: int) -> Read | None:
    """``{"verdicts": …}``: the one field that holds them; of one fragment, ``{"relevant": 1}``."""
    for each in value.values():
        if isinstance(each, list | dict | str) and (found := _of_value(each, count)):
            return found
    meanings = {meaning for each in value.values() if (meaning := _meaning(each))}
    return tuple(meanings) if count == 1 and len(meanings) == 1 else None


def _of_records(records: Sequence[dict[str, object]], count: int) -> Read | None:
    """A record says its number first and its verdict last; without a number they count by their order."""
    pairs = []
    for place, record in enumerate(records, 1):
        values = list(record.values())
        numbers = [number for each in values if (number := _number(each)) is not None]
        meanings = [meaning for each in values if (meaning := _meaning(each))]
        named = len(values) > 1 and bool(numbers) and _number(values[0]) is not None
        pairs.append((numbers[0] if named else place, meanings[-1] if meanings else None))
    return _of_pairs(pairs, count)


def _of_pairs(pairs: Sequence[tuple[int | None, Verdict | None]], count: int) -> Read | None:
    said: dict[int, set[Verdict]] = {}
    for number, verdict in pairs:
        if number is not None and 1 <= number <= count and verdict is not None:
            said.setdefault(number, set()).add(verdict)
    if not said:
        return None
    nothing: Verdict = "unanswered"
    return tuple(
        next(iter(said[number])) if len(said.get(number, ())) == 1 else nothing for number in range(1, count + 1)
    )


def _number(value: object) -> int | None:
    """The number of a fragment: ``1``, ``"1"``, ``"Фрагмент 1"``."""
    found = re.fullmatch(r"\D{0,40}(\d{1,3})\D{0,3}", str(value)) if isinstance(value, int | str) else None
    return int(found[1]) if found and not isinstance(value, bool) else None


def _meaning(value: object) -> Verdict | None:
    return _MEANS.get(str(value).strip().lower()) if isinstance(value, bool | int | str) else None


def _numbered(text: str, count: int) -> Read | None:
    """Each number with its verdict, in one line or in many."""
    pairs = [(int(number), _MEANS[said.lower()]) for number, said in _NUMBERED.findall(text)]
    if not pairs:
        lines = [_TWO_IN_LINE.fullmatch(line) for line in text.splitlines() if line.strip()]
        pairs = [(int(match[1]), _MEANS[match[2].lower()]) for match in lines if match]
        if len(pairs) < 2 or any(earlier[0] >= later[0] for earlier, later in pairwise(pairs)):
            return None
    return _of_pairs(pairs, count)


def _lines(text: str, count: int) -> Read | None:
    """One verdict a line, in order."""
    lines = [_ONE.findall(line) for line in text.splitlines() if line.strip()]
    if count == 1 or len(lines) != count or any(len(found) != 1 for found in lines):
        return None
    return tuple(_MEANS[found[0].lower()] for found in lines)


def _single(text: str, count: int) -> Read | None:
    """Of one fragment: the only verdict that the reply names, digits before words."""
    if count != 1:
        return None
    found = [each.lower() for each in _ONE.findall(text)]
    digits = {each for each in found if each.isdigit()} or set(found)
    return (_MEANS[digits.pop()],) if len({_MEANS[each] for each in digits}) == 1 else None
