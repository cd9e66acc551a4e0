"""The HTML export: its tree, its files, its layouts, and what is wrong with bad ones."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from askwiki.configuration import Configuration
from askwiki.data import Loss, Page
from askwiki.errors import SourceError, SourceNotWhole
from askwiki.settings import Settings, WikiSettings
from indexer.confluence.parse.html_page import read_index
from indexer.confluence.parse.html_tree import decode
from indexer.confluence.sources.html_export import HtmlExport
from indexer.opening import open_source
from indexer.sources import PageFailure, PageRef, read_attachment

SAMPLE = Path(__file__).parents[1] / "wiki" / "html"
INDEX = """<html><head><title>Тара (TARA)</title></head><body><div id="main-content" class="pageSection">
<h2 class="pageSectionTitle">Space Details:</h2>
<table><tr><th>Key</th><td>TARA</td></tr><tr><th>Name</th><td>Тара</td></tr></table>
<div class="pageSection"><h2 class="pageSectionTitle">{title}</h2>
<ul><li><a href="Home_1.html">Home</a>
<ul><li><a href="2.html">Акты</a><ul><li><a href="3.html">Бланк</a></li></ul></li></ul>
<ul><li><a href="4.html">Сроки</a></li></ul></li></ul></div></div></body></html>"""

FILES = '</div><div class="pageSection"><h2 id="attachments">Attachments:</h2>{}'


def configuration(base: str = "") -> Configuration:
    return Configuration(Settings(wiki=WikiSettings(url=base)), Path(), {})


def source(path: Path, base: str = "") -> HtmlExport:
    opened = open_source(f"html:{path}", configuration(base))
    assert isinstance(opened, HtmlExport)
    return opened


def pages(path: Path, base: str = "") -> dict[str, Page]:
    return {page.id: page for page in source(path, base).pages() if isinstance(page, Page)}


def page_file(title: str, body: str, *crumbs: tuple[str, str]) -> str:
    links = "".join(
        f'<li><span><a href="{file}">{name}</a></span></li>' for file, name in (("index.html", "Тара"), *crumbs)
    )
    return (
        f'<html><head><title>Тара : {title}</title></head><body><ol id="breadcrumbs">{links}</ol>'
        f'<span id="title-text"> Тара : {title} </span>'
        f'<div class="page-metadata">Created by <span class="author">Май</span> on Nov 28, 2014</div>'
        f'<div id="main-content" class="wiki-content group">{body}</div></body></html>'
    )


def write_export(folder: Path, index_title: str = "Available Pages:") -> Path:
    files = {
        "index.html": INDEX.format(title=index_title),
        "Home_1.html": page_file("Home", '<p>Начало, <a href="2.html#id-Акты-Вид">акты</a>.</p>'),
        "2.html": page_file("Акты", "<h2>Вид</h2><p>Два.</p>", ("Home_1.html", "Home")),
        "3.html": page_file("Бланк", "<p>Три.</p>", ("Home_1.html", "Home"), ("2.html", "Акты")),
        "4.html": page_file("Сроки: день : ночь", "<p>Четыре.</p>", ("Home_1.html", "Home")),
    }
    for name, text in files.items():
        place = folder / "TARA" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return folder


def zipped(folder: Path, target: Path) -> Path:
    with zipfile.ZipFile(target, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder).as_posix())
    return target


def test_every_page_of_the_sample_wiki_is_read() -> None:
    export = source(SAMPLE)
    expected = export.expected()
    found = list(export.pages())
    assert [page.id for page in found if isinstance(page, Page)] == [ref.id for ref in expected]
    assert [page for page in found if isinstance(page, PageFailure)] == []


def test_the_tree_of_the_index_is_the_order_of_the_pages(tmp_path: Path) -> None:
    assert source(write_export(tmp_path)).expected() == [
        PageRef("1", "Home"), PageRef("2", "Акты"), PageRef("3", "Бланк"), PageRef("4", "Сроки"),
    ]  # fmt: skip


def test_a_page_says_title_path_date_and_space(tmp_path: Path) -> None:
    found = pages(write_export(tmp_path), "https://wiki.example.com")
    assert (found["3"].title, found["3"].path, found["3"].updated, found["3"].space) == (
        "Бланк",
        ("Home", "Акты"),
        "2014-11-28",
        "TARA",
    )
    assert found["3"].url == "https://wiki.example.com/pages/viewpage.action?pageId=3"
    assert found["4"].title == "Сроки: день : ночь"
    assert found["1"].readers is None


def test_links_between_files_become_addresses_of_pages(tmp_path: Path) -> None:
    markdown = pages(write_export(tmp_path), "https://wiki.example.com")["1"].markdown
    assert markdown == "Начало, [акты](https://wiki.example.com/pages/viewpage.action?pageId=2#id-Акты-Вид)."


def test_a_zip_gives_the_same_pages_as_its_folder(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "folder")
    assert pages(zipped(folder, tmp_path / "export.zip")) == pages(folder)


def test_an_index_in_another_language_is_an_index_too(tmp_path: Path) -> None:
    assert len(source(write_export(tmp_path, "Доступные страницы:")).expected()) == 4


def test_a_file_beside_the_index_that_it_does_not_name_is_a_page(tmp_path: Path) -> None:
    folder = write_export(tmp_path)
    (folder / "TARA" / "9.html").write_text(page_file("Забытая", "<p>Девять.</p>"), encoding="utf-8")
    assert pages(folder)["9"].markdown == "Девять."


def test_an_export_whose_index_names_a_missing_page_is_not_whole(tmp_path: Path) -> None:
    folder = write_export(tmp_path)
    (folder / "TARA" / "3.html").unlink()
    with pytest.raises(SourceNotWhole, match=r"the index names the page TARA/3\.html, which is not there"):
        source(folder)


@pytest.mark.parametrize("name", ["3.html", "index.html"])
@pytest.mark.parametrize("share", [0.9, 0.1, 0.0])
def test_an_export_with_a_file_that_breaks_off_is_not_whole(tmp_path: Path, name: str, share: float) -> None:
    folder = write_export(tmp_path)
    data = (folder / "TARA" / name).read_bytes()
    (folder / "TARA" / name).write_bytes(data[: int(len(data) * share)])
    with pytest.raises(SourceNotWhole, match=f"the file TARA/{name} breaks off before </html>"):
        source(folder)


def test_a_plain_file_that_breaks_off_is_a_failure_and_the_rest_is_read(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.html").write_text(f"<html><body><p>{name}</p></body></html>", encoding="utf-8")
    (tmp_path / "c.html").write_text("<html><body><p>c", encoding="utf-8")
    assert [(one.id if isinstance(one, Page) else one.reason) for one in source(tmp_path).pages()] == [
        "a.html",
        "b.html",
        "c.html breaks off before </html>, which the other files have",
    ]


def test_plain_files_that_all_do_without_the_last_tag_are_pages(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.html").write_text(f"<html><body><p>{name}", encoding="utf-8")
    assert list(pages(tmp_path)) == ["a.html", "b.html", "c.html"]


def test_without_an_index_every_html_file_is_a_page(tmp_path: Path) -> None:
    (tmp_path / "guide").mkdir()
    (tmp_path / "index.html").write_text(
        "<html><head><title>Начало</title></head><body><p>Сюда.</p></body></html>", encoding="utf-8"
    )
    (tmp_path / "guide" / "a.html").write_text("<h1>Глава</h1><p>Текст.</p>", encoding="utf-8")
    assert {page.id: (page.title, page.markdown) for page in pages(tmp_path).values()} == {
        "guide/a.html": ("Глава", "# Глава\n\nТекст."),
        "index.html": ("Начало", "Сюда."),
    }


def test_renamed_files_get_their_id_from_their_own_attachments(tmp_path: Path) -> None:
    body = "<p>Текст</p>" + FILES.format('<a href="attachments/77/1.png">план.png</a> (image/png)')
    (tmp_path / "plan.html").write_text(page_file("План", body), encoding="utf-8")
    assert list(pages(tmp_path)) == ["77"]


def test_two_files_with_one_id_stay_two_pages(tmp_path: Path) -> None:
    (tmp_path / "5.html").write_text(page_file("А", "<p>а</p>"), encoding="utf-8")
    (tmp_path / "b_5.html").write_text(page_file("Б", "<p>б</p>"), encoding="utf-8")
    assert sorted(pages(tmp_path)) == ["5", "b_5.html"]


def test_attachments_have_their_real_names_and_their_place_in_the_zip(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "folder")
    files = '<a href="attachments/2/8.docx">Бланк акта.docx</a> (application/msword)'
    body = '<p><a href="attachments/2/8.docx">бланк</a></p>' + FILES.format(files)
    (folder / "TARA" / "2.html").write_text(page_file("Акты", body), encoding="utf-8")
    (folder / "TARA" / "attachments" / "2").mkdir(parents=True)
    (folder / "TARA" / "attachments" / "2" / "8.docx").write_bytes(b"docx")
    found = pages(zipped(folder, tmp_path / "export.zip"), "https://w.example")["2"]
    assert found.markdown == "[бланк](https://w.example/download/attachments/2/Бланк%20акта.docx)"
    assert [(file.name, file.media_type) for file in found.attachments] == [("Бланк акта.docx", "application/msword")]
    assert read_attachment(found.attachments[0]) == b"docx"


def test_a_page_in_an_old_encoding_is_read_and_one_with_faults_says_so(tmp_path: Path) -> None:
    (tmp_path / "1.html").write_bytes("<html><body><p>Старая кодировка страницы</p></body></html>".encode("cp1251"))
    faulty = ("<html><body><p>" + "слово " * 100).encode() + b"\xff" + "конец</p></body></html>".encode()
    (tmp_path / "2.html").write_bytes(faulty)
    found = pages(tmp_path)
    assert found["1"].markdown == "Старая кодировка страницы"
    assert found["2"].losses[0] == Loss("encoding", "2.html", 1, "characters that could not be decoded")


def test_declared_encodings_and_marks_of_order_are_believed() -> None:
    assert decode("п\u0440".encode("utf-16"))[0] == "п\u0440"
    declared = '<meta http-equiv="Content-Type" content="text/html; charset=koi8-r"><p>почта</p>'
    assert "почта" in decode(declared.encode("koi8-r"))[0]


def test_entries_that_lead_out_of_a_zip_are_refused(tmp_path: Path) -> None:
    target = tmp_path / "evil.zip"
    link = zipfile.ZipInfo("link.html")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("1.html", page_file("Хорошая", "<p>да</p>"))
        archive.writestr("../out.html", "<p>нет</p>")
        archive.writestr("/etc/out.html", "<p>нет</p>")
        archive.writestr("a/../../out.html", "<p>нет</p>")
        archive.writestr(link, "/etc/passwd")
    export = source(target)
    assert [ref.id for ref in export.expected()] == ["1"]
    outside = "a path that leads out of the archive"
    assert [loss.detail for loss in export.losses] == [outside, outside, outside, "a link"]


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text("<p>тайна</p>", encoding="utf-8")
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "1.html").write_text("<p>да</p>", encoding="utf-8")
    (tmp_path / "export" / "2.html").symlink_to(tmp_path / "secret.html")
    export = source(tmp_path / "export")
    assert [ref.id for ref in export.expected()] == ["1"]
    assert [loss.name for loss in export.losses] == ["2.html"]


def test_a_page_of_nothing_is_a_page_without_text(tmp_path: Path) -> None:
    (tmp_path / "1.html").write_bytes(b"")
    (tmp_path / "2.html").write_text(page_file("Пустая", ""), encoding="utf-8")
    assert [page.markdown for page in pages(tmp_path).values()] == ["", ""]


def test_a_page_is_no_index_even_with_lists_in_sections() -> None:
    tree = '<h2 class="pageSectionTitle">x</h2><ul><li><a href="1.html">a</a></li></ul>'
    text = f'<div class="pageSection">{tree}</div><div class="wiki-content">t</div>'
    assert read_index(text.encode()) is None


def test_missing_empty_and_foreign_paths_are_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "no.zip").write_text("no zip", encoding="utf-8")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.txt").write_text("x", encoding="utf-8")
    for path, sentence in (
        ("nowhere", "does not exist"), ("empty", "is empty"), ("no.zip", "is no readable zip file"),
        ("text", r"holds no \.html file"),
    ):  # fmt: skip
        with pytest.raises(SourceError, match=sentence):
            open_source(f"html:{tmp_path / path}", configuration())


@pytest.mark.parametrize("title", ["Wiki -- {}", "Wiki | {}", "{} | Wiki", "Wiki :: {}"])
def test_the_name_that_a_site_puts_into_every_title_is_no_part_of_it(tmp_path: Path, title: str) -> None:
    for name in ("Акты", "Весы", "Ворота", "Тара", "Приёмка - ночь"):
        text = f"<html><head><title>{title.format(name)}</title></head><body><p>Текст.</p></body></html>"
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
    found = open_source(f"html:{tmp_path}", Configuration(Settings(), Path(), {})).pages()
    assert sorted(one.title for one in found if isinstance(one, Page)) == [
        "Акты", "Весы", "Ворота", "Приёмка - ночь", "Тара",
    ]  # fmt: skip


def test_breadcrumbs_that_are_no_list_and_end_with_the_page_are_its_path(tmp_path: Path) -> None:
    steps = '<a href="index.html">Index</a> &gt; <a href="d.html">Docs</a> &gt; <a href="p.html">Весы</a>'
    head = "<html><head><title>Wiki -- Весы</title></head>"
    (tmp_path / "p.html").write_text(
        f'{head}<body><div id="breadcrumbs">{steps}</div><div class=wiki-content><p>Т.</p></div></body></html>',
        encoding="utf-8",
    )
    [found] = open_source(f"html:{tmp_path}", Configuration(Settings(), Path(), {})).pages()
    assert isinstance(found, Page)
    assert (found.title, found.path) == ("Весы", ("Docs",))
