"""``python -m indexer llms-txt KIND:PATH …``: the map of the wiki for language models, one line a page."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from askwiki.access.rights import known_readers
from askwiki.configuration import Configuration, load_configuration
from askwiki.data import Page
from askwiki.markdown.blocks import parse_blocks
from askwiki.markdown.plain_text import plain_text
from indexer.opening import open_source
from indexer.sources import PageSource

LINE = 160  # characters of what is said of a page
OTHERS = ("heading", "code", "fence", "html", "rule")  # blocks that say nothing in one line


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sources", metavar="KIND:PATH", nargs="+", help="html, xml, rest, markdown or backstage")
    parser.add_argument("--out", metavar="FILE", help="where to write it; stdout when not given")
    parser.add_argument(
        "--all", action="store_true", help="pages too that not everybody may read; keep the file from the others"
    )


def run(options: argparse.Namespace) -> int:
    configuration = load_configuration(os.environ)
    sources = [open_source(spec, configuration) for spec in options.sources]
    text = llms_txt(sources, configuration, everything=options.all)
    if options.out:
        Path(options.out).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


def llms_txt(sources: Iterable[PageSource], configuration: Configuration, *, everything: bool) -> str:
    """The form of llmstxt.org: a title, a line about it, lists of links under a heading for each space."""
    spaces: dict[str, list[str]] = {}
    hidden = 0
    for source in sources:
        for page in source.pages():
            if not isinstance(page, Page):
                continue
            if not everything and known_readers(page.readers, source.kind, configuration.settings.access):
                hidden += 1
                continue
            spaces.setdefault(page.space or source.kind, []).append(_line(page))
    russian = configuration.settings.language == "ru"
    lines = ["# Карта вики" if russian else "# Map of the wiki", ""]
    count = sum(map(len, spaces.values()))
    if russian:
        lines.append(f"> Страниц: {count}. Не вошли, потому что открыты не всем: {hidden}.")
    else:
        lines.append(f"> {count} pages. Left out because not everybody may read them: {hidden}.")
    for space, pages in spaces.items():
        lines += ["", f"## {space}", "", *pages]
    return "\n".join(lines) + "\n"


def _line(page: Page) -> str:
    """``- [Path / Title](address): the first words``; a bracket in a title must not end the link."""
    title = " / ".join((*page.path, page.title)).replace("[", "(").replace("]", ")")
    name = f"[{' '.join(title.split())}]({page.url})" if page.url else " ".join(title.split())
    said = next(_first(page), "")
    return f"- {name}: {said}" if said else f"- {name}"


def _first(page: Page) -> Iterator[str]:
    """The first words of the text, cut at a blank."""
    for block in parse_blocks(page.markdown):
        text = "" if block.kind in OTHERS else " ".join(plain_text(page.markdown[block.start : block.end]).split())
        if text:
            yield text if len(text) <= LINE else text[:LINE].rpartition(" ")[0] + "…"
