"""How fast pages become Markdown, and how much memory a large export takes.

``rows()`` gives the rows of ``bench.json``. The pages are the 390 of the Struts wiki where they are
(``ASKWIKI_BENCH_HTML``, else beside the checkout), else those of the sample wiki.
"""

from __future__ import annotations

import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lxml import html
from markdownify import markdownify

from askwiki.configuration import Configuration
from askwiki.settings import Settings
from indexer.confluence.page import convert
from indexer.confluence.parse.html_page import read_html_page
from indexer.confluence.parse.html_tree import parse_fragment
from indexer.confluence.parse.links import Context
from indexer.opening import open_source

ROOT = Path(__file__).resolve().parents[2]
STRUTS = ROOT.parent / "shared" / "data" / "confluence-real" / "struts2-docs-siteexport" / "pages"
EXPORT_BYTES = 300 << 20  # of the generated export
MEMORY_GOAL = 1 << 30  # bytes resident, for a file of 500 MB


def rows() -> list[dict[str, Any]]:
    bodies = page_bodies()
    ours = processor_seconds(lambda body: convert(parse_fragment(body), Context()), bodies)
    plain = processor_seconds(markdownify, bodies)
    ratio = plain / ours
    name = f"conversion: speed against plain markdownify, {len(bodies)} pages"
    resident = memory_of_export()
    return [
        row(name, round(ratio, 2), "ratio", ">= 1.0", ratio >= 1.0, "markdownify 1.2.3, losses counted by us only"),
        row("conversion: pages a second", round(len(bodies) / ours), "1/s", "", None, "one core, losses counted"),
        row(
            "XML export of 300 MB: resident memory", resident >> 20, "MB", "< 1024 for 500 MB", resident < MEMORY_GOAL,
            "bodies wait in a temporary SQLite file",
        ),
    ]  # fmt: skip


def row(name: str, value: float, unit: str, goal: str, met: bool | None, against: str) -> dict[str, Any]:
    why = "" if met else ("no goal is set for it" if met is None else "slower or larger than the goal on this machine")
    return {"name": name, "value": value, "unit": unit, "goal": goal, "met": met, "against": against, "why": why}


def page_bodies() -> list[str]:
    folder = Path(os.environ.get("ASKWIKI_BENCH_HTML") or STRUTS)
    if not folder.is_dir():
        folder = ROOT / "tests" / "wiki" / "html"
    files = sorted(file for file in folder.glob("*.html") if file.name != "index.html")
    return [html.tostring(read_html_page(file.read_bytes(), file.name).body, encoding="unicode") for file in files]


def processor_seconds(work: Any, bodies: list[str]) -> float:
    started = time.process_time()
    for body in bodies:
        work(body)
    return time.process_time() - started


def memory_of_export() -> int:
    """Peak resident bytes of a process of its own that reads a generated export to its end."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "entities.xml"
        write_export(file, EXPORT_BYTES)
        command = [sys.executable, "-m", "tests.bench.conversion", str(file)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stdout)


PAGE = """<object class="Page" package="p"><id name="id">{id}</id><property name="title">Страница {id}</property>
<property name="contentStatus">current</property>{old}
<property name="space" class="Space"><id name="id">9</id></property></object>
<object class="BodyContent" package="p"><id name="id">{id}1</id><property name="body"><![CDATA[{text}]]></property>
<property name="content" class="Page"><id name="id">{id}</id></property><property name="bodyType">2</property></object>
"""
OLD = '<property name="originalVersion" class="Page"><id name="id">{}</id></property>'
SPACE = '<object class="Space" package="p"><id name="id">9</id><property name="key">KB</property></object>'


def write_export(file: Path, size: int) -> None:
    """Pages of 30 KB, each with two old versions, until the file is as large as asked."""
    paragraph = "<p>Приём заявок на возврат тары идёт до <strong>18:00</strong>, потом их берёт дежурный смены.</p>"
    head, line = "<tr><th>Пост</th><th>Телефон</th></tr>", "<tr><td>1</td><td>4401</td></tr>"
    text = (paragraph * 40 + f"<table><tbody>{head}{line * 20}</tbody></table>") * 3
    with file.open("w", encoding="utf-8") as output:
        output.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<hibernate-generic>{SPACE}\n')
        number = 0
        while output.tell() < size:
            number += 10
            output.write(PAGE.format(id=number, old="", text=text))
            for version in (1, 2):
                output.write(PAGE.format(id=number + version, old=OLD.format(number), text=text))
        output.write("</hibernate-generic>\n")


def read_to_the_end(file: str) -> None:
    """Open the export and read its first pages, then say the peak of the resident memory in bytes.

    Conversion holds one page at a time, so that more pages would only cost time.
    """
    for _ in itertools.islice(open_source(f"xml:{file}", Configuration(Settings(), Path(), {})).pages(), 500):
        pass
    sys.stdout.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))


if __name__ == "__main__":
    read_to_the_end(sys.argv[1])
