"""Macros of the storage format: one small function each, one line in ``MACROS``.

What a macro shows to a reader stays, its settings never become text. A macro that is not in the
table keeps its body; its name is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lxml.etree import _Element

from indexer.confluence.macros import diagrams, listings
from indexer.confluence.macros.bodies import body, headed, rendered, rendered_or_mark, titled, unknown
from indexer.confluence.macros.boxes import box_kind, boxed_text, expand_text, panel_text, with_icon
from indexer.confluence.macros.includes import excerpt_include, include
from indexer.confluence.macros.leading import leads
from indexer.confluence.macros.numbering import numbered_headings
from indexer.confluence.macros.roadmap import roadmap
from indexer.confluence.macros.steps import steps
from indexer.confluence.parse.adf_json import parse_adf_part
from indexer.confluence.parse.html_tree import parse_fragment
from indexer.confluence.parse.links import link
from indexer.confluence.parse.text import clean, escape
from indexer.confluence.parse.wiki_markup import parse_wiki_markup
from indexer.confluence.render.code import fence, language_of
from indexer.confluence.render.inline import apart
from indexer.confluence.render.macro import (
    BUTTONS,
    CONTAINERS,
    CONTROLS,
    FORMULAS,
    PLANTUML,
    TABS,
    Macro,
    attribute,
    read_macro,
)
from indexer.confluence.render.markdown import Handler, Outcome, Renderer
from indexer.confluence.render.wiki_links import attachment_target, user_name

MacroHandler = Callable[[Renderer, Macro, frozenset[str]], str]


def macro_element(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """``ac:structured-macro`` and the old ``ac:macro``: looked up by name, else body kept."""
    macro = read_macro(node)
    marks, brought = len(renderer.marks), renderer.brought
    gone = renderer.dropped.total()
    text = (MACROS.get(macro.name) or _by_part(macro.name))(renderer, macro, tags)
    if not text.strip() and renderer.dropped.total() == gone:
        text = _without_text(renderer, macro, tags)
    if renderer.dropped.total() > gone and not text.strip():
        renderer.accounts["macros", node] = Outcome("dropped", "")
    elif len(renderer.marks) > marks:
        renderer.account("macros", node, text, "marked")
        del renderer.marks[marks:]
    else:  # words of the page itself are looked for one by one, those that were brought in are not
        renderer.account("macros", node, text if renderer.brought > brought else "")
    return text


def _without_text(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """A macro that has nothing to show by its rule: what its parameters name is not to vanish."""
    if renderer.context.wiki.rendered(macro.node) is not None or leads(renderer, macro):
        return rendered_or_mark(renderer, macro, tags)
    renderer.drop("macro", macro.name, "empty")
    return ""


def _by_part(name: str) -> MacroHandler:
    """Apps of many vendors show one kind of thing; each has a name of its own with that kind in it."""
    return next((rule for part, rule in KINDS.items() if part in name), unknown)


def code(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    text = macro.plain if macro.plain is not None else _text(macro.rich)
    renderer.account("code", macro.node, text)
    language, title = language_of(macro.get("language", "lang", "")), escape(clean(macro.get("title")))
    if language == "plantuml" or (not language and text.lstrip().startswith("@start")):
        return diagrams.source_block(renderer, text, "plantuml", tags, title)
    return fence(text, language, tags, title)


def message(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """A box of a library or a vendor: its kind is a parameter, or a part of the macro's own name."""
    said = macro.get("type", "kind", "style", "severity", "level", "status", "class", "theme", "").lower()
    kind = box_kind(said) or box_kind(macro.name) or "panel"
    if macro.rich is None and macro.plain:
        return boxed_text(renderer, kind, macro.get("title", "header", "heading"), macro.plain, tags)
    return panel_text(renderer, kind, escape(clean(macro.get("title", "header", "heading"))), macro.rich, tags)


def export_only(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """What an exporter to PDF or Word is told; titles and bodies are of the page."""
    return headed(renderer, macro.get("title"), body(renderer, macro, tags), tags)


def noformat(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    text = macro.plain if macro.plain is not None else _text(macro.rich)
    renderer.account("code", macro.node, text)
    return fence(text, "", tags, escape(clean(macro.get("title"))))


def panel(kind: str) -> MacroHandler:
    def rule(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
        text = panel_text(renderer, kind, escape(clean(macro.get("title"))), macro.rich, tags)
        icon = macro.get("panelicontext") if kind == "panel" else ""
        return with_icon(text, icon) if icon else text

    return rule


def expand(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    return expand_text(renderer, escape(clean(macro.get("title", ""))), macro.rich, macro.node, tags)


def container(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    return body(renderer, macro, tags)


def status(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """Its words; without any the wiki shows the name of the colour."""
    said = macro.get("title", "status") or macro.get("colour", "color").upper()
    return apart(macro.node, renderer.process_text(said, tags).strip())


def day(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    return apart(macro.node, renderer.process_text(macro.get("date"), tags).strip())


def requirement(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """The key by which other pages refer to it, or by which this one refers to another."""
    return apart(macro.node, renderer.process_text(macro.get("key"), tags).strip())


def jira(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """The key of one issue; a query has its rows only in the wiki."""
    key = macro.get("key", "issuekey")
    if (
        not key
        and not macro.get("jqlquery", "url", "jirareportid")
        and re.fullmatch(r"[A-Z][A-Z0-9_]+-\d+", macro.get(""))
    ):
        key = macro.get("")
    return escape(key) if key else rendered_or_mark(renderer, macro, tags)


def view_file(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    target = macro.element("ri:attachment")
    if target is not None:
        name, url, hint = attachment_target(renderer.context, target, macro.element("ri:page"))
        name = name if url else hint
    else:
        name = clean(macro.get("name", "attachment", "file", ""))
        url = diagrams.attachment_address(renderer, name) if name else ""
    if not name:
        return rendered_or_mark(renderer, macro, tags)
    text = link(escape(name), url)
    return text if tags & {"p", "_inline"} else f"\n\n{text}\n\n"


def web_address(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """Embedded sites, videos, feeds: their address."""
    target = macro.element("ri:url")
    url = attribute(target, "value") if target is not None else macro.get("url", "src", "")
    if not url.startswith(("http://", "https://")):
        return rendered_or_mark(renderer, macro, tags)
    return link("", url) if tags & {"p", "_inline"} else f"\n\n{link('', url)}\n\n"


def formula(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """LaTeX between dollar signs, in the line or on lines of its own."""
    text = (macro.plain or macro.get("body", "formula", "equation", "") or _text(macro.rich)).strip()
    if not text:
        return ""
    for mark in ("$$", "$"):
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text[len(mark) : -len(mark)].strip()
    inline = "inline" in macro.name or bool(tags & {"p", "_inline", "_cell"})
    if inline:
        text = " ".join(text.split())
    if "$" in text:  # prose with formulas in it
        return text if inline else f"\n\n{text}\n\n"
    return f"${text}$" if inline else f"\n\n$$\n{text}\n$$\n\n"


def html_text(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """An ``html`` macro holds markup as text; a reader sees what it renders to."""
    return (
        f"\n\n{renderer.inner(parse_fragment(macro.plain or ''), tags).strip()}\n\n"
        if macro.plain
        else body(renderer, macro, tags)
    )


def wiki_text(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """Old markup that the wiki never turned into storage format."""
    tree = parse_wiki_markup(macro.plain if macro.plain is not None else _text(macro.rich))
    text = renderer.inner(tree, tags).strip("\n ")
    return text if tags & {"p", "_inline"} else f"\n\n{text}\n\n"


def markdown_text(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    text = (macro.plain or "").strip("\n")
    return f"\n\n{text}\n\n" if text and not tags & {"_cell", "_inline"} else body(renderer, macro, tags)


def button(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """What is written on it, as the link it is."""
    text = " ".join(leads(renderer, macro)) or body(renderer, macro, tags).strip()
    return text if tags & {"p", "_inline"} else f"\n\n{text}\n\n"


def footnote(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """In brackets at its place: the list of notes at the end of the page is made by the wiki."""
    text = " ".join((body(renderer, macro, tags | {"p"}) or escape(clean(macro.get("text")))).split())
    return f" ({renderer.word('note', 'сноска')}: {text})" if text else ""


def rendered_or_drop(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """Reports of other pages: as the wiki rendered them, else nothing of this page is lost."""
    if (shown := rendered(renderer, macro, tags)) is not None:
        return shown
    renderer.drop("listing", macro.name, "made by the wiki of other pages, which are not here")
    return ""


def nested_table(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """A table inside a cell, which the Cloud keeps as JSON in a parameter."""
    tree = parse_adf_part(macro.get("adf", "nestedcontent", "nested-content"))
    return rendered_or_mark(renderer, macro, tags) if tree is None else renderer.inner(tree, tags)


def person(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    target = macro.element("ri:user")
    name = user_name(renderer, target) if target is not None else macro.get("user", "username", "")
    return renderer.process_text(name, tags).strip()


def dropped(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """Controls, anchors and what the wiki computes of other pages' activity: nothing of the page itself."""
    renderer.drop("macro", macro.name, "a control of the wiki's surface")
    return ""


def _text(node: _Element | None) -> str:
    return "" if node is None else "".join(node.itertext())


MACROS: dict[str, MacroHandler] = {
    "code": code,
    "code-block": code,
    "codeblock": code,
    "noformat": noformat,
    "preformatted": noformat,
    "info": panel("info"),
    "note": panel("note"),
    "tip": panel("tip"),
    "warning": panel("warning"),
    "auimessage": message,
    "error": panel("error"),
    "success": panel("success"),
    "panel": panel("panel"),
    "expand": expand,
    "ui-expand": expand,
    "status": status,
    "lozenge": status,
    "jira": jira,
    "jiraissues": jira,
    "include": include,
    "excerpt-include": excerpt_include,
    **dict.fromkeys(("multiexcerpt-include", "multiexcerpt-include-macro"), excerpt_include),
    "detailssummary": rendered_or_mark,
    "footnote": footnote,
    "nested-table": nested_table,
    "roadmap": roadmap,
    "numberedheadings": numbered_headings,
    "handy-date": day,
    **dict.fromkeys(("chart", "table-chart"), titled),
    "requirement": requirement,
    "ui-steps": steps,
    "html": html_text,
    "unmigrated-wiki-markup": wiki_text,
    "unmigrated-inline-wiki-markup": wiki_text,
    "markdown": markdown_text,
    "profile": person,
    "user-profile": person,
    "profile-picture": person,
    **dict.fromkeys(PLANTUML, diagrams.plantuml),
    **dict.fromkeys(("mermaid", "mermaid-macro", "mermaid-cloud", "mermaiddiagram"), diagrams.mermaid),
    **dict.fromkeys(("drawio", "inc-drawio", "drawio-sketch", "gliffy", "lucidchart", "balsamiq"), diagrams.drawing),
    **dict.fromkeys(("graphviz", "digraph", "flowchart"), diagrams.other_source),
    **dict.fromkeys(("view-file", "viewpdf", "viewdoc", "viewxls", "viewppt", "multimedia"), view_file),
    **dict.fromkeys(("widget", "iframe", "html-iframe", "iframe-macro", "rss", "html-include"), web_address),
    **dict.fromkeys(FORMULAS, formula),
    **dict.fromkeys(BUTTONS, button),
    **dict.fromkeys(TABS, titled),
    **dict.fromkeys(CONTAINERS, container),
    **dict.fromkeys(CONTROLS, dropped),
    **dict.fromkeys(("children", "pagetree", "children-display"), listings.children),
    **dict.fromkeys(("contentbylabel", "content-by-label"), listings.labelled),
    **dict.fromkeys(("blog-posts", "blog-post-listing"), listings.blog_posts),
    **dict.fromkeys(("attachments", "gallery", "space-attachments"), listings.files),
    **dict.fromkeys(("tasks-report-macro", "content-report-table"), rendered_or_drop),
}
KINDS: dict[str, MacroHandler] = {
    **dict.fromkeys(("alert", "callout", "admonition", "messagebox", "message-box", "info-box", "notice"), message),
    **dict.fromkeys(
        ("button", "hyperlink", "navbar", "nav-bar", "horizontalnav", "horizontal-nav", "menu-item"), button
    ),
    "plantuml": diagrams.plantuml,
    "mermaid": diagrams.mermaid,
    "drawio": diagrams.drawing,
    "handy-status": status,
    "status-handy": status,
    "excerpt-include": excerpt_include,
    "footnote": footnote,
    "markdown": markdown_text,
    "html": html_text,
    "latex": formula,
    "math": formula,
    "scroll-": export_only,
}
MACRO_ELEMENTS: dict[str, Handler] = {"ac:structured-macro": macro_element, "ac:macro": macro_element}
