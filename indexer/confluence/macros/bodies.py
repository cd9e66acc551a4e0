"""What of a macro stands on the page when nothing more is known of it: its title, its body, where it leads."""

from __future__ import annotations

import re

from lxml.etree import _Element

from indexer.confluence.macros.cut_off import with_mark
from indexer.confluence.macros.leading import SHOWN, leads
from indexer.confluence.parse.placeholders import is_placeholder
from indexer.confluence.parse.text import bold, clean, escape
from indexer.confluence.render.code import fence, language_of
from indexer.confluence.render.macro import Macro
from indexer.confluence.render.markdown import BLOCKS, Renderer, tag_name
from indexer.confluence.render.storage_elements import block

NOT_WORDS = BLOCKS | {"p", "ul", "ol", "table", "pre", "hr", "ac:structured-macro", "ac:macro", "ac:task-list"} | {
    "ac:layout"
}  # fmt: skip
TITLES = ("title", "label", "name", "tab", "caption")
JSON = re.compile(r"\{.*\}|\[\s*\{.*\]", re.DOTALL)


def unknown(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """The title and the body of a macro nobody told us about; without a body, the wiki's rendering or a mark."""
    text = body(renderer, macro, tags)
    if text.strip():
        renderer.lose("macro", macro.name, "unknown: body kept, settings dropped")
        return headed(renderer, macro.get(*SHOWN), text, tags)
    return rendered_or_mark(renderer, macro, tags)


def titled(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """Tabs and cards: the label is what the reader sees before he opens them."""
    return headed(renderer, macro.get(*TITLES), f"\n\n{body(renderer, macro, tags).strip(chr(10) + ' ')}\n\n", tags)


def headed(renderer: Renderer, title: str, text: str, tags: frozenset[str]) -> str:
    """The text under its title, or (in a line) behind it."""
    if not title:
        return text
    if "\n" not in text and tags & {"p", "_inline"}:
        return f"{escape(clean(title))}: {text}"
    return f"\n\n{bold(escape(clean(title)))}\n\n{text.strip(chr(10))}\n\n"


def rendered(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str | None:
    """The wiki's own rendering of a macro, None when it is not here or only says that nothing can be shown."""
    node = macro.node
    shown = renderer.context.wiki.rendered(node) if not renderer.including else None
    if shown is None or is_placeholder(shown):
        return None
    text = with_mark(renderer, macro.name, shown, foreign(renderer, shown, tags))
    if not text:
        return None
    return text if tags & {"p", "_inline"} and "\n" not in text else f"\n\n{text}\n\n"


def foreign(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """The wiki's rendering of a macro: what stands in it is not counted among the things of the page's own body."""
    renderer.foreign += 1
    renderer.brought += 1
    try:
        return renderer.process_tag(node, tags).strip("\n ")
    finally:
        renderer.foreign -= 1


def rendered_or_mark(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """For what only the wiki can compute (reports, queries): its rendering if we have it, else a mark."""
    if (shown := rendered(renderer, macro, tags)) is not None:
        return shown
    if (text := body(renderer, macro, tags)).strip():
        return text
    renderer.lose("macro", macro.name, "its content is only in the wiki")
    mark = " ".join([renderer.mark(macro.name), *leads(renderer, macro)])
    return mark if "_inline" in tags or "p" in tags else f"\n\n{mark}\n\n"


def body(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """The rich body as it is; a plain one as text, its lines kept apart."""
    if macro.rich is not None:
        tagged = {tag_name(child) for child in macro.rich if isinstance(child.tag, str)}
        if "p" in tags and tagged.isdisjoint(NOT_WORDS):
            return renderer.inner(macro.rich, tags)
        if "p" in tags and (paragraph := only_paragraph(macro)) is not None:
            return renderer.inner(paragraph, tags)
        return block(renderer, macro.rich, tags)
    if macro.plain and macro.plain.strip():
        if "\n" in macro.plain.strip() or re.search(r"[<>{}|]", macro.plain):
            said = language_of(macro.get("language", "lang"))
            return fence(macro.plain, said or ("json" if JSON.fullmatch(macro.plain.strip()) else ""), tags)
        text = escape(clean(macro.plain).strip())
        return text if tags & {"p", "_inline"} else f"\n\n{text}\n\n"
    return ""


def only_paragraph(macro: Macro) -> _Element | None:
    """The one paragraph that is the whole body of a macro inside a line."""
    if macro.rich is None or len(macro.rich) != 1 or (macro.rich.text or "").strip():
        return None
    child = macro.rich[0]
    return child if isinstance(child.tag, str) and child.tag == "p" and not (child.tail or "").strip() else None
