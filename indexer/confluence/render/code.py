"""Code, letter for letter: fences, spans in cells, and the code of rendered panels."""

from __future__ import annotations

import html
import re

from lxml.etree import _Element

from askwiki.markdown.fences import fence_around
from indexer.confluence.parse.text import bold

BRUSH = re.compile(r"brush:\s*([\w#+.-]+)")
TICKS = re.compile(r"`+")
SAYS_LANGUAGE = ("data-syntaxhighlighter-params", "class", "data-language")
LINE_TAGS = frozenset({"br", "div", "p", "tr"})
# Names of Confluence that say "no language", or that other tools call otherwise.
LANGUAGES = {
    "none": "", "text": "", "plain": "", "default": "", "uml": "plantuml", "puml": "plantuml",
    "html/xml": "xml", "c#": "csharp", "py": "python", "rb": "ruby",
}  # fmt: skip


def language_of(name: str) -> str:
    name = name.strip().lower()
    return re.sub(r"[^\w#+.-]", "", LANGUAGES.get(name, name))


def fence(code: str, language: str, tags: frozenset[str], title: str = "") -> str:
    """A fence longer than any in the code. In a table cell: one code span a line."""
    code = code.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    code = code.rstrip() if not code.strip() else code
    heading = bold(title) if title else ""
    if not code:
        return f"\n\n{heading}\n\n" if heading else ""
    if tags & {"_cell", "_inline"}:
        spans = [span(line) for line in code.split("\n") if line.strip()]
        return "\n" + "\n".join([heading, *spans] if heading else spans) + "\n"
    if not language and code.lstrip().startswith("@start"):
        language = "plantuml"
    ticks = fence_around(code)
    return (
        f"\n\n{heading}\n\n{ticks}{language}\n{code}\n{ticks}\n\n"
        if heading
        else f"\n\n{ticks}{language}\n{code}\n{ticks}\n\n"
    )


def span(text: str) -> str:
    """`` `text` `` with as many ticks as it needs."""
    ticks = "`" * (max((len(run) for run in TICKS.findall(text)), default=0) + 1)
    blank = " " if len(ticks) > 1 else ""
    return f"{ticks}{blank}{text}{blank}{ticks}"


def raw_text(node: _Element) -> str:
    """All text inside, lines as the browser would break them."""
    pieces = [node.text or ""]
    for child in node:
        if isinstance(child.tag, str):
            inner = raw_text(child)
            if child.tag == "br":
                inner = "\n"
            elif child.tag in LINE_TAGS and inner:
                inner = inner.rstrip("\n") + "\n"
            pieces.append(inner)
        pieces.append(child.tail or "")
    return "".join(pieces)


def rendered_code(node: _Element) -> tuple[str, str]:
    """Text and language of a ``pre`` (or of a ``script`` that hides code from the browser)."""
    inner = node[0] if len(node) == 1 and node[0].tag == "code" else None
    said = [one.get(name) for one in (node, inner) if one is not None for name in SAYS_LANGUAGE]
    words = " ".join(word for word in said if word)
    brush = BRUSH.search(words) or re.search(r"(?:language|code)-([\w#+.-]+)", words)
    text = raw_text(node)
    if node.tag == "script":
        text = re.sub(r"^\s*<!\[CDATA\[|\]\]>\s*$", "", text)
        text = html.unescape(text)
    return text.replace("\u00a0", " "), language_of(brush[1]) if brush else ""
