"""Parts of a page that HTML has and the editor of the wiki has not."""

from __future__ import annotations

from lxml.etree import _Element

from indexer.confluence.parse.links import link
from indexer.confluence.parse.targets import href_target
from indexer.confluence.parse.text import clean, escape
from indexer.confluence.render.markdown import Handler, Renderer


def video(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    source = next((inner.get("src") for inner in node.iter("video", "audio", "source") if inner.get("src")), "")
    return link(renderer.inner(node, tags), href_target(renderer.context, source)) if source else ""


def frame(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """Another page inside this one: its address."""
    url = href_target(renderer.context, node.get("src") or "") if node.get("src") else ""
    return f"\n\n{link('', url)}\n\n" if url else ""


def embedded(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """A file played inside the page: its address, once; the parser takes what follows an ``embed`` for its content."""
    url, inner = node.get("src") or node.get("data") or "", renderer.inner(node, tags)
    if not url or next(node.iter("embed"), node) is not node:
        return inner
    target = href_target(renderer.context, url)
    return f"{link('', target)} {inner.lstrip()}" if node.tag == "embed" else link(" ".join(inner.split()), target)


def area(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """A place in a picture that leads to a page."""
    name = clean(node.get("alt") or node.get("title") or "").strip()
    url = href_target(renderer.context, node.get("href") or "") if node.get("href") else ""
    return f" {link(escape(name), url)} " if url and (name or url.startswith("http")) else ""


def check_box(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    if node.get("type") != "checkbox":
        return ""
    return "\\[x] " if node.get("checked") is not None else "\\[ ] "


def abbreviation(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """With what the reader sees when he points at it."""
    text, whole = renderer.inner(node, tags), clean(node.get("title") or "").strip()
    return f"{text} ({escape(whole)})" if whole and whole != text.strip() else text


def script(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """A formula that the browser would draw; all else is no content."""
    text = (node.text or "").strip() if (node.get("type") or "").startswith("math/tex") else ""
    return f"${' '.join(text.split())}$" if text else ""


PARTS_OF_HTML: dict[str, Handler] = {
    **dict.fromkeys(("video", "audio"), video),
    **dict.fromkeys(("abbr", "acronym"), abbreviation),
    **dict.fromkeys(("object", "embed"), embedded),
    "area": area,
    "iframe": frame,
    "input": check_box,
    "script": script,
}
