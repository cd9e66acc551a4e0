"""A page's Markdown as its heading tree: one section a heading, each knowing the way to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

from askwiki.data import Page, Section
from askwiki.markdown.blocks import Block, parse_blocks
from indexer.chunking.anchors import Anchors

_SPECIAL = re.compile(r"[\\*_`~<&\[{]")
_LINK = re.compile(r"!?\[((?:[^\[\]]++|\[[^\[\]]*+\])*+)\]\((?:[^()]++|\([^()]*+\))*+\)")
_IMAGE = re.compile(r"!\[[^\[\]]*+\]\((?:[^()]++|\([^()]*+\))*+\)")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ATTRIBUTES = re.compile(r"(?<!\s)\s*+\{[#.:][^{}]*+\}\s*+$")
# An escaped character or code: read as it is, so that nothing of it is taken for a mark.
_LITERAL = re.compile(r"\\([!-/:-@\[-`{-~])|(?<!`)(`+)(?!`)(.*?)(?<!`)\2(?!`)")
_HELD = re.compile("\ue000(\\d+)\ue001")
_MARK = re.compile(r"\*{1,3}(?=\S)|(?<=\S)\*{1,3}|~~|`+|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)")


def split_sections(page: Page, blocks: Sequence[Block] | None = None) -> list[Section]:
    """The sections in page order; joined they give ``page.markdown`` back, letter for letter.

    ``blocks``: those of the page's Markdown, when they are known already.

    A level that was skipped counts as the next one. A page without text is one empty section.
    """
    sections: list[Section] = []
    anchors = Anchors(page.title, page.url)
    open_headings: list[tuple[int, str]] = []  # (level, title) from the root to here
    level, anchor, start = 0, "", 0
    for block in parse_blocks(page.markdown) if blocks is None else blocks:
        if block.kind != "heading":
            continue
        heading = plain(block.title)
        if page.markdown[start : block.start].strip():
            sections.append(_section(page, sections, level, open_headings, anchor, start, block.start))
            start = block.start
        anchor = anchors.next(heading)
        level = block.level
        while open_headings and open_headings[-1][0] >= level:
            open_headings.pop()
        open_headings.append((level, heading or block.title))
    sections.append(_section(page, sections, level, open_headings, anchor, start, len(page.markdown)))
    return sections


def _section(
    page: Page, before: list[Section], level: int, headings: list[tuple[int, str]], anchor: str, start: int, end: int
) -> Section:
    titles = tuple([title for _, title in headings])
    return Section(page.id, len(before), level, titles, anchor, page.markdown[start:end])


def plain(inline: str) -> str:
    """A heading as a person reads it: no marks, links, tags, attributes; escapes undone."""
    if not _SPECIAL.search(inline):
        return " ".join(inline.split())
    held: list[str] = []

    def hold(literal: re.Match[str]) -> str:
        held.append(literal[1] or literal[3])
        return f"\ue000{len(held) - 1}\ue001"

    text = _LITERAL.sub(hold, _ATTRIBUTES.sub("", inline))
    text = _LINK.sub(r"\1", _IMAGE.sub("", text))
    text = unescape(_MARK.sub("", _TAG.sub("", text)))
    return " ".join(_HELD.sub(lambda mark: held[int(mark[1])], text).split())


def same_title(first: str, second: str) -> bool:
    """Equal but for case, ``ё``, blanks and punctuation."""
    return _letters(first) == _letters(second) != ""


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold().replace("ё", "е"))
