"""Macros of the storage format: one small function each, one line in ``MACROS``.

What a macro shows to a reader stays, its settings never become text. A macro that is not in the
table keeps its body; its name is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lxml.etree import _Element

from indexer.confluence import diagrams
from indexer.confluence.boxes import expand_text, panel_text
from indexer.confluence.code import fence, language_of
from indexer.confluence.html_tree import parse_fragment
from indexer.confluence.includes import excerpt_include, include
from indexer.confluence.links import link
from indexer.confluence.macro import Macro, attribute, read_macro
from indexer.confluence.macro_names import CONTAINERS, FORMULAS, LISTINGS, PLANTUML, TABS
from indexer.confluence.markdown import BLOCKS, Handler, Renderer, tag_name
from indexer.confluence.storage_elements import attachment_target, block, user_name
from indexer.confluence.text import bold, clean, escape
from indexer.confluence.wiki_markup import parse_wiki_markup

MacroHandler = Callable[[Renderer, Macro, frozenset[str]], str]
NOT_WORDS = BLOCKS | {
    "p",
    "ul",
    "ol",
    "table",
    "pre",
    "hr",
    "ac:structured-macro",
    "ac:macro",
    "ac:task-list",
    "ac:layout",
}
TITLES = ("title", "label", "name", "tab", "caption")


def macro_element(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """``ac:structured-macro`` and the old ``ac:macro``: looked up by name, else body kept."""
    macro = read_macro(node)
    if not renderer.including:
        renderer.seen[macro.name] += 1
    before = renderer.losses.total()
    text = MACROS.get(macro.name, unknown)(renderer, macro, tags)
    renderer.made["macros"] += renderer.losses.total() == before
    return text


def unknown(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """The body of a macro nobody told us about; without one, the wiki's rendering or a mark."""
    text = body(renderer, macro, tags)
    if text.strip():
        renderer.lose("macro", macro.name, "unknown: body kept, settings dropped")
        return text
    return rendered_or_mark(renderer, macro, tags)


def rendered_or_mark(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """For what only the wiki can compute (reports, queries): its rendering if we have it, else a mark."""
    number = renderer.seen[macro.name] - 1
    shown = renderer.context.wiki.rendered(macro.name, number, macro.id) if not renderer.including else None
    if shown is not None and (text := renderer.process_tag(shown, tags).strip("\n ")):
        return f"\n\n{text}\n\n"
    renderer.lose("macro", macro.name, "its content is only in the wiki")
    mark = renderer.mark(macro.name)
    return mark if "_inline" in tags or "p" in tags else f"\n\n{mark}\n\n"


def body(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """The rich body as it is; a plain one as text, its lines kept apart."""
    if macro.rich is not None:
        tagged = {tag_name(child) for child in macro.rich if isinstance(child.tag, str)}
        words_only = "p" in tags and tagged.isdisjoint(NOT_WORDS)
        return renderer.inner(macro.rich, tags) if words_only else block(renderer, macro.rich, tags)
    if macro.plain and macro.plain.strip():
        if "\n" in macro.plain.strip() or re.search(r"[<>{}|]", macro.plain):
            return fence(macro.plain, "", tags)
        text = escape(clean(macro.plain).strip())
        return text if tags & {"p", "_inline"} else f"\n\n{text}\n\n"
    return ""


def code(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    renderer.made["code"] += 1
    text = macro.plain if macro.plain is not None else _text(macro.rich)
    return fence(text, language_of(macro.get("language", "lang", "")), tags, escape(clean(macro.get("title"))))


def noformat(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    renderer.made["code"] += 1
    text = macro.plain if macro.plain is not None else _text(macro.rich)
    return fence(text, "", tags, escape(clean(macro.get("title"))))


def panel(kind: str) -> MacroHandler:
    def rule(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
        inner = macro.rich if macro.rich is not None else None
        return panel_text(renderer, kind, escape(clean(macro.get("title"))), inner, tags)

    return rule


def expand(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    return expand_text(renderer, escape(clean(macro.get("title", ""))), macro.rich, macro.node, tags)


def titled(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """Tabs and cards: the label is what the reader sees before he opens them."""
    title = escape(clean(macro.get(*TITLES)))
    text = body(renderer, macro, tags).strip("\n ")
    return f"\n\n{bold(title)}\n\n{text}\n\n" if title else f"\n\n{text}\n\n"


def container(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    return body(renderer, macro, tags)


def status(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """Its words; without any the wiki shows the name of the colour."""
    return renderer.process_text(macro.get("title") or macro.get("colour", "color").upper(), tags).strip()


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
        name, url, _ = attachment_target(renderer.context, target)
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
    return f"${text}$" if "inline" in macro.name or tags & {"p", "_inline", "_cell"} else f"\n\n$$\n{text}\n$$\n\n"


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


def person(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    target = macro.element("ri:user")
    name = user_name(renderer, target) if target is not None else macro.get("user", "username", "")
    return renderer.process_text(name, tags).strip()


def dropped(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """Listings that the wiki computes and anchors: nothing of the page itself."""
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
    "detailssummary": rendered_or_mark,
    "html": html_text,
    "unmigrated-wiki-markup": wiki_text,
    "unmigrated-inline-wiki-markup": wiki_text,
    "markdown": markdown_text,
    "profile": person,
    "user-profile": person,
    **dict.fromkeys(PLANTUML, diagrams.plantuml),
    **dict.fromkeys(("mermaid", "mermaid-macro", "mermaid-cloud", "mermaiddiagram"), diagrams.mermaid),
    **dict.fromkeys(("drawio", "inc-drawio", "drawio-sketch", "gliffy", "lucidchart", "balsamiq"), diagrams.drawing),
    **dict.fromkeys(("graphviz", "digraph", "flowchart"), diagrams.other_source),
    **dict.fromkeys(("view-file", "viewpdf", "viewdoc", "viewxls", "viewppt", "multimedia"), view_file),
    **dict.fromkeys(("widget", "iframe", "html-iframe", "iframe-macro", "rss", "html-include"), web_address),
    **dict.fromkeys(FORMULAS, formula),
    **dict.fromkeys(TABS, titled),
    **dict.fromkeys(CONTAINERS, container),
    **dict.fromkeys(LISTINGS, dropped),
}
MACRO_ELEMENTS: dict[str, Handler] = {"ac:structured-macro": macro_element, "ac:macro": macro_element}
