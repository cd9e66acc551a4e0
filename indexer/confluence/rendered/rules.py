"""Rules for rendered HTML (export, view): what Confluence's own classes mean."""

from __future__ import annotations

import re

from lxml.etree import _Element

from indexer.confluence.parse.links import link
from indexer.confluence.parse.targets import href_target
from indexer.confluence.parse.text import clean, escape
from indexer.confluence.render.code import fence, raw_text
from indexer.confluence.render.elements import nothing
from indexer.confluence.render.emoticons import emoticon_sign, named_by_file
from indexer.confluence.render.formulas import DRAWN
from indexer.confluence.render.inline import apart
from indexer.confluence.render.macro import DROPPED_CLASSES, LISTINGS, PLANTUML
from indexer.confluence.render.markdown import Handler, Renderer
from indexer.confluence.render.measure import UNLOADED
from indexer.confluence.rendered.boxes import (
    by_class,
    by_tag,
    code_panel,
    columns,
    expand,
    information,
    message,
    message_table,
    panel,
    tabs,
    text_of,
)  # fmt: skip

ERROR_MACRO = re.compile(r"(?:macro|Макрос)\W+([\w-]+)", re.IGNORECASE)


def emoticon(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """By the names that the wiki gives, else by the class or the picture."""
    named = re.search(r"emoticon-([\w-]+)", node.get("class") or "")
    name = node.get("data-emoticon-name") or (named[1] if named else named_by_file(node.get("src") or ""))
    short = node.get("data-emoji-shortname") or node.get("data-emoji-short-name") or ""
    identity = node.get("data-emoji-id") or ""
    alternative = clean(node.get("alt") or node.get("title") or "")
    return emoticon_sign(name, node.get("data-emoji-fallback") or "", short, identity, alternative)


def jira_issue(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """``[KEY](url) - summary (state)``; the placeholder of an unloaded issue is left out."""
    key = node.get("data-jira-key") or text_of(by_class(node, "jira-issue-key"))
    anchor = by_tag(node, "a")
    address = href_target(renderer.context, anchor.get("href") or "") if anchor is not None else ""
    summary = text_of(by_class(node, "summary"))
    state = text_of(by_class(node, "aui-lozenge"))
    unloaded = "issue-placeholder" in (node.get("class") or "") or summary.startswith(UNLOADED)
    text = link(key, address)
    renderer.made["links"] += bool(address)
    if summary and not unloaded:
        text += f" - {escape(summary)}"
    return f"{text} ({escape(state)})" if state and not unloaded else text


def broken_macro(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """The wiki's own error box in place of a macro: its technical message is no content of the page."""
    message = text_of(node)
    found = ERROR_MACRO.search(message)
    if found is None:
        return None
    name = found[1]
    renderer.lose("macro", name, f"error box of the wiki: {message[:120]}")
    return renderer.mark(name)


def wrapped_macro(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """``conf-macro``: the wiki names the macro; listings go, a picture of PlantUML has lost its source."""
    name = node.get("data-macro-name") or ("plantuml" if "plantuml-svg-image" in (node.get("class") or "") else "")
    if name in LISTINGS:
        return ""
    if name not in PLANTUML:
        return None
    renderer.lose("plantuml", name, "this form of export holds only its picture")
    picture = by_tag(node, "img")
    if picture is not None and "download/temp" not in (picture.get("src") or "") and by_tag(node, "svg") is None:
        return None
    title = renderer.word("PlantUML diagram", "Диаграмма PlantUML")
    labels = "; ".join(dict.fromkeys(escape(text_of(label)) for label in node.iter("text") if text_of(label)))
    mark = f"\\[{title}]: {labels}" if labels else f"\\[{title}]"
    return mark if tags & {"p", "_inline"} else f"\n\n{mark}\n\n"


def vector_picture(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """The words in a drawing, apart from each other; its lines are nothing to read."""
    renderer.lose("image", "svg", "only the words of a drawing inside the page are kept")
    return "; ".join(
        dict.fromkeys(
            escape(text_of(label)) for label in node.iter() if label.tag in ("text", "title") and text_of(label)
        )
    )


def mermaid(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """The source that the browser would draw."""
    renderer.made["code"] += node.tag == "pre"
    return fence(raw_text(node), "mermaid", tags) if node.tag in ("div", "pre") and text_of(node) else None


def vanished(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """An app's container that the export leaves empty."""
    if text_of(node) or by_tag(node, "img") is not None:
        return None
    identity = re.sub(r"(?s)^ap-|-[0-9a-f]{6}.*", "", node.get("id") or "")  # vendor's key, "__", macro, number
    name = node.get("data-macro-name") or identity.rpartition("__")[2].rstrip("0123456789") or "app"
    kind = "plantuml" if name in PLANTUML else "macro"
    renderer.lose(kind, name, "this form of export holds nothing of the app's content")
    return f"\n\n{renderer.mark(name)}\n\n"


def unresolved(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """A link to a page that is not there leads nowhere (or to the form that would create it)."""
    return renderer.inner(node, tags) if node.tag == "a" else None


def person(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """The name is what is said; the address of a profile only costs room."""
    return apart(node, renderer.inner(node, tags)) if node.tag == "a" else None


def status(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    return apart(node, renderer.inner(node, tags))


def embedded_file(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    name = node.get("data-linked-resource-default-alias") or node.get("data-nice-type") or ""
    if node.tag != "a" or not name:
        return None
    renderer.made["links"] += 1
    return link(escape(clean(name)), href_target(renderer.context, node.get("href") or ""))


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
    "status-macro": status,
    "confluence-userlink": person,
    "jira-issue": jira_issue,
    "plantuml-svg-image": wrapped_macro,
    "information-macro": message,
    **dict.fromkeys(("infoMacro", "noteMacro", "tipMacro", "warningMacro"), message_table),
    "sectionMacro": columns,
    "error": lambda renderer, node, tags: broken_macro(renderer, node, tags) if node.tag == "div" else None,
    "ap-container": vanished,
    "mermaid": mermaid,
    "confluence-embedded-file": embedded_file,
    **DRAWN,
    **dict.fromkeys(DROPPED_CLASSES, nothing),
}
RENDERED: dict[str, Handler] = {"svg": vector_picture, "svg:svg": vector_picture}
