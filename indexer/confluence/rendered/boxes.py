"""Rendered boxes of every age of Confluence: code, panels, messages, expands, tabs, columns."""

from __future__ import annotations

from lxml.etree import _Element

from indexer.confluence.macros.boxes import box_kind, expand_text, panel_text
from indexer.confluence.parse.text import bold, clean, escape
from indexer.confluence.render.code import fence, rendered_code
from indexer.confluence.render.grid import read_grid
from indexer.confluence.render.markdown import Renderer
from indexer.confluence.render.tables import layout

KINDS = ("information", "note", "tip", "warning", "error", "success")
# Before version 5.9 the four boxes were messages of the user interface, with other names.
MESSAGES = {"hint": "info", "problem": "note", "success": "tip", "warning": "warning", "error": "error"}
# Before version 4 they were tables.
TABLES = {"infoMacro": "info", "noteMacro": "note", "tipMacro": "tip", "warningMacro": "warning"}


TITLED = frozenset({"title", "alert-heading", "alert-title", "callout-title", "aui-message-title", "panel-title"})


def by_class(node: _Element, name: str) -> _Element | None:
    """The first element inside with this class."""
    for inner in node.iterdescendants():
        if isinstance(inner.tag, str) and name in (inner.get("class") or "").split():
            return inner
    return None


def by_tag(node: _Element | None, tag: str) -> _Element | None:
    return None if node is None else next(iter(node.iter(tag)), None)


def text_of(node: _Element | None) -> str:
    return "" if node is None else " ".join(clean("".join(node.itertext())).split())


def title_of(renderer: Renderer, node: _Element | None, tags: frozenset[str]) -> str:
    """A title as one line of Markdown: its links stay, it is bold as a whole anyway."""
    return "" if node is None else " ".join(renderer.inner(node, renderer.within(tags, "h6")).split())


def code_panel(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """``div.code.panel`` and ``div.preformatted.panel``: title line and fence."""
    body = next(
        (inner for inner in node.iter("pre", "script", "textarea") if inner.tag != "script" or inner.text), None
    )
    if body is None:
        return None
    code, language = rendered_code(body)
    renderer.account("code", body, code)
    header = (
        by_class(node, "codeHeader")
        if by_class(node, "codeHeader") is not None
        else by_class(node, "preformattedHeader")
    )
    title = by_tag(header, "b") if header is not None else None
    return fence(code, language, tags, title_of(renderer, title if title is not None else header, tags))


def panel(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    if {"code", "preformatted"} & set((node.get("class") or "").split()):
        return code_panel(renderer, node, tags)
    body = by_class(node, "panelContent")
    if body is None:
        return None
    return panel_text(renderer, "panel", title_of(renderer, by_class(node, "panelHeader"), tags), body, tags)


def information(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    classes = node.get("class") or ""
    kind = next((kind for kind in KINDS if f"confluence-information-macro-{kind}" in classes), "information")
    body = by_class(node, "confluence-information-macro-body")
    if body is None:
        return None
    title = next((inner for inner in node if inner.tag == "p" and "title" in (inner.get("class") or "").split()), None)
    return panel_text(renderer, {"information": "info"}.get(kind, kind), title_of(renderer, title, tags), body, tags)


def message(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    classes = (node.get("class") or "").split()
    body = by_class(node, "message-content")
    if body is None:
        return None
    kind = next((MESSAGES[word] for word in classes if word in MESSAGES), "info")
    title = next((inner for inner in node if inner.tag == "p" and "title" in (inner.get("class") or "").split()), None)
    return panel_text(renderer, kind, title_of(renderer, title, tags), body, tags)


def alert(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """A box of another vendor: ``div.alert.alert-danger``, ``div.aui-message.aui-message-warning``, ``div.callout``."""
    if node.tag not in ("div", "section", "aside") or by_class(node, "message-content") is not None:
        return None
    kind = box_kind((node.get("class") or "").lower()) or box_kind((node.get("data-type") or "").lower()) or "panel"
    title = next(
        (one for one in node if isinstance(one.tag, str) and TITLED.intersection((one.get("class") or "").split())),
        None,
    )
    said = title_of(renderer, title, tags)
    if title is not None:
        renderer.skipped.add(title)
    return panel_text(renderer, kind, said, node, tags)


def message_table(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """The oldest form: a table with an icon in the first cell and the text in the last."""
    kind = next((TABLES[word] for word in (node.get("class") or "").split() if word in TABLES), "")
    cells = list(node.iter("td"))
    renderer.account("tables", node, "")
    return panel_text(renderer, kind, "", cells[-1], tags) if kind and cells else None


def columns(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """The old section of columns was a table; its cells are text, one after another."""
    if node.tag != "table":
        return None
    renderer.account("tables", node, "")
    return layout(renderer, read_grid(node), tags)


def expand(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    body = by_class(node, "expand-content")
    if body is None:
        return None
    return expand_text(renderer, title_of(renderer, by_class(node, "expand-control-text"), tags), body, node, tags)


def tabs(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """Tabs one after another, each under its label."""
    labels = [text_of(item) for item in node.iter("li") if "menu-item" in (item.get("class") or "").split()]
    panes = [pane for pane in node.iter("div") if "tabs-pane" in (pane.get("class") or "").split()]
    if not labels or len(labels) != len(panes):
        return None
    pieces = []
    for label, pane in zip(labels, panes, strict=True):
        renderer.start_line()
        pieces.append(f"{bold(escape(label))}\n\n{renderer.inner(pane, tags).strip()}")
    return "\n\n" + "\n\n".join(pieces) + "\n\n"
