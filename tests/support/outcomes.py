"""Outcomes of questions for the tests of measuring, short to write."""

from __future__ import annotations

from typing import Any

from askwiki.evaluate.outcome import Grade, Hit, Link, Outcome


def hit(page: str = "1", *entries: int, name: str = "c") -> Hit:
    """A chunk of ``page`` that holds the gold ``entries``."""
    return Hit(name, page, 1.0, entries, entries)


def outcome(name: str, **values: Any) -> Outcome:
    """An answerable question with one gold entry that was found, read, cited and answered well."""
    there = (hit("1", 0),)
    defaults: dict[str, Any] = {
        "kind": "fact",
        "question": f"Вопрос {name}?",
        "reference": "Три дня.",
        "answerable": True,
        "entries": 1,
        "stages": dict.fromkeys(("found", "gated", "judged", "prompt", "cited"), there),
        "answer": "Три дня [1].",
        "links": (Link("Перевод › Сроки", "https://wiki.example.com/1", True, True),),
        "supported": 1.0,
        "seconds": {"search": 0.02, "total": 1.0},
        "tokens": {"answer": 100},
        "grades": (Grade(2, "Верно."),),
    }
    return Outcome(id=name, **{**defaults, **values})


def graded(name: str, *grades: int | None, **values: Any) -> Outcome:
    return outcome(name, grades=tuple(Grade(grade, "потому что") for grade in grades), **values)
