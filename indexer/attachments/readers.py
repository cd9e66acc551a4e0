"""PDF files, plain text and tables -> parts; what all readers of files share. Runs in the worker's process."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

Block = list[Any]  # ["p", text] | ["h", level, text] | ["li", text] | ["table", rows]
Part = tuple[str, int, str, Iterator[Block]]  # kind (page, slide, sheet, ""), number, title, blocks
Reader = Callable[[bytes, int, list[str]], Iterator[Part]]  # the file, most pages, what was left out: told at the end

ROWS = 5_000  # of one table
COLUMNS = 60
WORD, EXCEL, POWERPOINT = (".docx", ".docm", ".dotx"), (".xlsx", ".xlsm", ".xltx"), (".pptx", ".pptm", ".ppsx")
PACKED = (*WORD, *EXCEL, *POWERPOINT)


class Unreadable(Exception):
    """The text says why."""


def pdf(data: bytes, pages: int, told: list[str]) -> Iterator[Part]:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("it is encrypted")
    for number, page in enumerate(reader.pages, start=1):
        if number > pages:
            told.append(f"only its first {pages} pages are read")
            return
        yield "page", number, "", (["p", text] for text in re.split(r"\n\s*\n", page.extract_text() or ""))


def text(data: bytes, pages: int, told: list[str]) -> Iterator[Part]:
    yield "", 0, "", (["p", part] for part in re.split(r"\n\s*\n", _decoded(data)))


def table(data: bytes, pages: int, told: list[str]) -> Iterator[Part]:
    written = _decoded(data)
    try:
        dialect: Any = csv.Sniffer().sniff(written[:8_000], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    yield "", 0, "", iter([["table", held(csv.reader(io.StringIO(written), dialect), "", told)]])


def held(rows: Iterable[list[str]], name: str, told: list[str]) -> list[list[str]]:
    """The rows and columns of a table within the limits; what is beyond them is told."""
    taken = list(islice(rows, ROWS + 1))
    of = f" of {name}" if name else ""
    if len(taken) > ROWS:
        told.append(f"only the first {ROWS} rows{of} are read")
    if any(any(row[COLUMNS:]) for row in taken):
        told.append(f"only the first {COLUMNS} columns{of} are read")
    return [row[:COLUMNS] for row in taken[:ROWS]]


def _decoded(data: bytes) -> str:
    for encoding in ("utf-8-sig", "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "cp1251"):
        try:
            return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "replace")
