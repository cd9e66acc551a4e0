"""Writes what a measurement leaves behind: report.json, report.md, report.html, review.csv, review.html."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from askwiki.errors import SourceError
from askwiki.evaluate.outcome import Outcome
from askwiki.evaluate.reports.numbers import Report
from askwiki.evaluate.reports.parts import parts_of
from askwiki.evaluate.reports.review import read_sheet, write_sheet
from askwiki.evaluate.reports.review_page import review_page
from askwiki.evaluate.reports.text import Say, write_report
from askwiki.texts import Texts

SHEET, PAGE = "review.csv", "review.html"


def write_reports(folder: Path, report: Report, *, texts: Texts, language: str) -> None:
    """The three forms of one report."""
    (folder / "report.json").write_text(json.dumps(report, ensure_ascii=False, indent=2), encoding="utf-8")
    say = say_in(texts, language)
    write_report(folder, say("report_title"), parts_of(report, say))


def write_review(folder: Path, outcomes: Sequence[Outcome], *, texts: Texts, language: str) -> None:
    """Both sheets for a person. A sheet that already holds somebody's grades is not overwritten."""
    sheet = folder / SHEET
    if sheet.exists() and read_sheet(sheet).grades:
        sheet.replace(_free(sheet))
    write_sheet(sheet, outcomes, language)
    page = review_page(outcomes, name=str(folder.resolve()), texts=texts, language=language)
    (folder / PAGE).write_text(page, encoding="utf-8")


def _free(file: Path) -> Path:
    """``review.1.csv``, ``review.2.csv``, …: the first name that is not taken."""
    number = 1
    while (free := file.with_name(f"{file.stem}.{number}{file.suffix}")).exists():
        number += 1
    return free


def read_report(folder: Path) -> Report:
    """The ``report.json`` of an earlier run in this folder; empty when there is none."""
    file = folder / "report.json"
    if not file.exists():
        return {}
    try:
        report: Report = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SourceError(f"{file} is not valid JSON: {error}.") from error
    return report


def say_in(texts: Texts, language: str) -> Say:
    """The sentences of config/texts in one language, by name."""

    def say(name: str, **values: object) -> str:
        return texts.say(name, language, **values)

    return say
