"""``python -m indexer convert``: one file in any form to Markdown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from askwiki.configuration import Configuration
from askwiki.errors import SourceError
from askwiki.settings import Settings, WikiSettings
from indexer.confluence.sources.forms import Form, convert_file, guess_form

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "cases" / "confluence"
CONFIGURATION = Configuration(Settings(wiki=WikiSettings(url="https://w.example/wiki/")), Path(), {})


def indexer(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "indexer", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_markdown_goes_to_stdout_and_losses_to_stderr(tmp_path: Path) -> None:
    file = tmp_path / "a.xml"
    file.write_text('<p>Текст</p><ac:structured-macro ac:name="vendor-box"/>', encoding="utf-8")
    done = indexer("convert", str(file))
    assert (done.returncode, done.stdout) == (0, "Текст\n\n\\[макрос vendor-box: см. в вики]\n")
    assert done.stderr == "lost: macro vendor-box (its content is only in the wiki)\n"


def test_a_missing_file_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    done = indexer("convert", str(tmp_path / "nowhere.xml"))
    assert (done.returncode, done.stdout, len(done.stderr.strip().split("\n"))) == (2, "", 1)
    assert "is no file" in done.stderr


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('<p>a</p><ac:link><ri:page ri:content-title="x"/></ac:link>', "storage"),
        ("<p>просто абзац</p>", "view"),
        ("<!DOCTYPE html><html><body><p>a</p></body></html>", "html-export"),
        ("h1. Заголовок\n\n* пункт", "wiki"),
        ("просто текст", "wiki"),
        ("", "wiki"),
    ],
)
def test_the_form_is_guessed_from_the_text(text: str, form: Form) -> None:
    assert guess_form(text) == form


def test_the_wikis_address_in_the_settings_builds_links_and_pictures(tmp_path: Path) -> None:
    file = tmp_path / "70005.html"
    file.write_text(
        '<html><head><title>Тара : Акты</title></head><body><span id="title-text">Тара : Акты</span>'
        '<div id="main-content"><p><a href="70006.html">Сроки</a> <a href="#id-Акты-Вид">вид</a> '
        '<img src="attachments/70005/1.png" alt="план"></p></div></body></html>',
        encoding="utf-8",
    )
    assert convert_file(str(file), None, CONFIGURATION)[0] == (
        "[Сроки](https://w.example/wiki/pages/viewpage.action?pageId=70006) "
        "[вид](https://w.example/wiki/pages/viewpage.action?pageId=70005#id-Акты-Вид) "
        "![план](https://w.example/wiki/download/attachments/70005/1.png)"
    )


def test_a_zip_of_an_xml_export_is_taken_for_one(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.write(CASES / "22-xml-export.xml", "SKLAD/entities.xml")
    assert convert_file(str(tmp_path / "export.zip"), None, CONFIGURATION)[0].count("---\ntitle: ") == 3


def test_a_file_that_is_no_export_is_refused_as_one(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<p>x</p>", encoding="utf-8")
    with pytest.raises(SourceError, match="not the file of a Confluence XML export"):
        convert_file(str(tmp_path / "a.xml"), "entities", CONFIGURATION)
