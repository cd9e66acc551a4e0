"""Reports that the wiki shows screen by screen: its rendering holds the first one, and says so in attributes."""

from __future__ import annotations

import re

from lxml.etree import _Element

from indexer.confluence.render.markdown import Renderer

MORE = frozenset({"more-link", "more-link-container", "show-more", "load-more"})
PAGINATION = frozenset({"aui-nav-pagination", "pagination", "aui-nav-pages"})
NUMBER = re.compile(r"\d+")
GROUPED = re.compile(r"(?<=\d)[\s\u00a0\u202f.,](?=\d{3}(?!\d))")  # 1 234, 1.234, 1,234


def cut_off(node: _Element) -> str:
    """Why a rendered report is not whole, "" when nothing says so."""
    for inner in node.iter():
        if not isinstance(inner.tag, str):
            continue
        screens, size = (_number(inner.get(name)) for name in ("data-total-pages", "data-page-size"))
        if screens > 1 and not (size and _rows(inner) > size * (screens - 1)):
            return f"only the first of {screens} screens is here"
        classes = set((inner.get("class") or "").split())
        if "total-issues-count" in classes or (inner.get("id") or "").startswith("total-issues-count"):
            there = max(map(int, NUMBER.findall(GROUPED.sub("", "".join(inner.itertext())))), default=0)
            if there > (rows := _rows(node)):
                return f"only {rows} of {there} rows are here"
        if classes & PAGINATION and sum(link_text(one).isdecimal() for one in inner.iter("a", "span")) > 1:
            return "only the first of several screens is here"
        if classes & MORE and any(link.get("href") for link in inner.iter("a")):
            return "only the first entries are here"
    return ""


def with_mark(renderer: Renderer, name: str, node: _Element, text: str) -> str:
    """The text of a report, with a mark below it when it is not whole."""
    reason = cut_off(node)
    if not reason or not text.strip():
        return text
    renderer.lose("macro", name, reason)
    mark = renderer.word("\\[not all is shown: see the wiki]", "\\[показано не всё: см. в вики]")
    end = text[len(text.rstrip("\n")) :]
    return f"{text.rstrip(chr(10))}\n\n{mark}{end}"


def link_text(node: _Element) -> str:
    return "".join(node.itertext()).strip()


def _rows(node: _Element) -> int:
    return sum(1 for row in node.iter("tr") if next(row.iter("td"), None) is not None)


def _number(said: str | None) -> int:
    return int(said) if said and said.isdecimal() and len(said) < 10 else 0
