"""Listings that the wiki makes of other pages and files: titles, links and excerpts out of the source itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatch

from indexer.confluence.macros.bodies import rendered
from indexer.confluence.macros.includes import excerpt_of
from indexer.confluence.parse.links import PICTURE_ENDINGS, Listed, attachment_url, image, link, page_url
from indexer.confluence.parse.text import clean, escape
from indexer.confluence.render.lists import indent
from indexer.confluence.render.macro import Macro, attribute
from indexer.confluence.render.markdown import Renderer

DEEPEST = 20  # levels of a tree of pages
MOST = 1000  # entries of one listing; a wiki shows far fewer
LABEL = re.compile(
    r"label\s*+(?:"
    r"=\s*+(?:\"([^\"]++)\"|'([^']++)'|([\w-]++))"  # label = "тара", label = тара
    r"|in\s*+\(([^()]++)\)"  # label in ("тара", "склад")
    r")",
    re.IGNORECASE,
)
PLAIN = re.compile(r"\band\b", re.IGNORECASE)
SAME_SPACE = frozenset({"", "@self", "currentspace()"})
BLOG = "blogpost"


def children(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """The pages below this one (or below the one that is named), as deep as the macro says."""
    wiki, within = renderer.context.wiki, renderer.context.page_id
    top = _named_page(renderer, macro, "page", "root")
    depth = (
        DEEPEST if macro.get("all").lower() == "true" or macro.name == "pagetree" else _number(macro.get("depth"), 1)
    )
    first = _number(macro.get("first"), MOST)
    excerpts = macro.get("excerpt", "excerpttype").lower() not in ("", "false", "none")

    def tree(page_id: str, left: int, seen: frozenset[str]) -> Sequence[str] | None:
        found = wiki.below(page_id, within)
        if found is None:
            return None
        if macro.get("sort").lower() == "title":
            found = sorted(found, key=lambda page: page.title.casefold())
        if macro.get("reverse").lower() == "true":
            found = list(reversed(found))
        lines: list[str] = []
        for page in found[:first]:
            lines.append(_entry(renderer, page, excerpts))
            if left > 1 and page.id not in seen:
                deeper = tree(page.id, left - 1, seen | {page.id}) or ()
                lines += [indent(line, "  ") for line in deeper]
        return lines

    return _shown(renderer, macro, tags, tree(top, min(depth, DEEPEST), frozenset({top})) if top else None)


def labelled(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """Pages with these labels: any of them, or all when the macro says so."""
    query = macro.get("cql")
    wanted = {label for found in LABEL.finditer(query) for label in _labels(found)}
    wanted |= {label for label in re.split(r"[,\s]+", macro.get("labels", "label")) if label.strip("+-")}
    excluded = {label[1:] for label in wanted if label.startswith("-")}
    every = macro.get("operator").upper() == "AND" or any(label.startswith("+") for label in wanted)
    if query and len(wanted) > 1 and not re.search(r"\bor\b|\bin\b", query, re.IGNORECASE):
        every = True
    wanted = {label.lstrip("+").casefold() for label in wanted if not label.startswith("-")}
    here = renderer.context.space.casefold()
    spaces = _spaces(macro, query, here)

    def chosen(page: Listed) -> bool:
        labels = {label.casefold() for label in page.labels}
        hit = wanted <= labels if every else bool(wanted & labels)
        return hit and not excluded & labels and (not spaces or page.space.casefold() in spaces)

    excerpts = macro.get("excerpt", "excerpttype", "showexcerpt").lower() not in ("", "false", "none")
    return _listing(renderer, macro, tags, chosen if wanted else None, excerpts)


def blog_posts(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """The blog posts of the space, the newest first, with their excerpts or only by title."""
    here = renderer.context.space.casefold()
    spaces = _spaces(macro, "", here) or {here}
    wanted = {label.casefold() for label in re.split(r"[,\s]+", macro.get("labels", "label")) if label}

    def chosen(page: Listed) -> bool:
        labels = {label.casefold() for label in page.labels}
        return page.content == BLOG and page.space.casefold() in spaces and (not wanted or bool(wanted & labels))

    return _listing(renderer, macro, tags, chosen, macro.get("content").lower() != "titles", newest=True)


def files(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """The files of the page (or of the one that is named): a gallery shows its pictures."""
    holder = _named_page(renderer, macro, "page")
    names = renderer.context.wiki.files(holder) if holder else None
    patterns = [pattern.strip() for pattern in macro.get("patterns", "include").split(",") if pattern.strip()]
    left_out = {name.strip() for name in macro.get("exclude").split(",")}
    lines = None
    if names is not None:
        kept = [name for name in names if name not in left_out and (not patterns or _fits(name, patterns))]
        pictures = macro.name == "gallery"
        kept = [name for name in kept if not pictures or name.lower().endswith(PICTURE_ENDINGS)]
        made = image if pictures else link
        base = renderer.context.base
        shown = [(name if pictures else escape(name), attachment_url(base, holder, name)) for name in kept]
        lines = [f"- {made(name, url)}" for name, url in shown]
    return _shown(renderer, macro, tags, lines)


def _listing(
    renderer: Renderer, macro: Macro, tags: frozenset[str], chosen: Callable[[Listed], bool] | None, excerpts: bool,
    *, newest: bool = False,
) -> str:  # fmt: skip
    found = renderer.context.wiki.chosen(chosen, renderer.context.page_id) if chosen else None
    if found is None:
        return _shown(renderer, macro, tags, None)
    if newest:
        found = sorted(found, key=lambda page: page.updated, reverse=True)
    most = _number(macro.get("max", "maxresults"), MOST)
    return _shown(renderer, macro, tags, [_entry(renderer, page, excerpts) for page in found[:most]])


def _shown(renderer: Renderer, macro: Macro, tags: frozenset[str], lines: Sequence[str] | None) -> str:
    """What the source tells; else what the wiki rendered; else nothing, and the ledger says so."""
    if lines is None:
        if (text := rendered(renderer, macro, tags)) is not None:
            return text
        renderer.drop("listing", macro.name, "made by the wiki of other pages, which are not here")
        return ""
    if not lines:
        renderer.drop("listing", macro.name, "it lists nothing that all readers of the page may read")
        return ""
    renderer.brought += 1
    title = macro.get("title")
    text = "\n".join(lines)
    if tags & {"_cell", "_inline"}:
        return "\n" + text + "\n"
    return f"\n\n**{escape(clean(title))}**\n\n{text}\n\n" if title else f"\n\n{text}\n\n"


def _entry(renderer: Renderer, page: Listed, excerpts: bool) -> str:
    """``- [title](address): excerpt``, without an address for what is no page."""
    base = renderer.context.base
    text = link(escape(clean(page.title)), page.url or page_url(base, page.id))
    said = " ".join(excerpt_of(renderer, page).split()) if excerpts else ""
    return f"- {text}: {said}" if said else f"- {text}"


def _named_page(renderer: Renderer, macro: Macro, *names: str) -> str:
    """The id of the page that the macro names, of this page when it names none, "" when it is not known."""
    context = renderer.context
    target = macro.element("ri:page")
    if target is not None:
        space, title = attribute(target, "space-key"), clean(attribute(target, "content-title"))
        return context.wiki.page_id(space or context.space, title) if title else context.page_id
    said = macro.get(*names)
    if not said or said.lower() in ("@self", "self", "@home"):
        return context.page_id
    if said.lower() == "@parent":
        return ""
    space, colon, title = said.partition(":")
    known = context.wiki.page_id(space, clean(title)) if colon else ""
    return known or context.wiki.page_id(context.space, clean(said))


def _spaces(macro: Macro, query: str, here: str) -> frozenset[str]:
    """Folded keys; none = all spaces."""
    said = macro.get("spaces", "space", "spacekey")
    found = {key.strip().casefold() for key in said.split(",") if key.strip()}
    target = macro.element("ri:space")
    if target is not None:
        found.add(attribute(target, "space-key").casefold())
    for match in re.finditer(r"space\s*+=\s*+\"?([^\s\"()]++)", query, re.IGNORECASE):
        found.add(match[1].casefold())
    if "currentspace" in query.casefold():
        found.add("@self")
    if "@all" in found or "*" in found:
        return frozenset()
    return frozenset(here if key in SAME_SPACE or key == "currentspace" else key for key in found)


def _labels(found: re.Match[str]) -> list[str]:
    listed = found[4] or found[1] or found[2] or found[3] or ""
    return [label.strip(" \t\"'") for label in listed.split(",") if label.strip(" \t\"'")]


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch(name, pattern) or name == pattern for pattern in patterns)


def _number(said: str, otherwise: int) -> int:
    return int(said) if said.isdecimal() and 0 < len(said) < 6 and int(said) else otherwise
