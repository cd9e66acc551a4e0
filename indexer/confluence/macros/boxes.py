"""Panels and expands: their title and kind stay, their colours go, what is hidden is shown."""

from __future__ import annotations

import re

from lxml import etree
from lxml.etree import _Element

from askwiki.markdown.block_parser_lines import RUN
from indexer.confluence.parse.text import bold, clean, escape
from indexer.confluence.render.markdown import Renderer, tag_name

# The kind of a box in the language of the page.
NAMES = {
    "info": ("Info", "К сведению"),
    "note": ("Note", "Примечание"),
    "tip": ("Tip", "Совет"),
    "warning": ("Warning", "Предупреждение"),
    "error": ("Error", "Ошибка"),
    "success": ("Success", "Успешно"),
}
# Words by which other vendors call the same kinds, as a parameter, a class or a part of the macro's name.
KINDS = {
    "danger": "error", "error": "error", "critical": "error", "fail": "error", "red": "error", "problem": "note",
    "warn": "warning", "caution": "warning", "orange": "warning", "success": "success", "green": "success",
    "tip": "tip", "hint": "tip", "note": "note", "important": "note", "yellow": "note", "info": "info", "blue": "info",
}  # fmt: skip
# Blocks that must not get "> " before each line: code stays letter for letter, tables stay tables.
NOT_QUOTED = re.compile(rf"^[^\S\n]*+(?:{RUN}|\||#{{1,6}} |> )", re.MULTILINE)
PLAIN_START = re.compile(r"[^\W\d_]|[«“\"(]|\d(?!\d*[.)])")
QUOTED_CHARACTERS = 2000  # a longer box is a part of the page, not a remark beside it


def panel_text(renderer: Renderer, kind: str, title: str, body: _Element | None, tags: frozenset[str]) -> str:
    """A quote with the kind and the title in bold; with code or tables inside, no quote marks."""
    renderer.start_line()
    text = renderer.inner(body, renderer.within(tags, "_box")).strip("\n ") if body is not None else ""
    label = title if kind == "panel" else _kind(renderer, kind) + (f": {title}" if title else "")
    if not text:
        return f"\n\n{bold(label)}\n\n" if title else ""
    if tags & {"_cell", "_inline"}:
        return f"\n{_headed(label, text, glue=chr(10), short=not title)}\n"
    return boxed(label, text, short=not title)


def box_kind(said: str) -> str:
    """The kind of a vendor's box out of the word that it uses, "" when it says none."""
    return next((kind for word, kind in KINDS.items() if word in said), "")


def boxed_text(renderer: Renderer, kind: str, title: str, text: str, tags: frozenset[str]) -> str:
    """A box whose content is plain text."""
    body = etree.Element("p")
    body.text = text
    return panel_text(renderer, kind, escape(clean(title)), body, tags)


def with_icon(text: str, icon: str) -> str:
    """The sign that the author chose for a box before its first words: it may be all that says "do not"."""
    words = text.lstrip("\n> ")
    return f"{text[: len(text) - len(words)]}{icon} {words}" if words[:1].isalpha() or words.startswith("**") else text


def boxed(label: str, text: str, *, short: bool = False) -> str:
    """A quote under a bold label; without quote marks when it holds code, a table or much text."""
    whole = _headed(label, text, glue="\n\n", short=short)
    if NOT_QUOTED.search(text) or len(text) > QUOTED_CHARACTERS:
        return f"\n\n{whole}\n\n"
    return "\n\n" + "\n".join(f"> {line}" if line else ">" for line in whole.split("\n")) + "\n\n"


def _headed(label: str, text: str, *, glue: str, short: bool) -> str:
    """The label on a line of its own, or (a bare kind before a sentence) at the beginning of the text."""
    if not label:
        return text
    return f"{bold(label + ':')} {text}" if short and PLAIN_START.match(text) else f"{bold(label)}{glue}{text}"


def expand_text(renderer: Renderer, title: str, body: _Element | None, macro: _Element, tags: frozenset[str]) -> str:
    """Title and content, always open. Headings inside stay headings only when nothing after the box is theirs."""
    renderer.start_line()
    inside = tags if body is not None and closes_section(macro, body) else renderer.within(tags, "_box")
    text = renderer.inner(body, inside).strip("\n ") if body is not None else ""
    head = bold(title) if title else ""
    return f"\n\n{head}\n\n{text}\n\n" if head and text else f"\n\n{head or text}\n\n"


def closes_section(macro: _Element, body: _Element) -> bool:
    """Whether after the box comes a heading at least as high as those inside, or the end of the page."""
    levels = [int(tag_name(node)[1]) for node in body.iterdescendants() if _is_heading(node)]
    if not levels:
        return False
    node: _Element | None = macro
    while node is not None:
        if (node.tail or "").strip():
            return False
        after = node.getnext()
        while after is not None and not isinstance(after.tag, str):
            after = after.getnext()
        if after is not None:
            return _is_heading(after) and int(tag_name(after)[1]) <= min(levels)
        node = node.getparent()
    return True


def _is_heading(node: _Element) -> bool:
    return isinstance(node.tag, str) and bool(re.fullmatch(r"h[1-6]", tag_name(node)))


def _kind(renderer: Renderer, kind: str) -> str:
    english, russian = NAMES.get(kind, NAMES["info"])
    return russian if renderer.russian else english
