"""Divides questions into tuning and hold-out by page: no page is seen from both sides."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from askwiki.evaluate.questions import GoldQuestion

HOLDOUT_SHARE = 0.4  # enough questions on the hold-out side for an interval that says something


def pages_of(question: GoldQuestion) -> tuple[str, ...]:
    """Every page that a question's gold names, alternatives included."""
    return tuple(dict.fromkeys(place.page for entry in question.gold for place in entry.places))


def divide(questions: Sequence[GoldQuestion], holdout: float = HOLDOUT_SHARE) -> list[GoldQuestion]:
    """The same questions with ``split`` filled in where it was empty.

    Questions that share a page, directly or through others, go to one side, chosen by a hash of their
    pages: it does not change when other questions come or go. A side that one of them has already
    is kept for all.
    """
    group_of = _groups(questions)
    given: dict[str, str] = {}
    for question, group in zip(questions, group_of, strict=True):
        if question.split:
            given.setdefault(group, question.split)
    return [
        question if question.split else replace(question, split=given.get(group) or _side(group, holdout))
        for question, group in zip(questions, group_of, strict=True)
    ]


def write_split(file: Path, questions: Sequence[GoldQuestion], target: Path) -> None:
    """A copy of ``file`` with the split of ``questions`` in its lines; all else stays as it is."""
    sides = {question.line: question.split for question in questions}
    target.write_text("".join(_lines(file, sides)), encoding="utf-8", newline="\n")


def _lines(file: Path, sides: dict[int, str]) -> Iterator[str]:
    for number, text in enumerate(file.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if number in sides:
            yield json.dumps({**json.loads(text), "split": sides[number]}, ensure_ascii=False) + "\n"


def _groups(questions: Sequence[GoldQuestion]) -> list[str]:
    """For each question the name of its group: the least page (or, without pages, its own id)."""
    leader: dict[str, str] = {}

    def find(page: str) -> str:
        while leader.setdefault(page, page) != page:
            page = leader[page]
        return page

    for question in questions:
        pages = pages_of(question)
        for page in pages[1:]:
            low, high = sorted((find(pages[0]), find(page)))
            leader[high] = low
    return [find(pages[0]) if (pages := pages_of(question)) else f"question {question.id}" for question in questions]


def _side(group: str, holdout: float) -> str:
    number = int.from_bytes(hashlib.sha256(group.encode()).digest()[:8], "big") / 2**64
    return "holdout" if number < holdout else "tuning"
