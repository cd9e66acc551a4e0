"""The sheets a person grades on, and reading them back: ``review.csv`` and what the review page saves.

The CSV is made for a double click in Excel: UTF-8 with a byte order mark, and the list separator of
the language's own Excel (a semicolon in Russian). Reading back takes what Excel makes of it.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askwiki.errors import SourceError
from askwiki.evaluate.outcome import Grade, Outcome

COLUMNS = ("id", "kind", "question", "reference", "answer", "sources", "judge", "reason", "human", "comment")
DELIMITERS = {"ru": ";", "en": ","}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a cell that begins so is computed by Excel, not shown
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
_ENCODINGS = ("utf-8-sig", "cp1251")  # as written; as Excel on a Russian Windows saves "CSV"


@dataclass(frozen=True, slots=True)
class HumanGrade:
    """What a person said of one answer; ``file`` is where."""

    id: str
    grade: int
    comment: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet read back: grades given, faults found, and the outcomes as far as the sheet holds them."""

    grades: tuple[HumanGrade, ...]
    faults: tuple[str, ...]
    outcomes: tuple[Outcome, ...] = ()


def write_sheet(file: Path, outcomes: Iterable[Outcome], language: str) -> None:
    """One line an answer, the columns ``human`` and ``comment`` empty."""
    with file.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream, delimiter=DELIMITERS[language])
        writer.writerow(COLUMNS)
        for outcome in outcomes:
            writer.writerow([shown(cell) for cell in _cells(outcome)])


def read_sheet(file: Path) -> Sheet:
    """A ``review.csv`` or the JSON that the review page saved; anything else raises."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise SourceError(f"The sheet {file} cannot be read: {error.strerror}.") from error
    text = _decoded(content, file)
    if text.lstrip().startswith("{"):
        return _from_json(text, file)
    return _from_csv(text, file)


def _from_csv(text: str, file: Path) -> Sheet:
    header = text.split("\n", 1)[0]
    delimiter = max(";,\t", key=header.count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    if rows.fieldnames is None or not {"id", "human"} <= set(rows.fieldnames):
        raise SourceError(f"{file} is no review sheet: its first line must name the columns {', '.join(COLUMNS)}.")
    grades, faults, outcomes = [], [], []
    for number, row in enumerate(rows, start=2):
        values = {name: (row.get(name) or "").strip() for name in COLUMNS}
        outcomes.append(_outcome(values))
        try:
            if values["human"]:
                grades.append(HumanGrade(values["id"], _grade(values["human"]), values["comment"], file.name))
        except ValueError:
            faults.append(f"{file}, row {number} ({values['id']}): the grade is {values['human']!r}, not 0, 1 or 2.")
    return Sheet(tuple(grades), tuple(faults), tuple(outcomes))


def _from_json(text: str, file: Path) -> Sheet:
    try:
        entries: Sequence[Mapping[str, Any]] = json.loads(text)["grades"]
        grades = [
            HumanGrade(str(each["id"]), each["human"], str(each.get("comment", "")), file.name) for each in entries
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceError(f"{file} is not what the review page saves: {error}.") from error
    faults = [
        f"{file} ({each.id}): the grade is {each.grade!r}, not 0, 1 or 2." for each in grades if not _valid(each.grade)
    ]
    return Sheet(tuple(each for each in grades if _valid(each.grade)), tuple(faults))


def _valid(grade: object) -> bool:
    return type(grade) is int and 0 <= grade <= 2


def _grade(text: str) -> int:
    number = float(text.replace(",", "."))  # Excel may turn 2 into 2,0
    if number not in (0, 1, 2):
        raise ValueError
    return int(number)


def _decoded(content: bytes, file: Path) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):  # Excel's "Unicode text"
        return content.decode("utf-16")
    for encoding in _ENCODINGS:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise SourceError(f"{file} is neither UTF-8 nor Windows-1251 text; save it again as CSV UTF-8.")


def _cells(outcome: Outcome) -> list[str]:
    first = outcome.grades[0] if outcome.grades else Grade(None)
    sources = "\n".join(f"{link.title} {link.url}".strip() for link in outcome.links)
    judged = "" if first.grade is None else str(first.grade)
    return [
        *(outcome.id, outcome.kind, outcome.question, outcome.reference, outcome.answer or outcome.fault),
        *(sources, judged, first.reason, "", ""),
    ]


def _outcome(values: Mapping[str, str]) -> Outcome:
    """What a sheet alone still knows of an answer: its words and its judgement."""
    judged = (Grade(int(values["judge"]), values["reason"]),) if values["judge"] in ("0", "1", "2") else ()
    return Outcome(
        id=values["id"],
        kind=values["kind"],
        question=values["question"],
        reference=values["reference"],
        answerable=bool(values["reference"]),
        entries=0,
        answer=values["answer"],
        grades=judged,
    )


def shown(cell: str) -> str:
    """The cell as a spreadsheet shows it rather than computes it; plain numbers stay numbers."""
    harmless = _NUMBER.fullmatch(cell) or not cell.startswith(_FORMULA)
    return cell if harmless else f"'{cell}"
