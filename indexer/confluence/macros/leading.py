"""Where a macro leads that has no text of its own: the pages, files and addresses that its parameters name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from lxml.etree import _Element

from indexer.confluence.parse.links import PICTURE_ENDINGS, attachment_url, image, link, page_url
from indexer.confluence.parse.targets import wiki_page_id
from indexer.confluence.parse.text import clean, escape
from indexer.confluence.render.macro import Macro, value_of
from indexer.confluence.render.markdown import Renderer, tag_name
from indexer.confluence.render.wiki_links import target_of

# A name or a label may be a setting, these are read.
SHOWN = ("title", "displayname", "caption", "linktext", "buttontext", "text", "date", "status")
TARGETS = frozenset({"ri:page", "ri:blog-post", "ri:attachment", "ri:content-entity", "ri:url", "ri:user", "ri:space"})
ADDRESS = re.compile(r"https?://\S+")
# Parameters whose text is the name of a file or the title of a page, where it looks or is known like one.
OF_FILES = ("attachment", "attachmentname", "file", "filename", "image", "picture", "src", "name", "")
OF_PAGES = ("page", "pagetitle", "pagename", "target", "destination", "link", "href", "")
FILE = re.compile(r"[^\s/\\:*?\"<>|][^/\\:*?\"<>|]*\.[A-Za-z]\w{1,4}")


def leads(renderer: Renderer, macro: Macro) -> list[str]:
    """The title that a macro shows and the pages, files and addresses it names, as links and pictures."""
    said = escape(clean(macro.get(*SHOWN)))
    if said.lower() in ("true", "false"):  # a switch
        said = ""
    found = list(
        dict.fromkeys(one for name, part in macro.parameters.items() for one in _targets(renderer, name, part))
    )
    if said and len(found) == 1 and found[0][1]:
        return [link(said, found[0][1])]
    return [one for one in (said, *(_named(name, url) for name, url in found)) if one]


def _named(name: str, url: str) -> str:
    if not name and url.partition("?")[0].lower().endswith(PICTURE_ENDINGS):
        name = clean(unquote(url.partition("?")[0].rsplit("/", 1)[-1]))
    if url and name.lower().endswith(PICTURE_ENDINGS):
        return image(name, url)
    return link(escape(name), url)


def _targets(renderer: Renderer, name: str, parameter: _Element) -> Iterator[tuple[str, str]]:
    """(name, address) of what a parameter points to."""
    inside = [node for node in parameter.iterdescendants() if isinstance(node.tag, str)]
    for node in inside:
        holder = node.getparent()
        if holder is not None and tag_name(node) in TARGETS and tag_name(holder) not in TARGETS:
            yield target_of(renderer, holder)[:2]
    if inside:
        return
    text = value_of(parameter)
    context = renderer.context
    if address := ADDRESS.fullmatch(text):
        page_id = wiki_page_id(context, address.group())
        title = context.wiki.page_title(page_id) if page_id and context.wiki.visible(page_id, context.page_id) else ""
        yield title, address.group()
    elif name in OF_PAGES and (page_id := _page(renderer, text)):
        yield context.wiki.page_title(page_id), page_url(context.base, page_id)
    elif name in OF_FILES and FILE.fullmatch(text):
        yield clean(text), attachment_url(context.base, context.page_id, text)


def _page(renderer: Renderer, text: str) -> str:
    """The id of the page of this title, here or in the space named before a colon."""
    context = renderer.context
    space, colon, title = text.partition(":")
    found = context.wiki.page_id(space.strip(), clean(title).strip()) if colon and title else ""
    return found or context.wiki.page_id(context.space, clean(text))
