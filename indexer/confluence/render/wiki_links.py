"""Links of the storage format: what they show, where they lead, what names the target when nobody knows the way."""

from __future__ import annotations

from lxml.etree import _Element

from indexer.chunking.anchors import confluence_anchor
from indexer.confluence.parse.links import Context, attachment_url, destination, link, page_url, titled_url
from indexer.confluence.parse.text import clean, escape
from indexer.confluence.render.inline import apart
from indexer.confluence.render.macro import attribute, first
from indexer.confluence.render.markdown import Renderer, tag_name


def wiki_link(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """``ac:link``: its own text, else the name of its target; the address, else the target's title."""
    body = first(node, "ac:link-body", "ac:plain-text-link-body")
    said = " ".join(renderer.inner(body, tags).split()) if body is not None else ""
    name, url, hint = target_of(renderer, node)
    if "_noformat" in tags or "a" in tags:
        renderer.account("links", node, "inside code or another link", "dropped")
        return said or name
    if url:
        renderer.account("links", node, destination(url))
        return link(said or escape(name), url)
    text = said or renderer.process_text(hint or name, tags).strip()
    renderer.account("links", node, text, "marked")
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


def attachment_target(context: Context, target: _Element, holder: _Element | None = None) -> tuple[str, str, str]:
    """A file of this page, or of the page named inside (or beside: the holder)."""
    name = context.wiki.file_name(context.page_id, attribute(target, "file-id")) or attribute(target, "filename")
    owner = first(target, "ri:page", "ri:blog-post", "ri:content-entity")
    owner = holder if owner is None else owner
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
