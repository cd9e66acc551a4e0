"""Question files: one JSON object a line, read into records, faults told line by line.

The form is described in README.md; ``load_questions`` refuses a file with faults of form, ``check``
looks at what the lines say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askwiki.data import Turn
from askwiki.errors import SourceError

SIDES = ("tuning", "holdout")
_SHOWN_FAULTS = 3  # in the error of a file that cannot be used


@dataclass(frozen=True, slots=True)
class GoldPlace:
    """One place in the wiki that holds what a question needs: page id or path, verbatim text."""

    page: str
    snippet: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Gold:
    """One thing that must be in the context: any of ``places`` serves, the first is the main one."""

    places: tuple[GoldPlace, ...]


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """One line of a question file. All ``gold`` entries are needed; none when unanswerable."""

    id: str
    kind: str
    question: str
    answer: str
    answerable: bool
    gold: tuple[Gold, ...] = ()
    history: tuple[Turn, ...] = ()
    standalone: str = ""
    split: str = ""  # tuning | holdout | "" = not divided
    line: int = 0  # in the file, from 1

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The dialogue as a chat would send it, the question last."""
        return (*self.history, Turn("user", self.question))


def load_questions(file: Path) -> list[GoldQuestion]:
    """All questions of ``file``; a file with faults of form raises, naming the first of them."""
    questions, faults = read_questions(file)
    if faults:
        more = f" (and {len(faults) - _SHOWN_FAULTS} more)" if len(faults) > _SHOWN_FAULTS else ""
        raise SourceError(f"{file} cannot be used: {' '.join(faults[:_SHOWN_FAULTS])}{more}")
    if not questions:
        raise SourceError(f"{file} holds no questions; each line must be one JSON object.")
    return questions


def read_questions(file: Path) -> tuple[list[GoldQuestion], list[str]]:
    """(questions that could be read, one sentence for each fault of form)."""
    questions: list[GoldQuestion] = []
    faults: list[str] = []
    for number, text in _lines(file):
        try:
            questions.append(_question(json.loads(text), number))
        except json.JSONDecodeError as error:
            faults.append(f"Line {number} is not valid JSON: {error.msg} at column {error.colno}.")
        except _Fault as fault:
            faults.append(f"Line {number}: {fault}.")
    return questions, faults


class _Fault(Exception):
    """What is wrong with one line, without its number and full stop."""


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers; only a line feed ends a line of JSON."""
    try:
        content = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SourceError(f"The question file {file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"The question file {file} is not UTF-8 text (byte {error.start}).") from error
    for number, text in enumerate(content.split("\n"), start=1):
        if text.strip():
            yield number, text


def _question(line: Any, number: int) -> GoldQuestion:
    if not isinstance(line, dict):
        raise _Fault("must be a JSON object")
    if line.get("draft"):
        raise _Fault("is a draft; correct it and take out the mark draft")
    answerable = line.get("answerable")
    if not isinstance(answerable, bool):
        raise _Fault("answerable must be true or false")
    split = _text(line, "split", optional=True)
    if split and split not in SIDES:
        raise _Fault(f"split is {split!r}; it must be tuning or holdout, or be left out")
    return GoldQuestion(
        id=_text(line, "id"),
        kind=_text(line, "kind"),
        question=_text(line, "question"),
        answer=_text(line, "answer", optional=True),
        answerable=answerable,
        gold=tuple(_gold(item, "gold") for item in _list(line, "gold")),
        history=tuple(_turn(item) for item in _list(line, "history")),
        standalone=_text(line, "standalone", optional=True),
        split=split,
        line=number,
    )


def _text(line: Mapping[str, Any], name: str, optional: bool = False) -> str:
    value = line.get(name)
    if value is None and optional:
        return ""
    if not isinstance(value, str) or not (optional or value.strip()):
        raise _Fault(f"{name} must be a text" + ("" if optional else " and not be empty"))
    return value


def _list(line: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = line.get(name)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _Fault(f"{name} must be a list")
    return value


def _gold(item: Any, name: str) -> Gold:
    if not isinstance(item, dict):
        raise _Fault(f"every entry of {name} must be an object with page and snippet")
    alternatives = [_place(other, "alt") for other in _list(item, "alt")]
    return Gold((_place(item, name), *alternatives))


def _place(item: Any, name: str) -> GoldPlace:
    if not isinstance(item, dict):
        raise _Fault(f"every entry of {name} must be an object with page and snippet")
    return GoldPlace(_text(item, "page"), _text(item, "snippet"), _text(item, "heading", optional=True))


def _turn(item: Any) -> Turn:
    if not isinstance(item, dict) or item.get("role") not in ("user", "assistant", "system"):
        raise _Fault("every entry of history must be an object with role (user, assistant, system) and content")
    return Turn(item["role"], _text(item, "content", optional=True))
