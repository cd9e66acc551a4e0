"""Marks inside a line: emphasis and code, closed where Markdown can read them."""

from __future__ import annotations

import re

from lxml.etree import _Element

from indexer.confluence.code import span
from indexer.confluence.links import link
from indexer.confluence.markdown import Handler, Renderer, tag_name
from indexer.confluence.targets import href_target

PARAGRAPH_BREAK = re.compile(r"\n\s*\n")
JOINED_SPANS = re.compile(r"(?<=[^`\s])``(?=[^`\s])")  # the border of two spans that are one
NOT_CODE = frozenset({"a", "ac:link", "ac:image", "img", "br", "ac:structured-macro", "ac:macro"})
STAR = re.compile(r"(?<!\\)\*")
# Punctuation at the border of a marked piece that touches a letter: CommonMark sees no mark there
# (it is neither left- nor right-flanking), so the punctuation goes outside.
ENDING = re.compile(r"[.,:;!?»”…]+$")
BEGINNING = re.compile(r"^[«“(]+")


def emphasis(mark: str) -> Handler:
    """``**bold**`` with the marks at the words; none around blocks, in headings or in code."""

    def rule(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
        text = renderer.inner(node, tags)
        bare = text.strip()
        plain = "_noformat" in tags or "_inline" in tags or mark in text or PARAGRAPH_BREAK.search(bare)
        if not bare or plain or bare.startswith(("- ", "|", "```")) or not any(map(str.isalnum, bare)):
            return text
        if "*" in mark and len(STAR.findall(bare)) == 1:
            bare = STAR.sub(r"\\*", bare)
        before = text[: len(text) - len(text.lstrip())]
        after = text[len(text.rstrip()) :]
        if not before and character_before(node).isalnum() and (found := BEGINNING.search(bare)):
            before, bare = found.group(), bare[found.end() :]
        if not after and (node.tail or "")[:1].isalnum() and (found := ENDING.search(bare)):
            after, bare = found.group(), bare[: found.start()]
        return f"{before}{mark}{bare}{mark}{after}"

    return rule


def character_before(node: _Element) -> str:
    """The last character of the text right before the element, "" when it begins its parent."""
    previous, parent = node.getprevious(), node.getparent()
    text = previous.tail if previous is not None else (parent.text if parent is not None else "")
    return (text or "")[-1:]


def inline_code(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """Code in the line; a link or a line break inside divides it, for neither works between the ticks."""
    if "_noformat" in tags:
        return renderer.inner(node, tags)
    inside = renderer.within(tags, "code")
    pieces = [_code_span(renderer.process_text(node.text or "", inside))]
    for child in node:
        if isinstance(child.tag, str):
            name = tag_name(child)
            if name == "a" and child.get("href"):
                renderer.made["links"] += 1
                said = _code_span(renderer.inner(child, inside))
                pieces.append(link(said, href_target(renderer.context, child.get("href") or "")))
            elif any(isinstance(one.tag, str) and tag_name(one) in NOT_CODE for one in child.iter()):
                pieces.append(renderer.process_tag(child, tags))
            else:
                pieces.append(_code_span(renderer.process_tag(child, inside)))
        pieces.append(_code_span(renderer.process_text(child.tail or "", inside)))
    return JOINED_SPANS.sub("", "".join(pieces))


def _code_span(text: str) -> str:
    bare = text.strip()
    if not bare:
        return text
    before = text[: len(text) - len(text.lstrip())]
    return f"{before}{span(bare)}{text[len(text.rstrip()) :]}"
