"""Reads one file in a process of its own: whatever is in it can cost this process, and nothing else.

``python -I worker.py ENDING LIMITS``: the file on stdin, JSON on stdout: ``parts`` (each a kind, a number, a title and
blocks), ``cut`` (why not all of it is read) or ``fault``. Imports nothing of ours.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

Block = list[Any]  # ["p", text] | ["h", level, text] | ["li", text] | ["table", rows]
Part = tuple[str, int, str, Iterator[Block]]  # kind (page, slide, sheet, ""), number, title, blocks

OLD = b"\xd0\xcf\x11\xe0"  # OLE: Office before 2007, and every encrypted Office file
MOST_UNPACKED = 300 << 20  # bytes of a document's parts together
MOST_RATIO = 300  # unpacked to packed; text of documents packs about 20 to 1
ROWS = 5_000  # of one sheet or table
COLUMNS = 60
PACKED = (".docx", ".docm", ".xlsx", ".xlsm", ".pptx", ".pptm")


class Unreadable(Exception):
    """The text says why."""


def pdf(data: bytes, pages: int) -> Iterator[Part]:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("it is encrypted")
    for number, page in enumerate(reader.pages, start=1):
        if number > pages:
            raise Unreadable(f"only its first {pages} pages are read")
        yield "page", number, "", (["p", text] for text in re.split(r"\n\s*\n", page.extract_text() or ""))


def docx(data: bytes, pages: int) -> Iterator[Part]:
    import docx as word
    from docx.table import Table

    def blocks() -> Iterator[Block]:
        for item in word.Document(io.BytesIO(data)).iter_inner_content():
            if isinstance(item, Table):
                yield ["table", [[cell.text for cell in row.cells[:COLUMNS]] for row in item.rows[:ROWS]]]
                continue
            style = (item.style.name or "") if item.style is not None else ""
            level = re.match(r"(?:Heading|Заголовок) (\d)", style)
            if level or style in ("Title", "Название"):
                yield ["h", int(level[1]) if level else 1, item.text]
            else:
                yield ["li" if "List" in style or "Список" in style else "p", item.text]

    yield "", 0, "", blocks()


def xlsx(data: bytes, pages: int) -> Iterator[Part]:
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    for number, sheet in enumerate(book.worksheets, start=1):
        rows = [
            ["" if value is None else str(value) for value in row]
            for row in sheet.iter_rows(max_row=ROWS, max_col=COLUMNS, values_only=True)
        ]
        yield "sheet", number, sheet.title, iter([["table", rows]])


def pptx(data: bytes, pages: int) -> Iterator[Part]:
    from pptx import Presentation

    for number, slide in enumerate(Presentation(io.BytesIO(data)).slides, start=1):
        if number > pages:
            raise Unreadable(f"only its first {pages} slides are read")
        title = slide.shapes.title
        yield "slide", number, title.text_frame.text if title is not None else "", _of_slide(slide, title)


def _of_slide(slide: Any, title: Any) -> Iterator[Block]:
    for shape in slide.shapes:
        if shape.has_text_frame and (title is None or shape.shape_id != title.shape_id):
            yield from (["p", paragraph.text] for paragraph in shape.text_frame.paragraphs)
        if getattr(shape, "has_table", False) and shape.has_table:
            yield ["table", [[cell.text for cell in row.cells] for row in shape.table.rows]]
    if slide.has_notes_slide:
        yield ["p", slide.notes_slide.notes_text_frame.text]


def text(data: bytes, pages: int) -> Iterator[Part]:
    yield "", 0, "", (["p", part] for part in re.split(r"\n\s*\n", _decoded(data)))


def table(data: bytes, pages: int) -> Iterator[Part]:
    written = _decoded(data)
    try:
        dialect: Any = csv.Sniffer().sniff(written[:8_000], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    rows = [row[:COLUMNS] for row, _ in zip(csv.reader(io.StringIO(written), dialect), range(ROWS), strict=False)]
    yield "", 0, "", iter([["table", rows]])


def _decoded(data: bytes) -> str:
    for encoding in ("utf-8-sig", "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "cp1251"):
        try:
            return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "replace")


READERS: dict[str, Callable[[bytes, int], Iterator[Part]]] = {
    ".pdf": pdf,
    ".docx": docx,
    ".xlsx": xlsx,
    ".xlsm": xlsx,
    ".pptx": pptx,
    ".txt": text,
    ".md": text,
    ".log": text,
    ".csv": table,
    ".tsv": table,
}


def refuse_bombs(data: bytes) -> None:
    """A document is a zip: what its parts say of their size is believed only when it is small."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        sizes = [(entry.file_size, entry.compress_size) for entry in packed.infolist()]
    whole = sum(size for size, _ in sizes)
    if whole > MOST_UNPACKED or any(size > MOST_RATIO * max(small, 10_000) for size, small in sizes):
        raise Unreadable("it unpacks to far more than its size")


def read(data: bytes, ending: str, pages: int, characters: int) -> dict[str, Any]:
    parts: list[list[Any]] = []
    left = characters
    cut = ""
    try:
        if data.startswith(OLD):
            raise Unreadable("it is encrypted, or of a version of Office before 2007")
        if ending in PACKED:
            refuse_bombs(data)
        for kind, number, title, blocks in READERS[ending](data, pages):
            kept: list[Block] = []
            for block in blocks:
                left -= len(str(block[-1]))
                if left < 0:
                    raise Unreadable(f"only its first {characters} characters are read")
                kept.append(block)
            parts.append([kind, number, title, kept])
    except Unreadable as error:
        cut = str(error)
    except ImportError as error:
        cut = f"the package {error.name} is not installed: pip install 'askwiki[attachments]'"
    except MemoryError:
        cut = "it needs more memory than attachments.memory allows"
    except Exception as error:  # a library that meets a damaged file ends in anything; the parent tells it
        cut = f"it is damaged or of another kind ({type(error).__name__}: {str(error)[:200]})"
    return {"parts": parts, "cut": cut}


def main() -> None:
    ending, limits = sys.argv[1], json.loads(sys.argv[2])
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limits["memory"], limits["memory"]))
        resource.setrlimit(resource.RLIMIT_CPU, (limits["seconds"], limits["seconds"]))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    except ImportError:
        pass  # not on Windows: there only the time is limited
    found = read(sys.stdin.buffer.read(), ending, limits["pages"], limits["characters"])
    sys.stdout.buffer.write(json.dumps(found).encode())


if __name__ == "__main__":
    main()
