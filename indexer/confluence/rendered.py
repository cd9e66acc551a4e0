"""Rules for rendered HTML (export, view): what Confluence's own classes mean."""

from __future__ import annotations

import re

from lxml.etree import _Element

from indexer.confluence.boxes import expand_text, panel_text
from indexer.confluence.code import fence, rendered_code
from indexer.confluence.elements import nothing
from indexer.confluence.emoticons import emoticon_sign
from indexer.confluence.links import link
from indexer.confluence.macro_names import LISTINGS, PLANTUML
from indexer.confluence.markdown import Handler, Renderer
from indexer.confluence.targets import href_target
from indexer.confluence.text import clean, escape

ERROR_MACRO = re.compile(r"(?:macro|Макрос)\W+([\w-]+)", re.IGNORECASE)
KINDS = ("information", "note", "tip", "warning", "error", "success")


def by_class(node: _Element, name: str) -> _Element | None:
    """The first element inside with this class."""
    for inner in node.iterdescendants():
        if isinstance(inner.tag, str) and name in (inner.get("class") or "").split():
            return inner
    return None


def text_of(node: _Element | None) -> str:
    return "" if node is None else " ".join(clean("".join(node.itertext())).split())


def code_panel(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """``div.code.panel`` and ``div.preformatted.panel``: title line and fence."""
    body = next(
        (inner for inner in node.iter("pre", "script", "textarea") if inner.tag != "script" or inner.text), None
    )
    if body is None:
        return None
    code, language = rendered_code(body)
    renderer.made["code"] += 1
    header = (
        by_class(node, "codeHeader")
        if by_class(node, "codeHeader") is not None
        else by_class(node, "preformattedHeader")
    )
    title = by_tag(header, "b") if header is not None else None
    return fence(code, language, tags, text_of(title if title is not None else header))


def by_tag(node: _Element | None, tag: str) -> _Element | None:
    return None if node is None else next(iter(node.iter(tag)), None)


def panel(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    if {"code", "preformatted"} & set((node.get("class") or "").split()):
        return code_panel(renderer, node, tags)
    body = by_class(node, "panelContent")
    return panel_text(renderer, "panel", text_of(by_class(node, "panelHeader")), body, tags)


def information(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    classes = node.get("class") or ""
    kind = next((kind for kind in KINDS if f"confluence-information-macro-{kind}" in classes), "information")
    body = by_class(node, "confluence-information-macro-body")
    title = next((inner for inner in node if inner.tag == "p" and "title" in (inner.get("class") or "").split()), None)
    return panel_text(
        renderer, {"information": "info"}.get(kind, kind), text_of(title), body if body is not None else node, tags
    )


def expand(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    body = by_class(node, "expand-content")
    if body is None:
        return None
    return expand_text(renderer, text_of(by_class(node, "expand-control-text")), body, node, tags)


def emoticon(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    name = node.get("data-emoticon-name") or ""
    return emoticon_sign(name, node.get("data-emoji-fallback") or "", clean(node.get("alt") or ""))


def jira_issue(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """``[KEY](url) - summary (state)``; the placeholder of an unloaded issue is left out."""
    key = node.get("data-jira-key") or text_of(by_class(node, "jira-issue-key"))
    anchor = by_tag(node, "a")
    address = href_target(renderer.context, anchor.get("href") or "") if anchor is not None else ""
    summary = text_of(by_class(node, "summary"))
    state = text_of(by_class(node, "aui-lozenge"))
    unloaded = "issue-placeholder" in (node.get("class") or "") or summary.startswith("Getting issue details")
    text = link(key, address)
    if summary and not unloaded:
        text += f" - {summary}"
    return f"{text} ({state})" if state and not unloaded else text


def broken_macro(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """The wiki's own error box in place of a macro: its technical message is no content of the page."""
    message = text_of(node)
    found = ERROR_MACRO.search(message)
    name = found[1] if found else "?"
    renderer.lose("macro", name, f"error box of the wiki: {message[:120]}")
    return renderer.mark(name)


def vanished(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """An app's container that the export leaves empty."""
    if text_of(node) or by_tag(node, "img") is not None:
        return None
    name = node.get("data-macro-name") or re.sub(r"^ap-|-[0-9a-f]{6,}.*$|__.*$", "", node.get("id") or "") or "app"
    kind = "plantuml" if name in PLANTUML else "macro"
    renderer.lose(kind, name, "this form of export holds nothing of the app's content")
    return f"\n\n{renderer.mark(name)}\n\n"


def wrapped_macro(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """``conf-macro``: the wiki names the macro; listings go, a picture of PlantUML has lost its source."""
    name = node.get("data-macro-name") or ""
    if name in LISTINGS:
        return ""
    if name not in PLANTUML:
        return None
    renderer.lose(
        "plantuml", name, "only its picture is in this form of export; the source is in the XML export and the API"
    )
    picture = by_tag(node, "img")
    if picture is not None and "download/temp" not in (picture.get("src") or "") and by_tag(node, "svg") is None:
        return None
    title = renderer.word("PlantUML diagram", "Диаграмма PlantUML")
    return f"\\[{title}]" if tags & {"p", "_inline"} else f"\n\n\\[{title}]\n\n"


def tabs(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """Tabs one after another, each under its label."""
    labels = [text_of(item) for item in node.iter("li") if "menu-item" in (item.get("class") or "").split()]
    panes = [pane for pane in node.iter("div") if "tabs-pane" in (pane.get("class") or "").split()]
    if not labels or len(labels) != len(panes):
        return None
    pieces = []
    for label, pane in zip(labels, panes, strict=True):
        renderer.start_line()
        pieces.append(f"**{escape(label)}**\n\n{renderer.inner(pane, tags).strip()}")
    return "\n\n" + "\n\n".join(pieces) + "\n\n"


def unresolved(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """A link to a page that is not there leads nowhere (or to the form that would create it)."""
    return renderer.inner(node, tags) if node.tag == "a" else None


def person(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """The name is what is said; the address of a profile only costs room."""
    return renderer.inner(node, tags) if node.tag == "a" else None


def embedded_file(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    name = node.get("data-linked-resource-default-alias") or node.get("data-nice-type") or ""
    if node.tag != "a" or not name:
        return None
    return link(clean(name), href_target(renderer.context, node.get("href") or ""))


CLASSES: dict[str, Handler] = {
    "code": lambda renderer, node, tags: code_panel(renderer, node, tags) if node.tag == "div" else None,
    "preformatted": lambda renderer, node, tags: code_panel(renderer, node, tags) if node.tag == "div" else None,
    "panel": lambda renderer, node, tags: panel(renderer, node, tags) if node.tag == "div" else None,
    "confluence-information-macro": information,
    "expand-container": expand,
    "emoticon": emoticon,
    "conf-macro": wrapped_macro,
    "aui-tabs": tabs,
    "unresolved": unresolved,
    "createlink": unresolved,
    "confluence-userlink": person,
    "jira-issue": jira_issue,
    "error": lambda renderer, node, tags: broken_macro(renderer, node, tags) if node.tag == "div" else None,
    "ap-container": vanished,
    "confluence-embedded-file": embedded_file,
    **dict.fromkeys(
        (
            "toc-macro", "childpages-macro", "plugin_pagetree", "pagetree-macro", "recently-updated", "contentbylabel",
            "confluence-anchor-link", "aui-icon", "hidden", "expand-icon", "search-macro", "blog-posts-macro",
        ),
        nothing,
    ),
}  # fmt: skip
