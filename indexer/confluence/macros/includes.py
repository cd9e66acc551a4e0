"""Included pages and excerpts: brought in where the export holds them, else named and linked.

Brought in only when everybody who may read this page may read the included one (the surroundings
answer None otherwise): the wiki itself shows an include to nobody who may not see its page.
"""

from __future__ import annotations

from lxml.etree import _Element

from indexer.confluence.macros.bodies import foreign
from indexer.confluence.macros.boxes import boxed
from indexer.confluence.parse.links import Included, Listed, link
from indexer.confluence.parse.text import clean, escape
from indexer.confluence.render.macro import Macro, attribute, is_alone, read_macro
from indexer.confluence.render.markdown import NOTHING, Renderer, tag_name
from indexer.confluence.render.wiki_links import target_of, titled_target

MAXIMUM_DEPTH = 5  # includes inside includes
EXCERPTS = ("excerpt", "multiexcerpt", "multiexcerpt-macro")
MAXIMUM_INCLUDES = 100  # on one page, those inside includes counted


def include(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    found = _find(renderer, macro)
    return _brought_in(renderer, macro, found, found.body, tags) if found else _named(renderer, macro, tags)


def excerpt_include(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """The excerpt of the named page (one of several by its name)."""
    found = _find(renderer, macro)
    part = _excerpt(found.body, macro.get("name", "multiexcerptname")) if found else None
    if not found or part is None:
        return _named(renderer, macro, tags)
    text = _brought_in(renderer, macro, found, part, tags)
    framed = macro.get("nopanel").lower() != "true" and not tags & {"_cell", "_inline"}
    framed = framed and (text.startswith("\n") or is_alone(macro.node))
    return boxed(escape(found.context.title), text.strip("\n ")) if framed else text


def excerpt_of(renderer: Renderer, page: Listed) -> str:
    """The excerpt of a page that a listing names, "" when it has none or not everybody here may read it."""
    context = renderer.context
    if len(renderer.including) >= MAXIMUM_DEPTH or renderer.seen["_included"] >= MAXIMUM_INCLUDES:
        return ""
    found = context.wiki.included(page.space, page.title, context)
    part = _excerpt(found.body, "") if found and found.context.page_id == page.id else None
    return _inside(renderer, found, part, NOTHING) if found and part is not None else ""


def _find(renderer: Renderer, macro: Macro) -> Included | None:
    space, title = _target(renderer, macro)
    within = renderer.context
    key = f"{space or within.space}:{title}"
    if not title or key in renderer.including or len(renderer.including) >= MAXIMUM_DEPTH:
        return None
    if (space or within.space, title) == (within.space, within.title) or renderer.seen["_included"] >= MAXIMUM_INCLUDES:
        return None
    return within.wiki.included(space or within.space, title, within)


def _target(renderer: Renderer, macro: Macro) -> tuple[str, str]:
    page = macro.element("ri:page")
    if page is None:
        page = macro.element("ri:blog-post")
    if page is not None:
        title = attribute(page, "content-title") or renderer.context.wiki.page_title(attribute(page, "content-id"))
        return attribute(page, "space-key"), clean(title)
    space, colon, title = macro.get("", "page", "pagetitle").partition(":")
    return (space, clean(title)) if colon else (macro.get("spacekey"), clean(space))


def _brought_in(renderer: Renderer, macro: Macro, found: Included, part: _Element, tags: frozenset[str]) -> str:
    text = _inside(renderer, found, part, tags)
    if not text:
        return _named(renderer, macro, tags)
    return text if "p" in tags and "\n" not in text else f"\n\n{text}\n\n"


def _inside(renderer: Renderer, found: Included, part: _Element, tags: frozenset[str]) -> str:
    """A part of another page, converted as what it is there."""
    outer, renderer.context = renderer.context, found.context
    renderer.including = (*renderer.including, f"{found.context.space}:{found.context.title}")
    renderer.seen["_included"] += 1
    renderer.brought += 1
    renderer.start_line()
    try:
        return renderer.inner(part, tags).strip("\n ")
    finally:
        renderer.context = outer
        renderer.including = renderer.including[:-1]


def _named(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """``→ [Title](address)``: never a silent gap.

    The wiki's own rendering stands in only for a page that is not here at all. A page that is here was
    kept out because fewer people may read it, and whoever exported saw more than they.
    """
    space, title = _target(renderer, macro)
    context = renderer.context
    known = context.wiki.page_id(space or context.space, title) if title else ""
    shown = context.wiki.rendered(macro.node) if not known and not renderer.including else None
    if shown is not None and (text := foreign(renderer, shown, tags)):
        renderer.lose(
            "rights", title or macro.name, "included text as the exporter saw it, its own readers are not known"
        )
        return f"\n\n{text}\n\n"
    renderer.lose("include", title or macro.name, "named and linked, its text is not here")
    if not title:
        return f"\n\n{renderer.mark(macro.name)}\n\n"
    holder = next(
        (inner for inner in macro.node.iter() if isinstance(inner.tag, str) and tag_name(inner) == "ac:link"), None
    )
    url = target_of(renderer, holder)[1] if holder is not None else titled_target(context, space, title, "")[1]
    text = f"→ {link(escape(title), url)}"
    renderer.brought += 1
    return text if tags & {"_inline", "p"} else f"\n\n{text}\n\n"


def _excerpt(body: _Element, name: str) -> _Element | None:
    """The first excerpt, or the one with this name."""
    for node in body.iter():
        if isinstance(node.tag, str) and tag_name(node) in ("ac:structured-macro", "ac:macro"):
            macro = read_macro(node)
            if macro.name in EXCERPTS and (not name or macro.get("name", "multiexcerptname") == name):
                return macro.rich
    return None
