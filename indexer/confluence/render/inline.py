"""Marks inside a line: emphasis and code, closed where Markdown can read them."""

from __future__ import annotations

import re

from lxml.etree import _Element

from askwiki.markdown.block_parser_lines import opening_fence
from indexer.confluence.parse.links import destination, link
from indexer.confluence.parse.targets import href_target
from indexer.confluence.parse.text import has_lone_star, plain_stars
from indexer.confluence.render.code import span
from indexer.confluence.render.macro import attribute
from indexer.confluence.render.markdown import Handler, Renderer, tag_name

PARAGRAPH_BREAK = re.compile(r"\n\s*\n")
NOT_CODE = frozenset({"a", "ac:link", "ac:image", "img", "br", "ac:structured-macro", "ac:macro"})
# Punctuation at the border of a marked piece that touches a letter: CommonMark sees no mark there
# (it is neither left- nor right-flanking), so the punctuation goes outside.
BORDER_TILDE = re.compile(r"^~(?!~)|(?<![~\\])~$")
ENDING = re.compile(r"(?<![.,:;!?«»“”…(){}%/=+№–—-])[.,:;!?«»“”…(){}%/=+№–—-]++$")
BEGINNING = re.compile(r"^[.,:;!?«»“”…(){}%/=+№–—-]+")
FRAMED = frozenset({"time", "ac:link", "ac:structured-macro"})  # what they show is not in their text
INLINE = frozenset({"a", "b", "big", "em", "font", "i", "ins", "small", "span", "strong", "u", "ac:link-body"})


def emphasis(mark: str) -> Handler:
    """``**bold**`` with the marks at the words; none around blocks, in headings or in code."""

    def rule(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
        text = renderer.inner(node, tags)
        bare = text.strip()
        plain = "_noformat" in tags or "_inline" in tags or mark in text or PARAGRAPH_BREAK.search(bare)
        block = bare.startswith(("- ", "|")) or opening_fence(bare.partition("\n")[0])
        if not bare or plain or block or not any(map(str.isalnum, bare)):
            return text
        if mark == "~~":
            bare = BORDER_TILDE.sub(r"\\~", bare)
        elif has_lone_star(bare):
            bare = plain_stars(bare)
        before = text[: len(text) - len(text.lstrip())]
        after = text[len(text.rstrip()) :]
        if not before and not bare[0].isalnum() and neighbour(node, -1).isalnum():
            before, bare = _outside(BEGINNING, bare)
            if not bare.lstrip(mark)[0].isalnum():
                return _tagged(mark, text)
        if not after and not bare[-1].isalnum() and neighbour(node, 0).isalnum():
            after, bare = _outside(ENDING, bare)
            if not bare.rstrip(mark)[-1].isalnum():
                return _tagged(mark, text)
        return f"{before}{mark}{bare}{mark}{after}"

    return rule


def apart(node: _Element, text: str) -> str:
    """A name, a date or a status: the wiki draws each in a frame, so it never grows into the word beside it."""
    if not text.strip():
        return text
    before = " " if neighbour(node, -1).isalnum() else ""
    after = " " if neighbour(node, 0).isalnum() else ""
    return f"{before}{text}{after}"


def _outside(pattern: re.Pattern[str], bare: str) -> tuple[str, str]:
    """(punctuation at that border, the rest); the end of a link is none."""
    found = pattern.search(bare) if "](" not in bare else None
    return (found.group(), pattern.sub("", bare)) if found else ("", bare)


def _tagged(mark: str, text: str) -> str:
    """Where no mark is read: only that something is struck out must still be said."""
    return f"<del>{text}</del>" if mark == "~~" else text


def neighbour(node: _Element, place: int) -> str:
    """The character right before (-1) or after (0) an element in its line, "" where the line ends there."""
    parent = node.getparent()
    beside = node.getprevious() if place else node.getnext()
    text = (
        node.tail if not place else (beside.tail if beside is not None else parent.text if parent is not None else "")
    )
    if text:
        return text[place]
    if beside is not None:
        name = tag_name(beside) if isinstance(beside.tag, str) else ""
        shown = name in FRAMED and attribute(beside, "name") != "anchor"
        inner = "".join(beside.itertext()) if name in INLINE else name if shown else ""
        return inner[place] if inner else ""
    return neighbour(parent, place) if parent is not None and tag_name(parent) in INLINE else ""


def inline_code(renderer: Renderer, node: _Element, tags: frozenset[str]) -> str:
    """Code in the line; a link or a line break inside divides it, for neither works between the ticks."""
    if "_noformat" in tags:
        return renderer.inner(node, tags)
    inside = renderer.within(tags, "code")
    pieces: list[str] = []
    run = renderer.process_text(node.text or "", inside)  # code so far that is one span
    for child in node:
        if isinstance(child.tag, str):
            name = tag_name(child)
            if name == "a" and child.get("href"):
                said, url = (
                    _code_span(renderer.inner(child, inside)),
                    href_target(renderer.context, child.get("href") or ""),
                )
                renderer.account("cards" if child.get("data-card-appearance") else "links", child, destination(url))
                pieces += [_code_span(run), link(said, url)]
                run = ""
            elif any(isinstance(one.tag, str) and tag_name(one) in NOT_CODE for one in child.iter()):
                pieces += [_code_span(run), renderer.process_tag(child, tags)]
                run = ""
            else:
                run += renderer.process_tag(child, inside)
        run += renderer.process_text(child.tail or "", inside)
    return "".join([*pieces, _code_span(run)])


def _code_span(text: str) -> str:
    bare = text.strip()
    if not bare:
        return text
    before = text[: len(text) - len(text.lstrip())]
    return f"{before}{span(bare)}{text[len(text.rstrip()) :]}"
