"""Writes what a measurement leaves behind: report.json, report.md, report.html, review.csv, review.html."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from askwiki.errors import SourceError
from askwiki.evaluate.outcome import Outcome
from askwiki.evaluate.reports import tables
from askwiki.evaluate.reports.numbers import Report
from askwiki.evaluate.reports.parts import Part, Rows, Say, parts_of
from askwiki.evaluate.reports.review import read_sheet, write_sheet
from askwiki.evaluate.reports.review_page import review_page
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


def write_report(folder: Path, title: str, parts: Sequence[Part]) -> None:
    """``report.md`` with its plots in ``plots/``, and ``report.html`` that needs no other file."""
    (folder / "plots").mkdir(parents=True, exist_ok=True)
    for part in parts:
        if part.plot:
            (folder / "plots" / f"{part.name}.svg").write_text(part.plot, encoding="utf-8")
    (folder / "report.md").write_text("\n\n".join(_markdown(title, parts)) + "\n", encoding="utf-8")
    (folder / "report.html").write_text("\n".join(_html(title, parts)), encoding="utf-8")


def _markdown(title: str, parts: Sequence[Part]) -> Iterator[str]:
    yield f"# {title}"
    for part in parts:
        if part.title:
            yield f"## {part.title}"
        if part.text:
            yield part.text
        if part.plot:
            yield f"![{part.title}](plots/{part.name}.svg)"
        if len(part.rows) > 1:
            yield tables.markdown(part.rows)
        if part.code:
            yield f"```json\n{part.code}\n```"


_HEAD = """<!doctype html>
<html><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 1rem auto 4rem; padding: 0 1rem; }}
h2 {{ margin-top: 2.2rem; }} table {{ border-collapse: collapse; margin: .8rem 0; }}
svg {{ max-width: 100%; height: auto; }}
td, th {{ border: 1px solid #bbb; padding: .25rem .6rem; text-align: left; vertical-align: top; }}
td {{ overflow-wrap: anywhere; }}
pre {{ background: #f4f4f4; padding: .8rem; overflow: auto; font-size: .85rem; }}</style></head><body>
<h1>{title}</h1>"""


def _html(title: str, parts: Sequence[Part]) -> Iterator[str]:
    yield _HEAD.format(title=escape(title))
    for part in parts:
        if part.title:
            yield f"<h2>{escape(part.title)}</h2>"
        if part.text:
            yield f"<p>{escape(part.text)}</p>"
        if part.plot:
            yield part.plot
        if len(part.rows) > 1:
            yield _table(part.rows)
        if part.code:
            yield f"<pre>{escape(part.code)}</pre>"
    yield "</body></html>\n"


def _table(rows: Rows) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:])
    return f"<table><tr>{head}</tr>{body}</table>"
