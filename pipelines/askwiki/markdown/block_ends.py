"""Where a block that has begun on a line of Markdown ends: each function gives the number of the line after it.

``lines`` are the page's; a line of blanks only is empty in them, and ``at`` is the block's first line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from askwiki.markdown.line_marks import FENCE, HTML, ITEM, SETEXT, indent, interrupts, is_prose, is_table

# A longer underlined "heading" is a paragraph with a rule below it.
SETEXT_CHARACTERS = 200


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
    while at < len(lines) and lines[at] and not interrupts(lines[at]):
        at += 1
    return at


def fence_end(lines: Sequence[str], at: int) -> int:
    """After the closing fence: the same character, at least as many, nothing behind it."""
    opening = FENCE.match(lines[at])
    mark = opening[1] if opening else "```"
    for after in range(at + 1, len(lines)):
        line = lines[after].strip()
        if line.startswith(mark) and not line.strip(mark[0]):
            return after + 1
    return len(lines)


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
    while at < len(lines):
        line = lines[at]
        if not line:
            following = skip_blank(lines, at)
            if following == len(lines) or not (indent(lines[following]) >= content or ITEM.match(lines[following])):
                return at
            at = following
            continue
        column = indent(line)
        inside = column >= content
        if inside and line.lstrip()[0] in "`~" and FENCE.match(line):
            at = fence_end(lines, at)
            continue
        if item := ITEM.match(line):
            content = column + (2 if item["item"] in "-*+" else 3)
        elif not inside and _begins_block(lines, at):
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
