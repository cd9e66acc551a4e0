"""What of a macro stands on the page when nothing more is known of it: its title, its body, where it leads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml.etree import _Element

from indexer.confluence.parse.links import link
from indexer.confluence.parse.text import bold, clean, escape
from indexer.confluence.render.code import fence, language_of
from indexer.confluence.render.macro import Macro
from indexer.confluence.render.markdown import BLOCKS, Renderer, tag_name
from indexer.confluence.render.storage_elements import block
from indexer.confluence.render.wiki_links import target_of

NOT_WORDS = BLOCKS | {"p", "ul", "ol", "table", "pre", "hr", "ac:structured-macro", "ac:macro", "ac:task-list"} | {
    "ac:layout"
}  # fmt: skip
TITLES = ("title", "label", "name", "tab", "caption")
# A name or a label may be a setting, these are read.
SHOWN = ("title", "displayname", "caption", "linktext", "buttontext", "text", "date", "status")
TARGETS = frozenset({"ri:page", "ri:blog-post", "ri:attachment", "ri:content-entity", "ri:url", "ri:user"})
JSON = re.compile(r"\{.*\}|\[\s*\{.*\]", re.DOTALL)
ADDRESS = re.compile(r"https?://\S+")


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


def rendered_or_mark(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """For what only the wiki can compute (reports, queries): its rendering if we have it, else a mark."""
    number = renderer.seen[macro.name] - 1
    shown = renderer.context.wiki.rendered(macro.name, number, macro.id) if not renderer.including else None
    if shown is not None and (text := renderer.process_tag(shown, tags).strip("\n ")):
        return f"\n\n{text}\n\n"
    if (text := body(renderer, macro, tags)).strip():
        return text
    renderer.lose("macro", macro.name, "its content is only in the wiki")
    mark = " ".join([renderer.mark(macro.name), *leads(renderer, macro)])
    return mark if "_inline" in tags or "p" in tags else f"\n\n{mark}\n\n"


def leads(renderer: Renderer, macro: Macro) -> list[str]:
    """The title that a macro shows and the pages, files and addresses it names, as links."""
    said = escape(clean(macro.get(*SHOWN)))
    if said.lower() in ("true", "false"):  # a switch
        said = ""
    found = [target for parameter in macro.parameters.values() for target in _targets(renderer, parameter)]
    if said and len(found) == 1 and found[0][1]:
        return [link(said, found[0][1])]
    return [one for one in (said, *(link(escape(name), url) for name, url in found)) if one]


def _targets(renderer: Renderer, parameter: _Element) -> Iterator[tuple[str, str]]:
    """(name, address) of what a parameter points to."""
    inside = [node for node in parameter.iterdescendants() if isinstance(node.tag, str)]
    for node in inside:
        holder = node.getparent()
        if holder is not None and tag_name(node) in TARGETS and tag_name(holder) not in TARGETS:
            yield target_of(renderer, holder)[:2]
    if not inside and (address := ADDRESS.fullmatch((parameter.text or "").strip())):
        yield "", address.group()


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
