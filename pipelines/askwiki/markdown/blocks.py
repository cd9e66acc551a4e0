"""Markdown into its top-level blocks, each a slice of the text; joined they give the text back.

The block rules are those of CommonMark 0.31 and GitHub's tables (spec.commonmark.org,
github.github.com/gfm), as far as they decide where a block ends and what is a heading. Text that only
looks like a heading (in fences, tables, quotes, lists, HTML) stays inside its block. Two things are
more forgiving than the specification, because wiki pages are: a table's delimiter row may have another
number of cells than its header, and an HTML table goes on over blank lines up to its end tag.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Literal, NamedTuple

from askwiki.markdown.block_parser_lines import (
    ATX,
    HTML,
    ITEM,
    RULE,
    code_end,
    fence_end,
    heading_title,
    html_end,
    indent,
    is_prose,
    is_table,
    list_end,
    opening_fence,
    paragraph_end,
    quote_end,
    skip_blank,
    table_end,
)

BlockKind = Literal["heading", "paragraph", "list", "table", "fence", "code", "quote", "html", "rule"]


class Block(NamedTuple):
    """One block: ``text[start:end]``, the blank lines after it included."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0  # of a heading, 1 to 6
    title: str = ""  # of a heading, inline marks still in it


def parse_blocks(text: str) -> list[Block]:
    """All blocks in order; the first begins at 0, the last ends at ``len(text)``."""
    lines = text.split("\n")
    offsets = list(accumulate(map(len, lines), initial=0))  # without the lines' ends
    lines = ["" if line.isspace() else line for line in lines]
    blocks: list[Block] = []
    at, start = skip_blank(lines, 0), 0
    unclosed: set[str] = set()
    while at < len(lines):
        kind, after, level, title = _read(lines, at, unclosed)
        at = skip_blank(lines, after)
        end = min(offsets[at] + at, len(text))
        blocks.append(Block(kind, start, end, level, title))
        start = end
    if not blocks and text:
        return [Block("paragraph", 0, len(text))]
    return blocks


def blocks_of_part(text: str, blocks: Sequence[Block], start: int, end: int) -> list[Block]:
    """The blocks of ``text[start:end]``, places counted in the whole text; read anew where one is cut through."""
    first = bisect_left(blocks, start, key=attrgetter("start"))
    after = bisect_left(blocks, end, key=attrgetter("start"))
    part = list(blocks[first:after])
    if part and part[0].start == start and part[-1].end == end:
        return part
    anew = parse_blocks(text[start:end])
    return [block._replace(start=block.start + start, end=block.end + start) for block in anew]


def _read(lines: Sequence[str], at: int, unclosed: set[str]) -> tuple[BlockKind, int, int, str]:
    """(kind, line after the block, level, title) of the block that begins at line ``at``."""
    line = lines[at]
    if not is_prose(line):
        if line[0] in " \t" and indent(line) >= 4:
            return "code", code_end(lines, at), 0, ""
        first = line.lstrip(" ")[0]
        if first == "#" and (heading := ATX.match(line)) and (title := heading_title(line, heading)) is not None:
            return "heading", at + 1, len(heading[1]), title
        if first in "`~" and (fence := opening_fence(line)):
            return "fence", fence_end(lines, at, fence, indent(line)), 0, ""
        if first in "-*_" and RULE.match(line):
            return "rule", at + 1, 0, ""
        if first == ">":
            return "quote", quote_end(lines, at), 0, ""
        if ITEM.match(line):
            return "list", list_end(lines, at), 0, ""
        if first == "<" and (html := HTML.match(line)):
            return "html", html_end(lines, at, html, unclosed), 0, ""
        if is_table(lines, at):
            return "table", table_end(lines, at), 0, ""
    after, level, title = paragraph_end(lines, at)
    return "heading" if level else "paragraph", after, level, title
