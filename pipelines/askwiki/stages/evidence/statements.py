"""A passage as the statements it makes: sentences, items, rows, each with what stands above it."""

from __future__ import annotations

import re
from typing import NamedTuple

_HEADING = re.compile(r"\A {0,3}#{1,6}\s+(.*)\Z")
_ITEM = re.compile(r"\A\s*(?:>\s*)*(?:[-*+]|\d{1,3}[.)])\s+")
_RULER = re.compile(r"\A(?=[^-]*+-)[\s|:-]++\Z")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_END = re.compile(r"(?<!\b\w)(?<!\b\w\w)(?<=[.!?…])[»\")*_]*\s+(?=[^\sa-zа-яё])")
_QUOTE = re.compile(r"^[ \t]*+(?:>[ \t]?)++", re.MULTILINE)
_CELL = re.compile(r"(?<!\\)\|")
MOST_STATEMENTS = 2_000  # of one passage


class Statement(NamedTuple):
    """``text`` at ``start:end`` of the passage; ``above`` = heading, the line before a list, the head of a table."""

    text: str
    start: int
    end: int
    above: str


def statements(text: str) -> list[Statement]:
    """All statements of Markdown in order. Linear in the text."""
    found: list[Statement] = []
    heading = intro = head = ""
    buffer: list[tuple[str, int]] = []
    place = 0

    def flush() -> None:
        if not buffer:
            return
        start = buffer[0][1]
        whole = text[start : buffer[-1][1] + len(buffer[-1][0])]
        begin = 0
        for match in [*_END.finditer(whole), None]:
            end = match.end() if match else len(whole)
            if piece := whole[begin:end].strip():
                found.append(Statement(bare(piece), start + begin, start + end, above))
            begin = end
        buffer.clear()

    above = ""
    for line in text.split("\n"):
        at, place = place, place + len(line) + 1
        stripped = line.strip() if line.strip(" \t>") else ""
        if not stripped:
            flush()
            head = ""
        elif match := _HEADING.match(line):
            flush()
            heading, intro, head = match[1], "", ""
        elif stripped.startswith("|"):
            flush()
            if _RULER.match(stripped):
                if found and found[-1].end == at - 1:
                    head = found[-1].text
                continue
            found.append(Statement(bare(stripped), at, at + len(line), f"{heading}\n{intro}\n{head}"))
        else:
            if _ITEM.match(line):
                flush()
                above = f"{heading}\n{intro}"
                buffer.append((line, at))
                continue
            if not buffer:
                above = heading
            buffer.append((line, at))
            intro = stripped if stripped.endswith((":", ":**")) else intro if line[:1].isspace() else ""
    flush()
    return found[:MOST_STATEMENTS]


def cells_of(row: str) -> list[str]:
    """The cells of a table's row; none for any other line."""
    row = row.strip()
    return [cell.strip() for cell in _CELL.split(row.strip("|"))] if row.startswith("|") else []


def bare(text: str) -> str:
    """Words of a statement without list marks, quotation marks of Markdown, addresses."""
    return _LINK.sub(r"\1", _ITEM.sub("", _QUOTE.sub("", text))).replace("**", "").replace("\n", " ")
