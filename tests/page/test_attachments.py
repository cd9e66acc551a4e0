"""Texts of files: documents below their page, with its readers; hostile files are held, and told."""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from pathlib import Path

import pytest

from askwiki.configuration import Configuration
from askwiki.data import Attachment, Clause, Page
from askwiki.settings import AttachmentSettings, ChunkingSettings, Settings, WikiSettings
from indexer.attachments.documents import documents_of
from indexer.chunking.chunks import chunk_page
from indexer.commands.check import check
from indexer.opening import open_source
from indexer.sources import PageFailure, PageRef
from tests.support.rest_wiki import page as rest_page

SETTINGS = AttachmentSettings()
WIKI = "https://wiki.example"
READERS = (Clause(groups=("sklad",)),)


def page(*files: Path) -> Page:
    named = tuple(
        Attachment(one.name, f"https://w.example/download/attachments/1/{one.name}", "", str(one)) for one in files
    )
    return Page(
        "1", "KB", "Приёмка", ("Склад",), "u", "т", "2026-01-02", labels=("тара",), readers=READERS, attachments=named
    )


def documents(*files: Path, settings: AttachmentSettings = SETTINGS) -> list[Page | PageFailure]:
    return list(documents_of(page(*files), settings))


def markdown(file: Path) -> str:
    [found] = documents(file)
    assert isinstance(found, Page), found
    return found.markdown


def pdf(place: Path, *texts: str) -> Path:
    """A PDF of one line a page, in the fonts that every reader has; Latin letters only."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    for text in texts:
        content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        kids.append(f"{len(objects) + 1} 0 R")
        font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
        whole = f"/MediaBox [0 0 612 792] /Contents {len(objects) + 2} 0 R /Resources {font}"
        objects.append(f"<< /Type /Page /Parent 2 0 R {whole} >>")
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    out = "%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n" + "".join(f"{one:010} 00000 n \n" for one in places)
    out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF"
    place.write_bytes(out.encode("latin-1"))
    return place


def test_a_document_stands_below_its_page_with_its_readers(tmp_path: Path) -> None:
    file = tmp_path / "акт.txt"
    file.write_text("Принято 7 мест.\n\n# не заголовок", encoding="utf-8")
    [found] = documents(file)
    assert isinstance(found, Page)
    assert (found.id, found.title, found.path) == ("1!/акт.txt", "акт.txt", ("Склад", "Приёмка"))
    assert (found.readers, found.url, found.content) == (
        READERS,
        "https://w.example/download/attachments/1/акт.txt",
        "attachment",
    )
    assert found.markdown == "Принято 7 мест.\n\n\\# не заголовок"


def test_each_page_of_a_pdf_is_found_by_its_number(tmp_path: Path) -> None:
    file = pdf(tmp_path / "rules.pdf", "Gate opens at seven", "Gate closes at nine")
    [found] = documents(file)
    assert isinstance(found, Page)
    assert found.markdown == "## Page 1\n\nGate opens at seven\n\n## Page 2\n\nGate closes at nine"
    chunks = chunk_page(
        found, count=lambda texts: [len(text.split()) + 2 for text in texts], limit=400, settings=ChunkingSettings()
    )
    assert [(one.url.rpartition("/")[2], one.headings) for one in chunks] == [
        ("rules.pdf#page=1", ("Page 1",)),
        ("rules.pdf#page=2", ("Page 2",)),
    ]


def test_word_excel_powerpoint_and_tables_are_read(tmp_path: Path) -> None:
    import docx
    import openpyxl
    from pptx import Presentation

    word = docx.Document()
    word.add_heading("Смена", 1)
    word.add_paragraph("Начинается в семь.")
    word.add_paragraph("ворота", style="List Bullet")
    table = word.add_table(2, 2)
    for cell, text in zip([*table.rows[0].cells, *table.rows[1].cells], ("Узел", "Порт", "lb|1", "9443"), strict=True):
        cell.text = text
    word.save(tmp_path / "a.docx")
    book = openpyxl.Workbook()
    book.active.title = "Цены"
    for row in (("Тара", "Цена"), ("лоток", 7), (None, None)):
        book.active.append(row)
    book.save(tmp_path / "b.xlsx")
    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Итоги", "Приняли больше"
    slides.save(tmp_path / "c.pptx")
    (tmp_path / "d.csv").write_text("код;срок\n7;день\n", encoding="cp1251")
    assert markdown(tmp_path / "a.docx") == (
        "# Смена\n\nНачинается в семь.\n\n- ворота\n\n| Узел | Порт |\n| --- | --- |\n| lb\\|1 | 9443 |"
    )
    assert markdown(tmp_path / "b.xlsx") == "## Лист 1: Цены\n\n| Тара | Цена |\n| --- | --- |\n| лоток | 7 |"
    assert markdown(tmp_path / "c.pptx") == "## Слайд 1: Итоги\n\nПриняли больше"
    assert markdown(tmp_path / "d.csv") == "| код | срок |\n| --- | --- |\n| 7 | день |"


def refused(file: Path, settings: AttachmentSettings = SETTINGS) -> str:
    [found] = documents(file, settings=settings)
    assert isinstance(found, PageFailure), found
    assert found.ref == PageRef(f"1!/{file.name}", file.name)
    return found.reason


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.xlsx", "a.pptx"])
def test_a_damaged_file_is_told(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"\x00\x01 nothing of the kind " * 50)
    assert "it is damaged or of another kind" in refused(file)


def test_an_encrypted_office_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.docx"
    file.write_bytes(b"\xd0\xcf\x11\xe0" + b"\0" * 600)
    assert "it is encrypted" in refused(file)


def test_an_encrypted_pdf_is_told(tmp_path: Path) -> None:
    from pypdf import PdfWriter

    writer = PdfWriter(clone_from=str(pdf(tmp_path / "open.pdf", "secret")))
    writer.encrypt("key", algorithm="RC4-128")
    writer.write(str(tmp_path / "a.pdf"))
    assert "it is encrypted" in refused(tmp_path / "a.pdf")


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    file = tmp_path / "a.docx"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/document.xml", b"\0" * (400 << 20))
    started = time.monotonic()
    assert "it unpacks to far more than its size" in refused(file)
    assert time.monotonic() - started < 20


def test_a_bomb_that_lies_about_its_size_meets_the_limit_of_memory(tmp_path: Path) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("[Content_Types].xml", b" " * (64 << 20))
    size = (64 << 20).to_bytes(4, "little")
    (tmp_path / "a.docx").write_bytes(held.getvalue().replace(size, (70_000).to_bytes(4, "little")))
    assert "cannot be read" in refused(tmp_path / "a.docx")


def test_of_a_book_of_many_pages_the_first_are_read_and_the_rest_is_told(tmp_path: Path) -> None:
    file = pdf(tmp_path / "a.pdf", *(f"text {number}" for number in range(1, 8)))
    [found] = documents(file, settings=AttachmentSettings(pages=3))
    assert isinstance(found, Page)
    assert (found.markdown.count("## "), [loss.detail for loss in found.losses]) == (
        3,
        ["only its first 3 pages are read"],
    )


def test_of_a_long_text_as_many_characters_are_read_as_the_settings_say(tmp_path: Path) -> None:
    [found] = documents(pdf(tmp_path / "a.pdf", "x" * 50, "y" * 50), settings=AttachmentSettings(characters=60))
    assert isinstance(found, Page)
    assert ("x" * 50 in found.markdown, "y" * 50 in found.markdown) == (True, False)
    assert [loss.detail for loss in found.losses] == ["only its first 60 characters are read"]


def test_a_reader_with_too_little_memory_is_told(tmp_path: Path) -> None:
    told = refused(pdf(tmp_path / "a.pdf", "text"), settings=AttachmentSettings(memory=8))
    assert "memory" in told


def test_a_file_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    import docx

    docx.Document().save(tmp_path / "empty.docx")
    file = tmp_path / "a.docx"
    with zipfile.ZipFile(tmp_path / "empty.docx") as empty, zipfile.ZipFile(file, "w") as packed:
        for name in empty.namelist():
            paragraphs = b"<w:p><w:r><w:t>x</w:t></w:r></w:p>" * 200_000
            packed.writestr(name, empty.read(name).replace(b"<w:body>", b"<w:body>" + paragraphs))
    assert re.search("its reader ended with|it takes longer than", refused(file, AttachmentSettings(seconds=1)))


def test_a_file_that_is_too_large_and_one_without_text_are_left_out_with_a_reason(tmp_path: Path) -> None:
    large, empty = tmp_path / "a.txt", tmp_path / "b.txt"
    large.write_bytes(b"x" * (2 << 20))
    empty.write_text(" \n\n ", encoding="utf-8")
    assert refused(large, AttachmentSettings(megabytes=1)) == "a file of 2 MB; attachments.megabytes allows 1"
    assert refused(empty) == "it holds no text (a scan?)"


def test_nothing_is_read_when_the_setting_says_so_or_the_export_holds_no_file(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("т", encoding="utf-8")
    assert documents(file, settings=AttachmentSettings(read=False)) == []
    assert list(documents_of(Page("1", "", "А", (), "", "", attachments=(Attachment("a.txt"),)), SETTINGS)) == []


def test_files_beside_the_answers_of_the_api_are_read(tmp_path: Path) -> None:
    held = {"children": {"attachment": {"results": [{"title": "a.txt"}]}}}
    (tmp_path / "a.json").write_text(json.dumps(rest_page("1", "А", **held)), encoding="utf-8")
    (tmp_path / "attachments" / "1").mkdir(parents=True)
    for name in ("a.txt", "b.txt"):
        (tmp_path / "attachments" / "1" / name).write_text(f"текст {name}", encoding="utf-8")
    configuration = Configuration(Settings(wiki=WikiSettings(url=WIKI)), Path(), {})
    source = open_source(f"rest:{tmp_path}", configuration)
    [found] = [one for one in source.pages() if isinstance(one, Page)]
    assert [one.url for one in found.attachments] == [
        f"{WIKI}/download/attachments/1/{name}" for name in ("a.txt", "b.txt")
    ]
    assert [one.markdown for one in documents_of(found, SETTINGS) if isinstance(one, Page)] == [
        "текст a.txt",
        "текст b.txt",
    ]
    ledger = check(source, SETTINGS)
    assert (ledger.expected, ledger.read, ledger.exit_code) == (1, 1, 0)
    assert "files of pages: 2" in ledger.to_text()
