"""A report for reading: the same parts as Markdown with plot files and as one HTML page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from askwiki.evaluate.reports import tables

Rows = Sequence[Sequence[str]]
Say = Callable[..., str]  # a sentence of config/texts by its name, in the report's language


@dataclass(frozen=True, slots=True)
class Part:
    """One heading with what stands below it; what is empty is left out."""

    title: str
    text: str = ""
    rows: Rows = ()
    plot: str = ""  # SVG
    name: str = ""  # of the plot's file
    code: str = ""


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
