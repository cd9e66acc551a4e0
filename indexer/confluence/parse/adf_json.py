"""The Cloud editor's own format (a JSON tree) -> storage format, so that one conversion serves both."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from lxml import etree
from lxml.etree import _Element

from indexer.confluence.parse.links import is_other_file
from indexer.confluence.parse.storage import parse_storage
from indexer.confluence.parse.text import permitted

MAXIMUM_DEPTH = 120
TAGS = {
    "paragraph": "p", "bulletList": "ul", "listItem": "li", "blockquote": "blockquote", "table": "table",
    "tableRow": "tr", "tableHeader": "th", "tableCell": "td", "hardBreak": "br", "rule": "hr", "decisionList": "ul",
    "decisionItem": "li", "layoutSection": "{ac}layout-section", "layoutColumn": "{ac}layout-cell", "caption": "p",
    "taskList": "{ac}task-list",
}  # fmt: skip
MARKS = {"strong": "strong", "em": "em", "code": "code", "strike": "del", "underline": "u"}
EMPTY = frozenset({"doc", "mediaSingle", "mediaGroup", "extensionFrame", "multiBodiedExtension", "caption"})
PANELS = {"info": "info", "note": "note", "success": "success", "tip": "tip", "warning": "warning", "error": "error"}


def parse_adf(text: str) -> _Element:
    """The tree of an ``atlas_doc_format`` value; ValueError when it is no such document."""
    document = json.loads(text)
    if not isinstance(document, dict) or not isinstance(document.get("content"), list):
        raise ValueError("no ADF document")
    root = etree.Element("body")
    _fill(root, document, 0)
    return root


def parse_adf_part(text: Any) -> _Element | None:
    """The tree of a document or of a bare node that some parameter holds as JSON; None when it is neither."""
    root = etree.Element("body")
    if not (found := _document(text)):
        return None
    _fill(root, found if found.get("type") == "doc" else {"content": [found]}, 0)
    return root


def _fill(parent: _Element, node: dict[str, Any], depth: int) -> None:
    for child in node.get("content") or []:
        if isinstance(child, dict):
            _add(parent, child, depth + 1)


def _add(parent: _Element, node: dict[str, Any], depth: int) -> None:
    kind = str(node.get("type", ""))
    attributes = _dict(node.get("attrs"))
    if depth > MAXIMUM_DEPTH:
        _append_text(parent, _all_text(node))
    elif kind == "text":
        _text(parent, node)
    elif kind in SPECIAL:
        SPECIAL[kind](parent, node, attributes, depth)
    elif kind in TAGS:
        element = etree.SubElement(parent, TAGS[kind])
        for name in ("colspan", "rowspan"):
            if attributes.get(name):
                element.set(name, str(attributes[name]))
        _fill(element, node, depth)
    else:  # what is not known keeps its content
        if attributes.get("text"):
            _append_text(parent, str(attributes["text"]))
        elif kind and not node.get("content") and kind not in EMPTY:
            _identify(_macro(parent, kind, {}), attributes, {})
        _fill(parent, node, depth)


def _text(parent: _Element, node: dict[str, Any]) -> None:
    for mark in node.get("marks") or []:
        kind = mark.get("type")
        attributes = mark.get("attrs") or {}
        if kind == "link" and attributes.get("href"):
            parent = etree.SubElement(parent, "a", href=_clean(attributes["href"]))
        elif kind == "subsup":
            parent = etree.SubElement(parent, "sup" if attributes.get("type") == "sup" else "sub")
        elif kind in MARKS:
            parent = etree.SubElement(parent, MARKS[kind])
    _append_text(parent, str(node.get("text", "")))


def _append_text(parent: _Element, text: str) -> None:
    text = _clean(text)
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _clean(text: Any) -> str:
    return permitted(str(text))


def _macro(parent: _Element, name: str, parameters: dict[str, str]) -> _Element:
    macro = etree.SubElement(parent, "{ac}structured-macro", {"{ac}name": _clean(name)})
    for key, value in parameters.items():
        if value:
            etree.SubElement(macro, "{ac}parameter", {"{ac}name": _clean(key)}).text = _clean(value)
    return macro


def _rich(macro: _Element, node: dict[str, Any], depth: int) -> None:
    _fill(etree.SubElement(macro, "{ac}rich-text-body"), node, depth)


def _heading(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    level = attributes.get("level", 1)
    _fill(etree.SubElement(parent, f"h{min(6, max(1, level if isinstance(level, int) else 1))}"), node, depth)


def _ordered(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    _fill(etree.SubElement(parent, "ol", start=str(attributes.get("order", 1))), node, depth)


def _code(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    macro = _macro(parent, "code", {"language": str(attributes.get("language") or "")})
    etree.SubElement(macro, "{ac}plain-text-body").text = _clean(_all_text(node))


def _panel(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    icon = str(attributes.get("panelIconText") or "")
    _rich(_macro(parent, PANELS.get(str(attributes.get("panelType")), "panel"), {"panelIconText": icon}), node, depth)


def _expand(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    _rich(_macro(parent, "expand", {"title": str(attributes.get("title") or "")}), node, depth)


def _task(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    task = etree.SubElement(parent, "{ac}task")
    etree.SubElement(task, "{ac}task-status").text = "complete" if attributes.get("state") == "DONE" else "incomplete"
    _fill(etree.SubElement(task, "{ac}task-body"), node, depth)


def _status(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    _macro(parent, "status", {"title": str(attributes.get("text") or "")})


def _date(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    try:
        day = datetime.fromtimestamp(int(attributes.get("timestamp", "")) / 1000, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        day = str(attributes.get("timestamp", ""))
    etree.SubElement(parent, "time", datetime=_clean(day))


def _mention(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    name = str(attributes.get("text") or "").lstrip("@")
    if name:
        _append_text(parent, name)
    else:
        link = etree.SubElement(parent, "{ac}link")
        etree.SubElement(link, "{ri}user", {"{ri}account-id": _clean(attributes.get("id", ""))})


def _emoji(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    names = {"shortname": "shortName", "fallback": "text", "id": "id"}
    values = {f"{{ac}}emoji-{ours}": attributes.get(theirs) for ours, theirs in names.items()}
    etree.SubElement(parent, "{ac}emoticon", {name: _clean(value) for name, value in values.items() if value})


def _card(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    data = _dict(attributes.get("data"))
    url = _clean(attributes.get("url") or attributes.get("originalUrl") or data.get("url") or "")
    if not url:  # a table of issues, or of what else a query finds
        _identify(_macro(parent, "datasource", {}), attributes, {})
    else:
        holder = parent if node.get("type") == "inlineCard" else etree.SubElement(parent, "p")
        etree.SubElement(holder, "a", href=url).text = _clean(data.get("name") or url)


def _media(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    """A picture, which may lead somewhere; another file is a link to it."""
    name = _clean(attributes.get("__fileName") or attributes.get("alt") or attributes.get("id") or "media")
    mime = str(attributes.get("__fileMimeType") or attributes.get("fileMimeType") or "image/")
    if (is_other_file(name) or not mime.startswith("image/")) and not attributes.get("url"):
        holder = parent if node.get("type") == "mediaInline" else etree.SubElement(parent, "p")
        identity = _clean(attributes.get("id") or "")
        target = {"{ri}filename": name, "{ri}file-id": identity}
        etree.SubElement(etree.SubElement(holder, "{ac}link"), "{ri}attachment", target)
        return
    image = etree.SubElement(parent, "{ac}image", {"{ac}alt": _clean(attributes.get("alt") or "")})
    for mark in node.get("marks") or []:
        if mark.get("type") == "link":
            image.set("{ac}href", _clean(_dict(mark.get("attrs")).get("href") or ""))
    if attributes.get("url"):
        etree.SubElement(image, "{ri}url", {"{ri}value": _clean(attributes["url"])})
    else:
        identity = _clean(attributes.get("id") or "")
        etree.SubElement(image, "{ri}attachment", {"{ri}filename": name, "{ri}file-id": identity})


def _extension(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    """A macro of the storage format in new clothes, with its parameters and its body."""
    parameters = _dict(attributes.get("parameters"))
    given, guest = _dict(parameters.get("macroParams")), _dict(parameters.get("guestParams"))
    values = {str(name): str(one.get("value", "") if isinstance(one, dict) else one) for name, one in given.items()}
    values |= {
        str(name): str(value).lower() if isinstance(value, bool) else str(value) for name, value in guest.items()
    }
    if text := str(attributes.get("text") or ""):
        values.setdefault("text", text)  # what the editor shows where it cannot show the extension
    if str(attributes.get("extensionKey")) == "nested-table":
        inner = _document(parameters.get("adf")) or _document(values.get("nestedContent"))
        if inner:
            _add(parent, inner, depth)
            return
    plain = values.pop("__bodyContent", "")
    macro = _macro(parent, str(attributes.get("extensionKey") or "extension").rsplit("/", 1)[-1], values)
    _identify(macro, attributes, parameters)
    if plain:
        etree.SubElement(macro, "{ac}plain-text-body").text = _clean(plain)
    elif node.get("content"):
        _rich(macro, node, depth)


def _identify(macro: _Element, attributes: dict[str, Any], parameters: dict[str, Any]) -> None:
    """The ids by which the rendered page calls the same macro."""
    metadata = _dict(_dict(parameters.get("macroMetadata")).get("macroId"))
    for name, identity in (("macro-id", metadata.get("value")), ("local-id", attributes.get("localId"))):
        if isinstance(identity, str) and identity:
            macro.set(f"{{ac}}{name}", _clean(identity))


def _stored(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    """What the editor could not take over, kept as the storage format that it was."""
    tree, _ = parse_storage(str(attributes.get("cxhtml") or ""))
    if node.get("type") == "confluenceUnsupportedInline" and len(tree) == 1 and tree[0].tag == "p":
        tree = tree[0]  # it stands in a line
    if tree.text:
        _append_text(parent, tree.text)
    parent.extend(list(tree))
    _fill(parent, node, depth)


def _original(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    """A node of a newer editor, kept as it was."""
    value = attributes.get("originalValue")
    if isinstance(value, dict):
        _add(parent, value, depth + 1)
    elif inner := _document(value):
        _add(parent, inner, depth + 1)
    _fill(parent, node, depth)


def _issue(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    _identify(_macro(parent, "jira", {"key": str(attributes.get("issueKey") or "")}), attributes, {})


def _synced(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    """A block that is kept elsewhere, or that others show too: its content where it is here."""
    if node.get("content"):
        _fill(parent, node, depth)
    else:
        _identify(_macro(parent, "synced-block", {}), attributes, {})


def _document(text: Any) -> dict[str, Any]:
    """What a parameter holds as JSON: a table inside a cell, as a document or as the bare node."""
    try:
        found = _dict(json.loads(text)) if isinstance(text, str) else _dict(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found.get("content"), list) else {}


def _nothing(parent: _Element, node: dict[str, Any], attributes: dict[str, Any], depth: int) -> None:
    """A placeholder of a template is no content."""


def _all_text(node: dict[str, Any]) -> str:
    pieces: list[str] = []
    waiting: list[Any] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            pieces.append("\n" if one.get("type") == "hardBreak" else str(one.get("text", "")))
            waiting += reversed(one.get("content") or [])
    return "".join(pieces)


SPECIAL = {
    "heading": _heading,
    "orderedList": _ordered,
    "codeBlock": _code,
    "panel": _panel,
    "expand": _expand,
    "nestedExpand": _expand,
    **dict.fromkeys(("taskItem", "blockTaskItem"), _task),
    **dict.fromkeys(("confluenceUnsupportedBlock", "confluenceUnsupportedInline"), _stored),
    **dict.fromkeys(("unsupportedBlock", "unsupportedInline"), _original),
    "confluenceJiraIssue": _issue,
    **dict.fromkeys(("syncBlock", "bodiedSyncBlock"), _synced),
    "status": _status,
    "date": _date,
    "mention": _mention,
    "emoji": _emoji,
    **dict.fromkeys(("inlineCard", "blockCard", "embedCard"), _card),
    **dict.fromkeys(("media", "mediaInline"), _media),
    **dict.fromkeys(("extension", "bodiedExtension", "inlineExtension"), _extension),
    "placeholder": _nothing,
}
