"""Blocks of code in a text that may be a part of a page: begin in an item, end in a block that is still open.

The rule itself, which line opens a block and which closes it, is the block parser's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from askwiki.markdown.block_parser_lines import ITEM, closes_fence, indent, item_text, opening_fence

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MAY_BE_CLOSED_EARLY = re.compile(r"^[^\S\n]*+(`{3,})", re.MULTILINE)
LEAST_SIGNS = 3  # of a fence


class FenceReader:
    """Takes the lines of a text in order and knows which are code: fences and what is between them."""

    def __init__(self) -> None:
        self.fence = ""  # the signs that opened the block in which the next line stands
        self._opened = 0  # the column in which they stand
        self._column = 0  # where the text of the last list item begins
        self._blank = True  # before the next line

    def take(self, line: str) -> bool:
        """Whether the line belongs to a block of code."""
        if self.fence:
            if closes_fence(line, self.fence, self._opened):
                self.fence = ""
            return True
        blank = self._blank
        self._blank = not line.strip()
        if self._blank:
            return False
        if item := ITEM.match(line):
            self._column, text = item_text(line, item)
            self.fence, self._opened = opening_fence(text), self._column
            return False  # the item's own line has its sign, too
        self._opened = indent(line)
        if blank and not self._opened:
            self._column = 0  # the list has ended
        self.fence = opening_fence(line, self._column)
        return bool(self.fence)


def code_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Where the blocks of code stand, their fences with them; one that is never closed goes on to the end."""
    if not _may_have_fences(text):
        return
    reader, start = FenceReader(), -1
    for line in _LINE.finditer(text):
        if reader.take(line[0]) and start < 0:
            start = line.start()
        if start >= 0 and not reader.fence:
            yield start, line.end()
            start = -1
    if start >= 0:
        yield start, len(text)


def without_code(text: str) -> str:
    """What stands outside of the blocks of code."""
    parts, at = [], 0
    for start, end in code_blocks(text):
        parts.append(text[at:start])
        at = end
    return "".join((*parts, text[at:]))


def first_code(text: str) -> str:
    """What stands in the first block of code that is closed, empty when there is none."""
    reader, lines = FenceReader(), list[str]()
    for line in _LINE.findall(text):
        inside = bool(reader.fence)
        reader.take(line)
        if inside and not reader.fence:
            return "".join(lines)
        lines += [line] if inside else []
    return ""


def close_fences(text: str) -> str:
    """``text`` with its last code block closed, so that nothing after it reads as code."""
    if not _may_have_fences(text):
        return text
    reader = FenceReader()
    for line in _LINE.finditer(text):
        reader.take(line[0])
    return f"{text.rstrip()}\n{reader.fence}" if reader.fence else text


def fence_around(code: str) -> str:
    """The signs for a block that holds this code: more than at the beginning of any of its lines."""
    longest = max(map(len, _MAY_BE_CLOSED_EARLY.findall(code)), default=LEAST_SIGNS - 1)
    return "`" * (longest + 1)


def _may_have_fences(text: str) -> bool:
    return "```" in text or "~~~" in text
