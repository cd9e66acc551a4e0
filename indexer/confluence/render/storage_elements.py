"""Rules for the elements of the storage format that are no macros: pictures, tasks, signs, containers."""

from __future__ import annotations

from lxml.etree import _Element

from indexer.confluence.parse.links import attachment_url, destination, image, is_other_file, link
from indexer.confluence.parse.targets import href_target
from indexer.confluence.parse.text import clean, escape
from indexer.confluence.render.elements import HTML, nothing
from indexer.confluence.render.emoticons import emoticon_sign, named_by_file
from indexer.confluence.render.lists import after, indent
from indexer.confluence.render.macro import attribute, first
from indexer.confluence.render.markdown import Handler, Renderer, tag_name
from indexer.confluence.render.tables import table
from indexer.confluence.render.wiki_links import attachment_target, wiki_link

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


def picture(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """``ac:image`` as a link to the picture (to the file, when it is none), its caption below it."""
    target = first(node, "ri:attachment", "ri:url")
    if target is None:
        renderer.lose("image", "without a file")
        renderer.account("images", node, "without a file", "dropped")
        return ""
    name, url = _drawn(renderer, target)
    below = first(node, "ac:caption")
    caption = " ".join(renderer.inner(below, tags).split()) if below is not None else ""
    alternative = clean(attribute(node, "alt") or attribute(node, "title")).strip()
    if sign := emoticon_sign(named_by_file(url), alternative=alternative) if named_by_file(url) else "":
        renderer.account("images", node, "drawn as a sign", "dropped")
        return sign
    if url.startswith("data:"):
        renderer.lose("image", alternative or "data", "a picture inside the page's own text")
        renderer.account("images", node, "a picture inside the page's own text", "dropped")
        return f"{escape(alternative)} {caption}".strip()
    renderer.account("images", node, destination(url))
    shown = name if not alternative or alternative == caption else alternative
    text = link(escape(shown), url) if is_other_file(name) else image(shown, url)
    if (href := attribute(node, "href")) and "a" not in tags and not is_other_file(name):
        text = link(text, href_target(renderer.context, href))
    if caption:
        return f"\n\n{text}\n\n{caption}\n\n" if "_inline" not in tags else f"{text} {caption}"
    return text if "_inline" in tags or _in_line(node) else f"\n\n{text}\n\n"


def _drawn(renderer: Renderer, target: _Element) -> tuple[str, str]:
    """(name, address) of what an image shows."""
    if tag_name(target) == "ri:url":
        url = attribute(target, "value")
        return clean(url.partition("?")[0].rsplit("/", 1)[-1]), url
    name, url, hint = attachment_target(renderer.context, target)
    return (name, url) if url else (hint, attachment_url("", "", attribute(target, "filename")))


def _in_line(node: _Element) -> bool:
    parent = node.getparent()
    return parent is None or tag_name(parent) in INLINE_PARENTS


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
            renderer.account("tasks", child, "")
            lines.append(f"- [{'x' if done else ' '}] {indent(text, '  ')[2:]}")
        for below in child:  # Cloud writes the tasks below a task beside its body
            if isinstance(below.tag, str) and tag_name(below) == "ac:task-list":
                lines.append(indent(renderer.process_tag(below, inside).strip("\n"), "  " if text else ""))
    joined = "\n".join(line for line in lines if line)
    if not joined:
        return ""
    return f"\n{joined}{after(node)}" if "li" in tags else f"\n\n{joined}\n\n"


def emoticon(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    emoji = (attribute(node, f"emoji-{part}") for part in ("fallback", "shortname", "id"))
    sign = emoticon_sign(attribute(node, "name"), *emoji)
    renderer.account("signs", node, sign)
    return sign


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
