"""What a line of Markdown may begin, told by its first characters.

The patterns are those of CommonMark 0.31 and GitHub's tables (spec.commonmark.org,
github.github.com/gfm), but a table's delimiter row may have another number of cells than its header.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]|[ \t\r]*$)")
SETEXT = re.compile(r" {0,3}(=+|-+)[ \t\r]*$")
FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
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
    r" {0,3}<(?:(?P<raw>pre|script|style|textarea|table)(?=[\s>]|$)|(?P<note>!--)|[?!]"
    rf"|/?(?:{_BLOCK_TAGS})(?=[\s/>]|$))",
    re.IGNORECASE,
)
# What ends a paragraph without a blank line; an ordered list only when it starts with 1.
_INTERRUPTS = re.compile(
    rf"{ATX.pattern}|{RULE.pattern}| {{0,3}}(?:>|~~~|```(?=[^`]*$)|[-*+][ \t]+[^\s]|1[.)][ \t]+[^\s])"
)


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
