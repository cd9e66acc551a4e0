"""Word, Excel and PowerPoint files -> blocks; runs in the worker's process."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from indexer.attachments.readers import ROWS, Block, Part, held

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
NOT_SHOWN = {  # deleted and moved text, fields' code, the second drawing of a shape
    *(f"{W}{name}" for name in ("del", "moveFrom", "instrText", "pPr", "rPr", "sectPr")),
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
}
BOX = f"{W}txbxContent"
BREAKS = {f"{W}br": "\n", f"{W}cr": "\n", f"{W}tab": " ", f"{W}noBreakHyphen": "-"}
BESIDE = ("footnotes", "endnotes", "header", "footer")  # parts of a document beside its body
OTHER_KINDS = [  # a file with macros or a template, to its library under the name it knows: the macros are never run
    (
        rb"application/vnd\.(?:ms-word\.(?:document|template)\.macroEnabled(?:Template)?"
        rb"|openxmlformats-officedocument\.wordprocessingml\.template)\.main\+xml",
        b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    ),
    (
        rb"application/vnd\.(?:ms-powerpoint\.(?:presentation|slideshow)\.macroEnabled"
        rb"|openxmlformats-officedocument\.presentationml\.slideshow)\.main\+xml",
        b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
    ),
]


def word(data: bytes, pages: int, told: list[str]) -> Iterator[Part]:
    """The body in its order, then the text of boxes, notes, headers and footers."""
    import docx

    document = docx.Document(_plain(data))
    names = {style.style_id: style.name or "" for style in document.styles}

    def blocks() -> Iterator[Block]:
        yield from _blocks(document.element.body, names, told)
        seen: set[str] = set()
        for part in _related(document.part, BESIDE):
            for block in _blocks(part, names, told):
                if (text := str(block[-1])) not in seen:  # headers repeat from section to section
                    seen.add(text)
                    yield block

    yield "", 0, "", blocks()


def _blocks(node: Any, names: dict[str, str], told: list[str]) -> Iterator[Block]:
    for child in node:
        if child.tag in NOT_SHOWN:
            continue
        if child.tag == f"{W}tbl":
            rows = ([_cell(cell) for cell in _cells(row)] for row in child.iter(f"{W}tr") if _table_of(row) is child)
            yield ["table", held(rows, "a table", told)]
        elif child.tag == f"{W}p":
            yield _paragraph(child, names)
            for box in child.iter(BOX):
                if not any(above.tag in NOT_SHOWN or above.tag == BOX for above in _above(box, child)):
                    yield from _blocks(box, names, told)
        else:  # content controls, custom XML: what they hold stands in the page
            yield from _blocks(child, names, told)


def _paragraph(node: Any, names: dict[str, str]) -> Block:
    found = node.find(f"{W}pPr/{W}pStyle")
    style = names.get(found.get(f"{W}val"), "") if found is not None else ""
    level = re.match(r"(?:heading|Heading|Заголовок) (\d)", style)
    text = "".join(_text(node))
    if level or style in ("Title", "Название"):
        return ["h", int(level[1]) if level else 1, text]
    listed = "List" in style or "Список" in style or node.find(f"{W}pPr/{W}numPr") is not None
    return ["li" if listed else "p", text]


def _text(node: Any) -> Iterator[str]:
    for child in node:
        if child.tag in NOT_SHOWN or child.tag == BOX:
            continue
        if child.tag == f"{W}t":
            yield child.text or ""
        elif child.tag in BREAKS:
            yield BREAKS[child.tag]
        else:
            yield from _text(child)


def _cells(row: Any) -> Iterator[Any]:
    """The cells of a row; one that spans columns stands in each, as a merged cell of a page does."""
    for cell in row.iter(f"{W}tc"):
        if next(above for above in cell.iterancestors() if above.tag == f"{W}tr") is row:
            span = cell.find(f"{W}tcPr/{W}gridSpan")
            width = span.get(f"{W}val", "1") if span is not None else "1"
            yield from [cell] * (min(int(width), 60) if width.isdecimal() else 1)


def _cell(cell: Any) -> str:
    """Paragraphs and the cells of nested tables, a line each."""
    lines = ("".join(_text(paragraph)).strip() for paragraph in cell.iter(f"{W}p"))
    return "\n".join(line for line in lines if line)


def _table_of(row: Any) -> Any:
    return next(above for above in row.iterancestors() if above.tag == f"{W}tbl")


def _above(node: Any, top: Any) -> Iterator[Any]:
    for above in node.iterancestors():
        if above is top:
            return
        yield above


def _related(part: Any, kinds: tuple[str, ...]) -> Iterator[Any]:
    """The XML of the parts that ``part`` names by a relation of one of these kinds."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    for relation in part.rels.values():
        if not relation.is_external and relation.reltype.rpartition("/")[2] in kinds:
            yield etree.fromstring(relation.target_part.blob, parser)


def excel(data: bytes, pages: int, told: list[str]) -> Iterator[Part]:
    """Each sheet a table of what its cells show; a formula that was never worked out stands as such."""
    import openpyxl

    shown = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    written = openpyxl.load_workbook(io.BytesIO(data), read_only=True)
    for number, (sheet, formulas) in enumerate(zip(shown.worksheets, written.worksheets, strict=True), start=1):
        sheet.reset_dimensions()  # some programs write a range that is too small
        formulas.reset_dimensions()
        pairs = zip_longest(sheet.iter_rows(), formulas.iter_rows(), fillvalue=())
        rows = ([_value(*cells) for cells in zip_longest(*both)] for both in pairs)
        yield "sheet", number, sheet.title, iter([["table", held(rows, f"sheet {sheet.title!r}", told)]])


def _value(cell: Any, formula: Any) -> str:
    """As the sheet shows it: percent, dates without midnight, no binary tails of decimal numbers."""
    value = cell.value if cell is not None else None
    if value is None and formula is not None and formula.value is not None:
        value = getattr(formula.value, "text", formula.value)  # a formula of a range is an object
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        share = "%" in (getattr(cell, "number_format", "") or "")
        return f"{value * 100:.12g}%" if share else f"{value:.15g}" if isinstance(value, float) else str(value)
    return str(value).removesuffix(" 00:00:00")


def powerpoint(data: bytes, pages: int, told: list[str]) -> Iterator[Part]:
    from pptx import Presentation

    for number, slide in enumerate(Presentation(_plain(data)).slides, start=1):
        if number > pages:
            told.append(f"only its first {pages} slides are read")
            return
        title = slide.shapes.title
        yield "slide", number, title.text_frame.text if title is not None else "", _slide(slide, title, told)


def _slide(slide: Any, title: Any, told: list[str]) -> Iterator[Block]:
    for shape in _shapes(slide.shapes):
        if shape.has_text_frame and (title is None or shape.shape_id != title.shape_id):
            yield from (["p", paragraph.text] for paragraph in shape.text_frame.paragraphs)
        if getattr(shape, "has_table", False):
            rows = ([cell.text for cell in row.cells] for row in shape.table.rows)
            yield ["table", held(rows, "a table", told)]
        if getattr(shape, "has_chart", False):
            yield from _chart(shape.chart)
    for drawing in _related(slide.part, ("diagramData",)):
        for paragraph in drawing.iter(f"{A}p"):
            yield ["li", "".join(text.text or "" for text in paragraph.iter(f"{A}t"))]
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None:
        yield ["p", notes.text]


def _shapes(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):  # a group
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _chart(chart: Any) -> Iterator[Block]:
    """A chart is the table it was drawn from."""
    if chart.has_title and chart.chart_title.has_text_frame:
        yield ["p", chart.chart_title.text_frame.text]
    for plot in chart.plots:
        series = list(plot.series)
        head = ["", *(one.name for one in series)]
        rows = zip_longest([str(one) for one in plot.categories], *(one.values for one in series), fillvalue="")
        yield ["table", [head, *(["" if value is None else str(value) for value in row] for row in rows)][:ROWS]]


def _plain(data: bytes) -> io.BytesIO:
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        types = packed.read("[Content_Types].xml")
        renamed = types
        for other, usual in OTHER_KINDS:
            renamed = re.sub(other, usual, renamed)
        if renamed == types:
            return io.BytesIO(data)
        copy = io.BytesIO()
        with zipfile.ZipFile(copy, "w") as written:
            for entry in packed.infolist():
                inside = renamed if entry.filename == "[Content_Types].xml" else packed.read(entry)
                written.writestr(entry, inside)
        copy.seek(0)
        return copy
