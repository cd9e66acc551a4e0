"""Elements of the Cloud editor inside the storage format: each holds its content twice, one of both is kept."""

from __future__ import annotations

from lxml.etree import _Element

from indexer.confluence.macros.bodies import foreign
from indexer.confluence.macros.boxes import panel_text, with_icon
from indexer.confluence.macros.diagrams import encoded_plantuml
from indexer.confluence.parse.adf_json import parse_adf_part
from indexer.confluence.parse.placeholders import is_placeholder
from indexer.confluence.parse.storage import parse_storage
from indexer.confluence.parse.text import escape
from indexer.confluence.render.inline import apart
from indexer.confluence.render.macro import attribute, first
from indexer.confluence.render.markdown import Handler, Renderer, tag_name
from indexer.confluence.render.storage_elements import block

NESTED = ("adf", "nested-content", "nestedContent")  # parameters that hold a table inside a cell
PANELS = {"info": "info", "note": "note", "tip": "tip", "success": "success", "warning": "warning", "error": "error"}


def extension(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """``ac:adf-extension``: the node where we know it, else the fallback that Confluence wrote for others."""
    inside = first(node, "ac:adf-node")
    fallback = first(node, "ac:adf-fallback")
    marks = len(renderer.marks)
    known = _known(renderer, inside, tags) if inside is not None else None
    if known is not None:
        _account(renderer, node, marks, known)
        return known
    shown = renderer.context.wiki.rendered(node) if not renderer.including else None
    for one in (shown, fallback, inside):
        if one is None or is_placeholder(one):
            continue
        content = _placed(foreign(renderer, one, tags), tags) if one is shown else _content(renderer, one, tags)
        if (text := content).strip():
            renderer.account("extensions", node, text if one is shown else "")
            return text
    name = _key(inside) if inside is not None else "adf-extension"
    renderer.lose("macro", name, "its content is only in the wiki")
    text = _placed(renderer.mark(name), tags)
    _account(renderer, node, marks, text)
    return text


def _account(renderer: Renderer, node: _Element, marks: int, text: str) -> None:
    """``marks`` = how many were written before this extension."""
    written = renderer.marks[marks:]
    renderer.account("extensions", node, text if written else "", "marked" if written else "shown")
    del renderer.marks[marks:]


def _content(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    return _placed(renderer.inner(node, tags).strip("\n "), tags)


def _placed(text: str, tags: frozenset[str]) -> str:
    """In a line as a part of the line, else as a block of its own."""
    return text if not text or (tags & {"p", "_inline"} and "\n" not in text) else f"\n\n{text}\n\n"


def _known(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    kind = attribute(node, "type")
    content = first(node, "ac:adf-content")
    if kind == "panel" and content is not None:
        label = _attribute(node, "panel-type") or _attribute(node, "panelType")
        text = panel_text(renderer, PANELS.get(label, "panel" if label == "custom" else "info"), "", content, tags)
        icon = _attribute(node, "panel-icon-text") or _attribute(node, "panelIconText")
        return with_icon(text, icon) if icon and label == "custom" else text
    if stored := _attribute(node, "cxhtml"):
        return _content(renderer, parse_storage(stored)[0], tags)
    if original := _attribute(node, "original-value") or _attribute(node, "originalValue"):
        tree = parse_adf_part(original)
        return _content(renderer, tree, tags) if tree is not None else None
    if key := _attribute(node, "issue-key") or _attribute(node, "issueKey"):
        return apart(node, escape(key))
    if kind in ("decision-list", "decisionList"):
        return _decisions(renderer, node, tags)
    if kind.startswith("extension") or kind in ("bodied-extension", "bodiedExtension", "inline-extension"):
        return _app(renderer, node, tags)
    return None


def _decisions(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    lines = []
    for item in node.iter():
        if isinstance(item.tag, str) and attribute(item, "type") in ("decision-item", "decisionItem"):
            content = first(item, "ac:adf-content")
            text = " ".join(renderer.inner(content if content is not None else item, tags).split())
            lines += [f"- {text}"] if text else []
    return "\n\n" + "\n".join(lines) + "\n\n" if lines else ""


def _app(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """PlantUML of the Forge app: ``guest-params`` are current, ``macro-params`` what it once was."""
    if _key(node) == "nested-table":
        held = (_parameters(node, "parameters") or _parameters(node, "macro-params")).items()
        trees = (parse_adf_part(value) for name, value in held if name in NESTED)
        tree = next((one for one in trees if one is not None), None)
        return _content(renderer, tree, tags) if tree is not None else None
    if not _key(node).endswith("plantumlcloud"):
        content = first(node, "ac:adf-content")
        return _content(renderer, content, tags) if content is not None else None
    for group in ("guest-params", "macro-params"):
        values = _parameters(node, group)
        if values.get("data"):
            packed = values["data"], values.get("compressed", ""), values.get("filename", "")
            return encoded_plantuml(renderer, node, packed, tags)
    renderer.lose("plantuml", "plantumlcloud", "no data")
    return f"\n\n{renderer.mark('plantumlcloud')}\n\n"


def _key(node: _Element) -> str:
    said = _attribute(node, "extension-key") or _attribute(node, "extensionKey") or attribute(node, "type") or "app"
    return said.rsplit("/", 1)[-1]


def _attribute(node: _Element, name: str) -> str:
    for child in node:
        if isinstance(child.tag, str) and tag_name(child) == "ac:adf-attribute" and attribute(child, "key") == name:
            return "".join(child.itertext()).strip()
    return ""


def _parameters(node: _Element, group: str) -> dict[str, str]:
    for holder in node.iter():
        if isinstance(holder.tag, str) and attribute(holder, "key") == group:
            return {
                attribute(inner, "key"): _value(inner)
                for inner in holder.iterdescendants()
                if isinstance(inner.tag, str)
                and attribute(inner, "key")
                and not any(isinstance(c.tag, str) and attribute(c, "key") for c in inner)
            }
    return {}


def _value(node: _Element) -> str:
    return "".join(node.itertext()).strip()


ADF: dict[str, Handler] = {"ac:adf-extension": extension, "ac:adf-content": block}
