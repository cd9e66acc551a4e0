"""Markdown into its top-level blocks, each a slice of the text; joined they give the text back.

The block rules are those of CommonMark 0.31 and GitHub's tables (spec.commonmark.org,
github.github.com/gfm), as far as they decide where a block ends and what is a heading. Text that only
looks like a heading (in fences, tables, quotes, lists, HTML) stays inside its block. Two things are
more forgiving than the specification, because wiki pages are: a table's delimiter row may have another
number of cells than its header, and an HTML table goes on over blank lines up to its end tag.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Literal, NamedTuple

BlockKind = Literal["heading", "paragraph", "list", "table", "fence", "code", "quote", "html", "rule"]

# A longer underlined "heading" is a paragraph with a rule below it.
SETEXT_CHARACTERS = 200


class Block(NamedTuple):
    """One block: ``text[start:end]``, the blank lines after it included."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0  # of a heading, 1 to 6
    title: str = ""  # of a heading, inline marks still in it


_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t\r]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t\r]*$")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}\r?$")
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+|\r?$)")
_DELIMITER = re.compile(r"[ \t]*(?=[^|]*\|)\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t\r]*$")
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
# Like the specification's seven beginnings, but a lone inline tag (the seventh) starts no block.
_HTML = re.compile(
    r" {0,3}<(?:(?P<raw>pre|script|style|textarea|table)(?=[\s>]|$)|(?P<note>!--)|[?!]"
    rf"|/?(?:{_BLOCK_TAGS})(?=[\s/>]|$))",
    re.IGNORECASE,
)
# What ends a paragraph without a blank line; an ordered list only when it starts with 1.
_INTERRUPTS = re.compile(
    rf"(?:{_ATX.pattern}|{_RULE.pattern.replace(chr(92) + '1', chr(92) + '3')}"
    r"| {0,3}(?:>|~~~|```(?=[^`]*$)|[-*+][ \t]+[^\s]|1[.)][ \t]+[^\s]))"
)


def parse_blocks(text: str) -> list[Block]:
    """All blocks in order; the first begins at 0, the last ends at ``len(text)``."""
    lines = text.split("\n")
    offsets = [0, *accumulate(len(line) + 1 for line in lines)]
    offsets[-1] = len(text)
    blocks: list[Block] = []
    at, start = _skip_blank(lines, 0), 0
    unclosed: set[str] = set()
    while at < len(lines):
        kind, after, level, title = _read(lines, at, unclosed)
        at = _skip_blank(lines, after)
        blocks.append(Block(kind, start, offsets[at], level, title))
        start = offsets[at]
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
    if line[0].isalpha() and "|" not in line:
        return _paragraph(lines, at)  # the usual case
    if line[0] in " \t" and _indent(line) >= 4:
        return "code", _code_end(lines, at), 0, ""
    if (heading := _ATX.match(line)) and (heading[2] or "").strip("# \t"):
        return "heading", at + 1, len(heading[1]), heading[2].strip()
    if _FENCE.match(line):
        return "fence", _fence_end(lines, at), 0, ""
    if _RULE.match(line):
        return "rule", at + 1, 0, ""
    if line.lstrip(" ").startswith(">"):
        return "quote", _quote_end(lines, at), 0, ""
    if _ITEM.match(line):
        return "list", _list_end(lines, at), 0, ""
    if html := _HTML.match(line):
        return "html", _html_end(lines, at, html, unclosed), 0, ""
    if _is_table(lines, at):
        return "table", _table_end(lines, at + 2), 0, ""
    return _paragraph(lines, at)


def _paragraph(lines: Sequence[str], at: int) -> tuple[BlockKind, int, int, str]:
    """A paragraph, or the heading that it becomes by an underline."""
    after = at + 1
    while after < len(lines) and not _is_blank(lines[after]):
        line = lines[after]
        if underline := _SETEXT.match(line):
            title = " ".join(part.strip() for part in lines[at:after])
            if len(title) <= SETEXT_CHARACTERS:
                return "heading", after + 1, 1 if underline[1][0] == "=" else 2, title
        if _interrupts(lines, after):
            break
        after += 1
    return "paragraph", after, 0, ""


def _interrupts(lines: Sequence[str], at: int) -> bool:
    line = lines[at]
    if _INTERRUPTS.match(line) or ("<" in line[:4] and _HTML.match(line)):
        return True
    return _is_table(lines, at)


def _is_table(lines: Sequence[str], at: int) -> bool:
    return "|" in lines[at] and at + 1 < len(lines) and _DELIMITER.match(lines[at + 1]) is not None


def _table_end(lines: Sequence[str], at: int) -> int:
    while at < len(lines) and not _is_blank(lines[at]) and not _INTERRUPTS.match(lines[at]):
        at += 1
    return at


def _fence_end(lines: Sequence[str], at: int) -> int:
    """After the closing fence: the same character, at least as many, nothing behind it."""
    opening = _FENCE.match(lines[at])
    mark = opening[1] if opening else "```"
    for after in range(at + 1, len(lines)):
        line = lines[after].strip()
        if line.startswith(mark) and not line.strip(mark[0]):
            return after + 1
    return len(lines)


def _quote_end(lines: Sequence[str], at: int) -> int:
    """Quoted lines and the unmarked lines that go on with their last paragraph."""
    at += 1
    while at < len(lines) and not _is_blank(lines[at]):
        quoted = lines[at].lstrip(" ").startswith(">")
        if not quoted and _interrupts(lines, at):
            break
        at += 1
    return at


def _list_end(lines: Sequence[str], at: int) -> int:
    """All items, what is indented under them, and unmarked lines that go on with a paragraph."""
    content = _content_column(lines[at], _ITEM.match(lines[at]))
    at += 1
    while at < len(lines):
        line = lines[at]
        if _is_blank(line):
            following = _skip_blank(lines, at)
            if following == len(lines) or not _goes_on(lines[following], content):
                return at
            at = following
            continue
        inside = _indent(line) >= content
        if inside and line.lstrip()[0] in "`~" and _FENCE.match(line):
            at = _fence_end(lines, at)
            continue
        if item := _item(line):
            content = _content_column(line, item)
        elif not inside and _interrupts(lines, at):
            return at
        at += 1
    return at


def _goes_on(line: str, content: int) -> bool:
    """Whether a line after a blank one still belongs to the list."""
    return _indent(line) >= content or _item(line) is not None


def _item(line: str) -> re.Match[str] | None:
    return None if line.lstrip()[0].isalpha() or _RULE.match(line) else _ITEM.match(line)


def _content_column(line: str, item: re.Match[str] | None) -> int:
    """The least indentation of a line that still belongs to the item; nested items may have less."""
    return _indent(line) + (2 if item is None or item[2] in "-*+" else 3)


def _code_end(lines: Sequence[str], at: int) -> int:
    last = at
    for after in range(at + 1, len(lines)):
        if not _is_blank(lines[after]):
            if _indent(lines[after]) < 4:
                break
            last = after
    return last + 1


def _html_end(lines: Sequence[str], at: int, opening: re.Match[str], unclosed: set[str]) -> int:
    """The end tag of what may hold blank lines (pre, table, comment …), else the next blank line.

    ``unclosed`` remembers tags without an end, so that a long page is searched for each only once.
    """
    name = (opening["raw"] or opening["note"] or "").lower()
    if name and name not in unclosed:
        closing = re.compile("-->" if name == "!--" else rf"</{name}\s*>", re.IGNORECASE)
        nested = re.compile(rf"<{name}(?=[\s>]|$)", re.IGNORECASE) if name == "table" else None
        depth = 0
        for after in range(at, len(lines)):
            depth += len(nested.findall(lines[after])) if nested else after == at
            depth -= len(closing.findall(lines[after]))
            if depth <= 0:
                return after + 1
        unclosed.add(name)
    after = at + 1
    while after < len(lines) and not _is_blank(lines[after]):
        after += 1
    return after


def _skip_blank(lines: Sequence[str], at: int) -> int:
    while at < len(lines) and _is_blank(lines[at]):
        at += 1
    return at


def _is_blank(line: str) -> bool:
    return not line or line.isspace()


def _indent(line: str) -> int:
    """Columns before the first letter; a tab goes to the next multiple of four."""
    column = len(line) - len(line.lstrip(" "))
    if "\t" not in line[column : column + 1]:
        return column
    for character in line[column:]:
        if character == "\t":
            column += 4 - column % 4
        elif character == " ":
            column += 1
        else:
            break
    return column
