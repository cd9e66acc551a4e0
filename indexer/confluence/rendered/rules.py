"""Rules for rendered HTML (export, view): what Confluence's own classes mean."""

from __future__ import annotations

import re

from lxml.etree import _Element

from indexer.confluence.macros.cut_off import with_mark
from indexer.confluence.parse.links import destination, link
from indexer.confluence.parse.placeholders import is_placeholder, is_unloaded_issue, says_unexported
from indexer.confluence.parse.targets import href_target
from indexer.confluence.parse.text import clean, escape
from indexer.confluence.render.code import fence, raw_text
from indexer.confluence.render.elements import link_kind, nothing
from indexer.confluence.render.emoticons import emoticon_sign, named_by_file
from indexer.confluence.render.formulas import DRAWN
from indexer.confluence.render.inline import apart
from indexer.confluence.render.macro import CONTROLS, DROPPED_CLASSES, PLANTUML
from indexer.confluence.render.markdown import Handler, Renderer
from indexer.confluence.render.storage_elements import block
from indexer.confluence.render.tables import table
from indexer.confluence.rendered.boxes import (
    alert,
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
    sign = emoticon_sign(name, node.get("data-emoji-fallback") or "", short, identity, alternative)
    renderer.account("signs", node, sign)
    return sign


def jira_issue(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """``[KEY](url) - summary (state)``; the placeholder of an unloaded issue is left out."""
    key = node.get("data-jira-key") or text_of(by_class(node, "jira-issue-key"))
    anchor = by_tag(node, "a")
    address = href_target(renderer.context, anchor.get("href") or "") if anchor is not None else ""
    summary = text_of(by_class(node, "summary"))
    state = text_of(by_class(node, "aui-lozenge"))
    unloaded = is_unloaded_issue(node)
    text = link(key, address)
    for icon in node.iter("img"):
        renderer.account("images", icon, "an icon", "dropped")
    if anchor is not None:
        renderer.account(link_kind(anchor), anchor, destination(address))
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
    if name in CONTROLS:
        renderer.drop("macro", name, "a control of the wiki's surface")
        return ""
    if name in ("attachments", "space-attachments"):
        return attachments(renderer, node, tags)
    if name not in PLANTUML:
        return vanished(renderer, node, tags) if node.get("data-hasbody") != "true" else None
    renderer.lose("plantuml", name, "this form of export holds only its picture")
    picture = by_tag(node, "img")
    if picture is not None and "download/temp" not in (picture.get("src") or "") and by_tag(node, "svg") is None:
        renderer.account("plantuml", node, "", "marked")
        return None
    title = renderer.word("PlantUML diagram", "Диаграмма PlantUML")
    labels = "; ".join(dict.fromkeys(escape(text_of(label)) for label in node.iter("text") if text_of(label)))
    mark = f"\\[{title}]: {labels}" if labels else f"\\[{title}]"
    renderer.account("plantuml", node, mark, "marked")
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
    renderer.account("code", node, raw_text(node))
    return fence(raw_text(node), "mermaid", tags) if node.tag in ("div", "pre") and text_of(node) else None


def vanished(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """The container of an app or of a macro that the export leaves empty, or with a sentence that it is empty."""
    if not is_placeholder(node):
        return None
    identity = re.sub(r"(?s)^ap-|-[0-9a-f]{6}.*", "", node.get("id") or "")  # vendor's key, "__", macro, number
    said = (node.get("data-macro-name") or "").rsplit("/", 1)[-1]
    name = said or identity.rpartition("__")[2].rstrip("0123456789") or "app"
    kind = "plantuml" if name in PLANTUML else "macro"
    renderer.lose(kind, name, "this form of export holds nothing of the app's content")
    mark = renderer.mark(name)
    renderer.account("plantuml", node, mark, "marked")
    return mark if tags & {"p", "_inline"} else f"\n\n{mark}\n\n"


def report(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """The table of a report; of one in several screens only the first is here."""
    if node.tag != "table":
        return None
    return with_mark(renderer, "detailssummary", node, table(renderer, node, tags))


def issues(name: str) -> Handler:
    """A list with its number of entries or of screens below it; more than the export shows is told."""

    def rule(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
        return with_mark(renderer, name, node, block(renderer, node, tags)) if node.tag == "div" else None

    return rule


def attachments(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """The files that the table of attachments names, without its forms and buttons."""
    if (shown := [one for one in node.iter("a") if _is_file(one)]) == []:
        return ""
    lines = [f"- {renderer.process_tag(one, renderer.within(tags, 'li')).strip()}" for one in shown]
    return "\n\n" + "\n".join(dict.fromkeys(lines)) + "\n\n"


def _is_file(node: _Element) -> bool:
    named = "filename" in (node.get("class") or "").split()
    return bool(text_of(node)) and (named or "/download/attachments/" in (node.get("href") or ""))


def unexported(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str | None:
    """The bare sentence by which the wiki says that it could not export a macro."""
    if len(node) or not says_unexported(node.text or ""):
        return None
    renderer.lose("macro", "app", "this form of export holds nothing of the app's content")
    return renderer.mark("") if tags & {"p", "_inline"} else f"\n\n{renderer.mark('')}\n\n"


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
    url = href_target(renderer.context, node.get("href") or "")
    renderer.account(link_kind(node), node, destination(url))
    return link(escape(clean(name)), url)


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
    **dict.fromkeys(("alert", "aui-message", "callout", "admonition"), alert),
    "metadata-summary-macro": report,
    **dict.fromkeys(("jira-table", "aui-jira-table", "jira-issues"), issues("jira")),
    **dict.fromkeys(("tasks-report", "task-report"), issues("tasks-report-macro")),
    **dict.fromkeys(("blog-posts-macro", "blog-post-listing"), issues("blog-posts")),
    "content-by-label": issues("contentbylabel"),
    "plugin_attachments_container": attachments,
    "mermaid": mermaid,
    "confluence-embedded-file": embedded_file,
    **DRAWN,
    **dict.fromkeys(DROPPED_CLASSES, nothing),
}
RENDERED: dict[str, Handler] = {"div": unexported, "svg": vector_picture, "svg:svg": vector_picture}
