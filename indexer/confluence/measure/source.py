"""What a body holds, gathered by a walk of its own, apart from the conversion that is measured by it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from lxml.etree import _Element

from indexer.confluence.parse.placeholders import TELLING, is_unloaded_issue, says_unexported
from indexer.confluence.render.formulas import DRAWINGS
from indexer.confluence.render.macro import CONTROLS, DROPPED_CLASSES, PLANTUML, attribute
from indexer.confluence.render.markdown import tag_name

# Never shown to a reader, or shown as something else than their text.
INVISIBLE = frozenset(
    {"ac:parameter", "ac:default-parameter", "ac:placeholder", "ac:task-id", "ac:task-uuid", "ac:task-status"}
    | {"ac:adf-attribute", "ac:adf-fallback", "ac:emoticon", "time", "script", "style", "svg", "head", "title"}
    | {"noscript", "button", "select", "math"}
)
DROPPED = frozenset(DROPPED_CLASSES)
INVISIBLE_CLASSES = frozenset(
    {*DROPPED_CLASSES, *DRAWINGS, "error", "issue-placeholder", "confluence-embedded-file"}
    | {"plugin_attachments_container"}
)
MACROS = frozenset({"ac:structured-macro", "ac:macro"})
COUNTED = frozenset(
    {"table", "tr", "td", "th", "pre", "script", "a", "ac:link", "ac:image", "img", "ac:task", "li", "ac:emoticon"}
    | {"ac:adf-extension"}
    | MACROS
)
CODE = ("code", "noformat")
RECODED_PARTS = ("plantuml", "html")  # in the names that other vendors give them
NOT_SHOWN = frozenset({*PLANTUML, *CONTROLS})  # macros whose rendering is a picture or no content of the page
RECODED = (
    *PLANTUML,
    "html",
    "unmigrated-wiki-markup",
    "unmigrated-inline-wiki-markup",
)  # their bodies may be JSON or markup, which is not what a reader sees
TARGETS = frozenset(
    {"ri:page", "ri:blog-post", "ri:attachment", "ri:url", "ri:space", "ri:content-entity", "ri:shortcut"}
)
NOWHERE = ("confluence-userlink", "unresolved", "createlink", "expand-control")  # names of people, controls


@dataclass(frozen=True, slots=True)
class MeasuredBody:
    """What a body holds: its things by kind, and its visible text."""

    things: dict[str, list[_Element]]
    text: str


def look(body: _Element) -> MeasuredBody:
    """Gather things and visible text, without recursion: a page may be nested deeply."""
    things: dict[str, list[_Element]] = defaultdict(list)
    texts: list[str] = []
    waiting: list[_Element | str] = [body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            if len(node) > TELLING or not says_unexported(node):
                texts.append(node)
            continue
        if not isinstance(node.tag, str):
            continue
        name = tag_name(node)
        macro = node.get("data-macro-name")
        if (macro or name in COUNTED) and DROPPED.isdisjoint((node.get("class") or "").split()):
            for kind in _kinds(node, name, macro):
                things[kind].append(node)
        if name in INVISIBLE or macro in NOT_SHOWN or _hidden(node, name):
            continue
        inside: list[_Element | str] = [node.text] if node.text else []
        for child in node:
            inside.append(child)
            if child.tail:
                inside.append(child.tail)
        waiting += reversed(inside)
    return MeasuredBody(dict(things), " ".join(texts))


def _hidden(node: _Element, name: str) -> bool:
    if name in MACROS:
        macro = attribute(node, "name")
        return macro in RECODED or any(part in macro for part in RECODED_PARTS)
    classes = (node.get("class") or "").split()
    if "summary" in classes or "aui-lozenge" in classes:
        above = next((one for one in node.iterancestors() if "jira-issue" in (one.get("class") or "").split()), None)
        if above is not None and is_unloaded_issue(above):
            return True
    return not INVISIBLE_CLASSES.isdisjoint(classes)


def _kinds(node: _Element, name: str, rendered: str | None) -> Iterator[str]:
    if rendered and rendered not in PLANTUML:
        yield "macros"
    if name in ("table", "tr"):
        yield f"{name}s" if name == "table" else "rows"
    elif name in ("td", "th"):
        if _has_content(node):
            yield "cells"
    elif name in MACROS:
        yield "macros"
        macro = attribute(node, "name")
        if macro in CODE:
            yield "code"
        elif macro in PLANTUML:
            yield "plantuml"
    elif name == "ac:adf-extension":
        yield "extensions"
    elif rendered in PLANTUML:
        yield "plantuml"
    elif name == "pre" or (name == "script" and node.get("type") == "syntaxhighlighter"):
        yield "code"
    elif (name == "a" and _shown_link(node)) or (name == "ac:link" and _leads_somewhere(node)):
        yield "cards" if node.get("data-card-appearance") else "links"
    elif name == "ac:emoticon" or (name == "img" and "emoticon" in (node.get("class") or "")):
        yield "signs"
    elif name == "ac:image" or (name == "img" and _shown_picture(node)):
        yield "images"
    elif (name == "ac:task" or (name == "li" and _is_task(node))) and _has_content(node):
        yield "tasks"


def _has_content(node: _Element) -> bool:
    """Whether anything is inside that a reader would miss: words to begin with."""
    if (node.text or "").strip():
        return True
    for inner in node.iterdescendants():
        if isinstance(inner.tag, str) and tag_name(inner) not in INVISIBLE and (inner.text or "").strip():
            return True
        if (inner.tail or "").strip():
            return True
    return False


def _is_task(node: _Element) -> bool:
    parent = node.getparent()
    return parent is not None and "inline-task-list" in (parent.get("class") or "")


def _shown_link(node: _Element) -> bool:
    """An address with something to click on; names of people and controls are no links of ours."""
    href = (node.get("href") or "").strip()
    nowhere = any(word in (node.get("class") or "") for word in NOWHERE) or href == "#"
    return bool(href) and not nowhere and (len(node) > 0 or bool((node.text or "").strip()) or href.startswith("http"))


def _shown_picture(node: _Element) -> bool:
    source = node.get("src") or ""
    return bool(source) and "images/icons/" not in source


def _leads_somewhere(node: _Element) -> bool:
    return any(isinstance(child.tag, str) and tag_name(child) in TARGETS for child in node)
