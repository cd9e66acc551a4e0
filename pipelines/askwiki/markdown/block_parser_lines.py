"""The lines of the block parser: what a line of Markdown may begin, and where a block that has begun ends.

The patterns are those of CommonMark 0.31 and GitHub's tables (spec.commonmark.org,
github.github.com/gfm), but a table's delimiter row may have another number of cells than its header.

``lines`` are the page's; a line of blanks only is empty in them, and ``at`` is the block's first line.
Functions named after the end of a block give the number of the line after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]|[ \t\r]*$)")
SETEXT = re.compile(r" {0,3}(=+|-+)[ \t\r]*$")
# The run of signs that opens a block of code: of backticks only where no other follows, for that were a code span.
RUN = r"(?:`{3,}+(?=[^`\n]*$)|~{3,}+)"
FENCE_DEPTH = 3  # columns that a fence may stand deeper than the page, or than the text of the item around it
_OPENING = re.compile(rf"[ \t]*({RUN})")
RULE = re.compile(r" {0,3}(?P<sign>[-*_])[ \t]*(?:(?P=sign)[ \t]*){2,}\r?$")
ITEM = re.compile(rf"(?!{RULE.pattern})[ \t]*(?P<item>[-*+]|\d{{1,9}}[.)])(?:[ \t]|\r?$)")
_DELIMITER = re.compile(r"[ \t]*+(?=[^|]*\|)\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t\r]*+$")
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
# Like the specification's seven beginnings, but a lone inline tag (the seventh) starts no block.
HTML = re.compile(
    r" {0,3}<(?:(?P<raw>pre|script|style|textarea|table)(?=[\s>]|$)"  # <table class="x">
    r"|(?P<note>!--)"  # <!-- a comment -->
    r"|[?!]"  # <?xml version="1.0"?>, <!DOCTYPE html>
    rf"|/?(?:{_BLOCK_TAGS})(?=[\s/>]|$))",  # <div>, </details>
    re.IGNORECASE,
)
# What ends a paragraph without a blank line; an ordered list only when it starts with 1.
_INTERRUPTS = re.compile(
    rf"{ATX.pattern}"  # ## A
    rf"|{RULE.pattern}"  # * * *
    r"| {0,3}(?:>"  # > quoted
    rf"|{RUN}"  # ```sh
    r"|[-*+][ \t]+[^\s]"  # - item
    r"|1[.)][ \t]+[^\s])"  # 1. item
)
_ITEM_BLANKS = 4  # behind the sign of an item; more are the depth of code in it
# A longer underlined "heading" is a paragraph with a rule below it.
SETEXT_CHARACTERS = 200


def heading_title(line: str, heading: re.Match[str]) -> str | None:
    """The text of a heading behind its signs, without those that close it; None when there is none."""
    title = line[heading.end() :].rstrip(" \t\r")
    closed = title.rstrip("#")
    title = closed if closed.endswith((" ", "\t")) else title
    return title.strip() if title.strip("# \t") else None


def is_prose(line: str) -> bool:
    """The usual line: it begins with a letter and is no row of a table, so that it begins nothing."""
    return line[0].isalpha() and "|" not in line


def is_table(lines: Sequence[str], at: int) -> bool:
    return "|" in lines[at] and at + 1 < len(lines) and _DELIMITER.match(lines[at + 1]) is not None


def interrupts(line: str) -> bool:
    """Whether the line ends a paragraph or a table above it."""
    return _INTERRUPTS.match(line) is not None


def indent(line: str) -> int:
    """Columns before the first letter; a tab goes to the next multiple of four."""
    if line[:1] not in (" ", "\t"):
        return 0
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


def opening_fence(line: str, column: int = 0) -> str:
    """The signs of a line that opens a block of code, empty when it opens none.

    ``column``: where the text of the list item around it begins, 0 outside of lists.
    """
    fence = _OPENING.match(line)
    return fence[1] if fence and indent(line) <= column + FENCE_DEPTH else ""


def closes_fence(line: str, fence: str, column: int) -> bool:
    """Whether the line closes what ``fence`` opened in ``column``: the same sign, at least as many, nothing behind.

    It may stand a little deeper than the opening one, as the specification has it for those that open at the edge.
    """
    signs = line.strip(" \t\r\n")
    return signs.startswith(fence) and not signs.strip(fence[0]) and indent(line) <= column + FENCE_DEPTH


def item_text(line: str, item: re.Match[str]) -> tuple[int, str]:
    """Column and text of what stands behind the sign of an item; behind more than four blanks, it is code."""
    start = indent(line) + len(item["item"])
    behind = line[item.end("item") :].rstrip("\r\n")
    blanks = len(behind) - len(behind.lstrip(" \t"))
    if blanks > _ITEM_BLANKS or blanks == len(behind):
        return start + 1, behind[1:]
    return start + blanks, behind[blanks:]


def paragraph_end(lines: Sequence[str], at: int) -> tuple[int, int, str]:
    """(line after it, level, title): a paragraph has level 0, unless an underline makes it a heading."""
    after = at + 1
    while after < len(lines) and (line := lines[after]):
        if not is_prose(line):
            if underline := SETEXT.match(line):
                title = " ".join(part.strip() for part in lines[at:after])
                if len(title) <= SETEXT_CHARACTERS:
                    return after + 1, 1 if underline[1][0] == "=" else 2, title
            if _begins_block(lines, after):
                break
        after += 1
    return after, 0, ""


def table_end(lines: Sequence[str], at: int) -> int:
    at += 2
    while at < len(lines) and lines[at] and not (interrupts(lines[at]) or HTML.match(lines[at])):
        at += 1
    return at


def fence_end(lines: Sequence[str], at: int, fence: str, column: int) -> int:
    """After the line that closes ``fence``, opened in ``column`` of line ``at``, or the last line of all."""
    after = at + 1
    while after < len(lines) and not closes_fence(lines[after], fence, column):
        after += 1
    return min(after + 1, len(lines))


def quote_end(lines: Sequence[str], at: int) -> int:
    """Quoted lines and the unmarked lines that go on with their last paragraph."""
    at += 1
    while at < len(lines) and (line := lines[at]):
        if not line.lstrip(" ").startswith(">") and _begins_block(lines, at):
            break
        at += 1
    return at


def list_end(lines: Sequence[str], at: int) -> int:
    """All items, what is indented under them, and unmarked lines that go on with a paragraph."""
    content = 0  # the least indentation of a line that still belongs to the item; nested items may have less
    column = 0  # where the text of the last item begins
    while at < len(lines):
        line = lines[at]
        if not line:
            following = skip_blank(lines, at)
            if following == len(lines) or not (indent(lines[following]) >= content or ITEM.match(lines[following])):
                return at
            at = following
            continue
        depth = indent(line)
        inside = depth >= content
        fence = opening_fence(line, column) if inside else ""
        if item := ITEM.match(line):
            content = depth + (2 if item["item"] in "-*+" else 3)
            column, text = item_text(line, item)
            fence = opening_fence(text)
        if fence:
            at = fence_end(lines, at, fence, column if item else depth)
            continue
        if not item and not inside and _begins_block(lines, at):
            return at
        at += 1
    return at


def code_end(lines: Sequence[str], at: int) -> int:
    last = at
    for after in range(at + 1, len(lines)):
        if lines[after]:
            if indent(lines[after]) < 4:
                break
            last = after
    return last + 1


def html_end(lines: Sequence[str], at: int, opening: re.Match[str], unclosed: set[str]) -> int:
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
    while after < len(lines) and lines[after]:
        after += 1
    return after


def skip_blank(lines: Sequence[str], at: int) -> int:
    while at < len(lines) and not lines[at]:
        at += 1
    return at


def _begins_block(lines: Sequence[str], at: int) -> bool:
    """Whether another block begins here without a blank line before it."""
    line = lines[at]
    if interrupts(line) or ("<" in line[:4] and HTML.match(line)):
        return True
    return is_table(lines, at)
