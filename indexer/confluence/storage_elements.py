"""Rules for the elements of the storage format that are no macros: links, pictures, tasks, signs."""

from __future__ import annotations

from lxml.etree import _Element

from indexer.anchors import confluence_anchor
from indexer.confluence.elements import HTML, nothing
from indexer.confluence.emoticons import emoticon_sign, named_by_file
from indexer.confluence.links import (
    Context,
    attachment_url,
    destination,
    image,
    link,
    page_url,
    titled_url,
)  # fmt: skip
from indexer.confluence.inline import apart
from indexer.confluence.lists import indent
from indexer.confluence.macro import attribute, first
from indexer.confluence.markdown import Handler, Renderer, tag_name
from indexer.confluence.tables import table
from indexer.confluence.targets import href_target
from indexer.confluence.text import clean, escape

INLINE_PARENTS = frozenset(
    {"p", "span", "strong", "em", "b", "i", "u", "a", "li", "ac:link-body", "sub", "sup", "code"}
)


def block(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """A container: its content, apart from what stands before and after."""
    renderer.start_line()
    text = renderer.inner(node, tags).strip("\n ")
    return f"\n\n{text}\n\n" if text else ""


def inline(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    return renderer.inner(node, tags)


def wiki_link(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """``ac:link``: its own text, else the name of its target; the address, else the target's title."""
    body = first(node, "ac:link-body", "ac:plain-text-link-body")
    said = " ".join(renderer.inner(body, tags).split()) if body is not None else ""
    name, url, hint = target_of(renderer, node)
    if "_noformat" in tags or "a" in tags:
        return said or name
    if url:
        renderer.made["links"] += 1
        return link(said or escape(name), url)
    text = said or renderer.process_text(hint or name, tags).strip()
    if first(node, "ri:user") is not None:
        return apart(node, text)
    if hint and clean(hint) not in said:
        renderer.lose("link", hint, "the address of the target is not known here")
        return f"{text} (→ {escape(hint)})" if said else text
    return text


def target_of(renderer: Renderer, node: _Element) -> tuple[str, str, str]:
    """(name to show, address or "", what names the target when there is no address)."""
    context = renderer.context
    anchor = attribute(node, "anchor")
    target = next((child for child in node if isinstance(child.tag, str) and tag_name(child).startswith("ri:")), None)
    if target is None:
        url = f"{context.url}#{destination(heading_anchor(context.title, anchor))}" if anchor else ""
        return anchor, url, ""
    kind = tag_name(target)
    if kind == "ri:page":
        return _page_target(context, target, anchor)
    if kind == "ri:blog-post":
        title = clean(attribute(target, "content-title"))
        return titled_target(context, attribute(target, "space-key"), title, anchor)
    if kind == "ri:attachment":
        return attachment_target(context, target)
    if kind == "ri:user":
        return user_name(renderer, target), "", ""
    if kind == "ri:space":
        key = attribute(target, "space-key")
        return key, f"{context.base}/display/{key}" if key else "", key
    if kind == "ri:content-entity":
        page_id = attribute(target, "content-id")
        return context.wiki.page_title(page_id) or page_id, page_url(context.base, page_id), ""
    if kind == "ri:url":
        return attribute(target, "value"), attribute(target, "value"), ""
    if kind == "ri:shortcut":
        value, key = attribute(target, "parameter"), attribute(target, "key")
        return value or key, "", f"{key}: {value}" if value else key
    return "", "", ""


def heading_anchor(title: str, anchor: str) -> str:
    return confluence_anchor(title, anchor) if title else "".join(anchor.split())


def _page_target(context: Context, target: _Element, anchor: str) -> tuple[str, str, str]:
    title = clean(attribute(target, "content-title"))
    if not title or title == "@self":
        url = f"{context.url}#{destination(heading_anchor(context.title, anchor))}" if anchor else context.url
        return anchor or context.title, url, ""
    return titled_target(context, attribute(target, "space-key"), title, anchor)


def titled_target(context: Context, space: str, title: str, anchor: str) -> tuple[str, str, str]:
    fragment = heading_anchor(title, anchor) if anchor else ""
    page_id = context.wiki.page_id(space or context.space, title)
    if page_id:
        return title, page_url(context.base, page_id, fragment), title
    key = space or context.space
    return title, titled_url(context.base, key, title, fragment) if key else "", title


def attachment_target(context: Context, target: _Element) -> tuple[str, str, str]:
    """A file of this page, or of the page named inside."""
    name = context.wiki.file_name(context.page_id, attribute(target, "file-id")) or attribute(target, "filename")
    owner = first(target, "ri:page", "ri:blog-post", "ri:content-entity")
    shown = clean(name)
    if owner is None:
        return shown, attachment_url(context.base, context.page_id, name), shown
    title = clean(attribute(owner, "content-title"))
    page_id = attribute(owner, "content-id") or context.wiki.page_id(
        attribute(owner, "space-key") or context.space, title
    )
    if page_id:
        return shown, attachment_url(context.base, page_id, name), shown
    return shown, "", f"{shown}, {title}" if title else shown


def user_name(renderer: Renderer, target: _Element) -> str:
    """The name from the user table, else the login, else a neutral word: never a key."""
    for name in ("userkey", "account-id", "username"):
        if (key := attribute(target, name)) and (known := renderer.context.wiki.user(key)):
            return known
    return attribute(target, "username") or renderer.word("a colleague", "сотрудник")


def picture(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """``ac:image`` as a link to the picture, its caption below it."""
    target = first(node, "ri:attachment", "ri:url")
    if target is None:
        renderer.lose("image", "without a file")
        return ""
    renderer.made["images"] += 1
    if tag_name(target) == "ri:url":
        url = attribute(target, "value")
        name = clean(url.partition("?")[0].rsplit("/", 1)[-1])
    else:
        name, url, hint = attachment_target(renderer.context, target)
        if not url:
            name, url = hint, attachment_url("", "", attribute(target, "filename"))
    below = first(node, "ac:caption")
    caption = " ".join(renderer.inner(below, tags).split()) if below is not None else ""
    alternative = clean(attribute(node, "alt") or attribute(node, "title")).strip()
    if sign := emoticon_sign(named_by_file(url), alternative=alternative) if named_by_file(url) else "":
        return sign
    if url.startswith("data:"):
        renderer.lose("image", alternative or "data", "a picture inside the page's own text")
        return escape(alternative)
    text = image(name if not alternative or alternative == caption else alternative, url)
    if (href := attribute(node, "href")) and "a" not in tags:
        text = link(text, href_target(renderer.context, href))
    if caption:
        return f"\n\n{text}\n\n{caption}\n\n" if "_inline" not in tags else f"{text} {caption}"
    parent = node.getparent()
    alone = parent is not None and tag_name(parent) not in INLINE_PARENTS and "_inline" not in tags
    return f"\n\n{text}\n\n" if alone else text


def tasks(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    inside = renderer.within(tags, "li")
    lines: list[str] = []
    for child in node:
        if not isinstance(child.tag, str):
            continue
        if tag_name(child) != "ac:task":
            text = renderer.process_tag(child, inside).strip("\n")
            lines.append(indent(text, "  ") if tag_name(child) == "ac:task-list" and lines else text)
            continue
        body, status = first(child, "ac:task-body"), first(child, "ac:task-status")
        renderer.start_line()
        text = renderer.inner(body, inside).strip("\n ") if body is not None else ""
        done = status is not None and "".join(status.itertext()).strip() == "complete"
        if text:
            lines.append(f"- [{'x' if done else ' '}] {indent(text, '  ')[2:]}")
    joined = "\n".join(line for line in lines if line)
    if not joined:
        return ""
    return f"\n{joined}\n" if "li" in tags else f"\n\n{joined}\n\n"


def emoticon(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    emoji = (attribute(node, f"emoji-{part}") for part in ("fallback", "shortname", "id"))
    return emoticon_sign(attribute(node, "name"), *emoji)


STORAGE: dict[str, Handler] = {
    **HTML,
    "table": table,
    "ac:link": wiki_link,
    "ac:image": picture,
    "ac:task-list": tasks,
    "ac:emoticon": emoticon,
    **dict.fromkeys(("ac:layout", "ac:layout-section", "ac:layout-cell", "ac:rich-text-body", "ac:task-body"), block),
    **dict.fromkeys(("ac:inline-comment-marker", "ac:link-body", "ac:plain-text-link-body"), inline),
    "ac:plain-text-body": inline,
    **dict.fromkeys(
        (
            "ac:parameter", "ac:default-parameter", "ac:placeholder", "ac:task-id", "ac:task-uuid", "ac:task-status",
            "ac:adf-attribute", "ac:adf-mark", "ri:page", "ri:attachment", "ri:user", "ri:space", "ri:url",
            "ri:shortcut", "ri:blog-post", "ri:content-entity", "at:declarations", "at:var",
        ),
        nothing,
    ),
}  # fmt: skip
