"""What a person sees in a file stands in its text: boxes, notes, groups, charts, cells; the rest is told."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import docx
import openpyxl
import pytest
from docx.oxml import parse_xml
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from askwiki.data import Page
from indexer.attachments.readers import COLUMNS, ROWS
from indexer.sources import PageFailure
from tests.page.test_attachments import documents, markdown, refused

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
BOX = (
    f'<w:p {W} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><w:r><w:t>Рисунок</w:t>'
    "<mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><w:txbxContent><w:p><w:r><w:t>Внимание: 220 В</w:t>"
    "</w:r></w:p></w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent><w:p><w:r>"
    "<w:t>Внимание: 220 В</w:t></w:r></w:p></w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
)


def word(place: Path, *blocks: str) -> str:
    document = docx.Document()
    for block in blocks:
        document.element.body.insert(-1, parse_xml(block))
    document.save(place / "a.docx")
    return markdown(place / "a.docx")


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        (BOX, "Рисунок\n\nВнимание: 220 В"),
        (
            f"<w:sdt {W}><w:sdtContent><w:p><w:r><w:t>Срок: </w:t></w:r><w:sdt><w:sdtContent><w:r><w:t>7 дней"
            "</w:t></w:r></w:sdtContent></w:sdt></w:p></w:sdtContent></w:sdt>",
            "Срок: 7 дней",
        ),
        (
            f"<w:p {W}><w:r><w:t>Порт </w:t></w:r><w:del><w:r><w:delText>80</w:delText></w:r></w:del><w:ins><w:r>"
            "<w:t>443</w:t></w:r></w:ins></w:p>",
            "Порт 443",
        ),
        (
            f"<w:p {W}><w:r><w:fldChar w:fldCharType='begin'/><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>стр.</w:t>"
            "<w:tab/><w:t>9</w:t></w:r></w:p>",
            "стр. 9",
        ),
        (
            f"<w:tbl {W}><w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr><w:p><w:r><w:t>Склад</w:t></w:r></w:p>"
            "</w:tc></w:tr><w:tr><w:tc><w:tbl><w:tr><w:tc><w:p><w:r><w:t>внутри</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
            "<w:p/></w:tc><w:tc><w:p><w:r><w:t>рядом</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
            "| Склад | Склад |\n| --- | --- |\n| внутри | рядом |",
        ),
    ],
    ids=["box", "control", "tracked", "field", "nested table"],
)
def test_what_a_word_file_shows_is_read_once(tmp_path: Path, block: str, shown: str) -> None:
    assert word(tmp_path, block) == shown


def test_headers_and_footers_are_read_once_each(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Текст")
    for _ in range(2):
        section = document.add_section()
        section.header.is_linked_to_previous = False
        section.header.paragraphs[0].text = "Регламент ИТ-7"
    document.save(tmp_path / "a.docx")
    assert markdown(tmp_path / "a.docx") == "Текст\n\nРегламент ИТ-7"


def test_footnotes_are_read(tmp_path: Path) -> None:
    docx.Document().save(tmp_path / "plain.docx")
    text = "<w:p><w:r><w:t>кроме субботы</w:t></w:r></w:p>"
    note = f"<w:footnotes {W}><w:footnote w:id='2'>{text}</w:footnote></w:footnotes>"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    relation = f'<Relationship Id="rId99" Type="{kind}" Target="footnotes.xml"/></Relationships>'
    with zipfile.ZipFile(tmp_path / "plain.docx") as plain, zipfile.ZipFile(tmp_path / "a.docx", "w") as written:
        for name in plain.namelist():
            inside = plain.read(name)
            if name == "word/_rels/document.xml.rels":
                inside = inside.replace(b"</Relationships>", relation.encode())
            written.writestr(name, inside)
        written.writestr("word/footnotes.xml", note)
    assert markdown(tmp_path / "a.docx") == "кроме субботы"


def book(place: Path, fill: Callable[[openpyxl.worksheet.worksheet.Worksheet], None]) -> Page:
    workbook = openpyxl.Workbook()
    fill(workbook.active)
    workbook.save(place / "a.xlsx")
    [found] = documents(place / "a.xlsx")
    assert isinstance(found, Page), found
    return found


def test_a_cell_reads_as_the_sheet_shows_it(tmp_path: Path) -> None:
    def fill(sheet: openpyxl.worksheet.worksheet.Worksheet) -> None:
        sheet.append(["Скидка", "Срок", "Сумма", "Итог", "Да"])
        sheet.append([0.15, date(2026, 3, 1), 0.1 + 0.2, "=C2*2", True])
        sheet["A2"].number_format = "0%"

    assert book(tmp_path, fill).markdown.endswith("| 15% | 2026-03-01 | 0.3 | =C2*2 | TRUE |")


def test_rows_and_columns_that_are_not_read_are_told(tmp_path: Path) -> None:
    def fill(sheet: openpyxl.worksheet.worksheet.Worksheet) -> None:
        sheet.append([f"п{number}" for number in range(COLUMNS + 1)])
        for number in range(ROWS):
            sheet.append([number])

    found = book(tmp_path, fill)
    assert [loss.detail for loss in found.losses] == [
        f"only the first {ROWS} rows of sheet 'Sheet' are read; "
        f"only the first {COLUMNS} columns of sheet 'Sheet' are read"
    ]
    (tmp_path / "b.csv").write_text("код;срок\n" * (ROWS + 1), encoding="utf-8")
    [table] = documents(tmp_path / "b.csv")
    assert isinstance(table, Page)
    assert [loss.detail for loss in table.losses] == [f"only the first {ROWS} rows are read"]


def test_groups_charts_and_tables_of_slides_are_read(tmp_path: Path) -> None:
    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[6])
    group = slide.shapes.add_group_shape().shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "Узел входа"
    data = CategoryChartData()
    data.categories = ["январь", "март"]
    data.add_series("Заявки", (7, None))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.BAR_CLUSTERED, 0, 0, Inches(1), Inches(1), data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Поток"
    slides.save(tmp_path / "a.pptx")
    assert markdown(tmp_path / "a.pptx").split("\n\n")[1:] == [
        "Узел входа",
        "Поток",
        "|  | Заявки |\n| --- | --- |\n| январь | 7.0 |\n| март |  |",
    ]


MACROS = {
    "a.docm": ("wordprocessingml.document.main", "ms-word.document.macroEnabled.main"),
    "a.dotx": ("wordprocessingml.document.main", "openxmlformats-officedocument.wordprocessingml.template.main"),
    "a.pptm": ("presentationml.presentation.main", "ms-powerpoint.presentation.macroEnabled.main"),
    "a.ppsx": ("presentationml.presentation.main", "openxmlformats-officedocument.presentationml.slideshow.main"),
}


@pytest.mark.parametrize("name", MACROS)
def test_a_file_with_macros_or_a_template_is_read_like_any_other(tmp_path: Path, name: str) -> None:
    plain = io.BytesIO()
    if name.startswith("a.d"):
        document = docx.Document()
        document.add_paragraph("Порядок приёмки")
        document.save(plain)
    else:
        slides = Presentation()
        slides.slides.add_slide(slides.slide_layouts[5]).shapes.title.text = "Порядок приёмки"
        slides.save(plain)
    usual, other = MACROS[name]
    with zipfile.ZipFile(plain) as read, zipfile.ZipFile(tmp_path / name, "w") as written:
        for entry in read.namelist():
            inside = read.read(entry)
            if entry == "[Content_Types].xml":
                changed = inside.replace(f"openxmlformats-officedocument.{usual}".encode(), other.encode())
                assert changed != inside
                inside = changed
            written.writestr(entry, inside)
    assert "Порядок приёмки" in markdown(tmp_path / name)


@pytest.mark.parametrize(("name", "kind"), [("a.doc", "docx"), ("a.XLS", "xlsx"), ("a.odp", "pptx"), ("a.vsdx", "pdf")])
def test_a_document_of_a_kind_that_is_not_read_is_told_with_what_helps(tmp_path: Path, name: str, kind: str) -> None:
    (tmp_path / name).write_bytes(b"\xd0\xcf\x11\xe0")
    assert refused(tmp_path / name) == f"text of {name[1:].lower()} files is not read: save it as .{kind}"
    [found] = documents(tmp_path / name)
    assert isinstance(found, PageFailure)
    assert found.skipped
