"""Diagrams out of pictures: which pictures are asked about, what enters the page, what is refused."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from askwiki.data import Attachment, Page
from askwiki.errors import ModelError, SourceError
from askwiki.language.glossary import Glossary
from askwiki.prompts import load_prompts
from indexer.enrich.asking import Counters, Desk
from indexer.enrich.cache import Cache
from indexer.enrich.pictures import Picture, guess, read_picture
from indexer.enrich.plantuml import find_source, syntax_error
from indexer.enrich.vision import recover_diagrams
from tests.support.scripted import ScriptedLlm

PROMPTS = load_prompts(Path(__file__).resolve().parents[2] / "config" / "prompts")
SOURCE = "@startuml\n[Заявка] --> [Склад] : резерв\n@enduml"
SHOWN = "До рисунка.\n\n![Схема заявки](flow.png)\n\nПосле рисунка.\n"
CHECK = partial(syntax_error, program="")  # by the frame alone, wherever the test runs


def png(width: int = 800, height: int = 500) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)


def page(markdown: str, *names: str) -> Page:
    files = tuple(Attachment(name, name, "image/png", f"/files/{name}") for name in names)
    return Page("7", "IT", "Заявки", (), "", markdown, attachments=files)


@pytest.fixture
def cache() -> Iterator[Cache]:
    kept = Cache(None)
    yield kept
    kept.close()


def desk(llm: ScriptedLlm, cache: Cache) -> Desk:
    return Desk(llm, PROMPTS, Glossary(), cache, Counters())


def recovered(whole: Page, at: Desk, data: bytes = png()) -> str:
    return recover_diagrams(whole, desk=at, read=lambda attachment: data, check=CHECK).markdown


def test_a_diagram_enters_the_page_behind_its_picture_marked_and_linked(cache: Cache) -> None:
    llm = ScriptedLlm().enqueue("vision", f"Вот код:\n```plantuml\n{SOURCE}\n```\nГотово.")
    assert recovered(page(SHOWN, "flow.png"), desk(llm, cache)) == (
        "До рисунка.\n\n![Схема заявки](flow.png)\n\n"
        "*Схема восстановлена моделью с рисунка [flow.png](flow.png):*\n\n"
        f"```plantuml\n{SOURCE}\n```\n\n"
        "После рисунка.\n"
    )
    [asked] = llm.history
    assert asked.messages[-1].images[0].startswith("data:image/png;base64,iVBORw0KGgo")


def test_a_second_run_calls_nothing_even_for_what_is_no_diagram(cache: Cache) -> None:
    both = page("![a](flow.png)\n\n![b](x.png)\n", "flow.png", "x.png")
    pictures = {"flow.png": png(), "x.png": png(640, 480)}

    def run(at: Desk) -> str:
        return recover_diagrams(both, desk=at, read=lambda one: pictures[one.name], check=CHECK).markdown

    first = run(desk(ScriptedLlm(parallel=1).enqueue("vision", SOURCE, "NO DIAGRAM"), cache))
    again = desk(ScriptedLlm(), cache)
    assert run(again) == first
    assert first.count("@startuml") == 1
    assert again.counters.counts() == {"vision.cached": 2}


def test_an_invalid_diagram_is_asked_once_more_with_the_fault(cache: Cache) -> None:
    llm = ScriptedLlm().enqueue("vision", "@startuml\n@enduml", SOURCE)
    at = desk(llm, cache)
    assert SOURCE in recovered(page(SHOWN, "flow.png"), at)
    assert llm.history[1].messages[-1].content == "The diagram is empty."
    assert at.counters.counts() == {"vision.calls": 2, "vision.repaired": 1}


@pytest.mark.parametrize("replies", [["prose", "prose again"], [ModelError("no answer for 60 s")]])
def test_a_failure_leaves_the_page_as_it_is_and_is_counted(cache: Cache, replies: list[str]) -> None:
    at = desk(ScriptedLlm().enqueue("vision", *replies), cache)
    assert recovered(page(SHOWN, "flow.png"), at) == SHOWN
    assert at.counters.counts() == {"vision.calls": len(replies), "vision.fallback": 1}


@pytest.mark.parametrize(
    "markdown",
    [
        "![Скриншот формы](screenshot.png)\n",
        "```\n![a](flow.png)\n```\n",
        "![a](flow.png)\n\n```plantuml\n@startuml\na -> b\n@enduml\n```\n",
        "![a](https://elsewhere.example/flow2.png)\n",
        "[a link](flow.png)\n",
    ],
)
def test_screenshots_known_diagrams_and_foreign_pictures_are_not_asked_about(cache: Cache, markdown: str) -> None:
    llm = ScriptedLlm()
    assert recovered(page(markdown, "flow.png", "screenshot.png"), desk(llm, cache)) == markdown
    assert llm.history == []


def test_a_file_that_cannot_be_read_is_counted(cache: Cache) -> None:
    def fails(attachment: Attachment) -> bytes:
        raise SourceError("gone")

    at = desk(ScriptedLlm(), cache)
    assert recover_diagrams(page(SHOWN, "flow.png"), desk=at, read=fails).markdown == SHOWN
    assert at.counters.counts() == {"vision.unreadable": 1}


def test_a_picture_in_a_table_gets_its_diagram_behind_the_table(cache: Cache) -> None:
    table = "| a |\n|---|\n| ![x](flow.png) |\n"
    found = recovered(page(table + "\nДальше.\n", "flow.png"), desk(ScriptedLlm().enqueue("vision", SOURCE), cache))
    assert found.startswith(table + "\n*Схема")


@pytest.mark.parametrize(
    ("name", "alt", "size", "expected"),
    [
        ("process.drawio.png", "", (800, 500), "diagram"),
        ("image-1.png", "Схема обмена", (800, 500), "diagram"),
        ("image-1.png", "", (800, 500), "unknown"),
        ("image-1.png", "", (1920, 1080), "other"),
        ("image-1.png", "", (32, 32), "other"),
        ("Снимок экрана 1.png", "", (800, 500), "other"),
        ("company_logo.png", "", (800, 500), "other"),
    ],
)
def test_pictures_are_sorted_by_name_and_size(name: str, alt: str, size: tuple[int, int], expected: str) -> None:
    assert guess(name, alt, Picture("image/png", *size)) == expected


def test_sizes_are_read_from_the_files_first_bytes() -> None:
    jpeg = b"\xff\xd8\xff\xe0\x00\x04xx\xff\xc0\x00\x11\x08" + struct.pack(">HH", 300, 400) + b"\x03" * 10
    assert read_picture(png(640, 480)) == Picture("image/png", 640, 480)
    assert read_picture(b"GIF89a" + struct.pack("<HH", 20, 10)) == Picture("image/gif", 20, 10)
    assert read_picture(jpeg) == Picture("image/jpeg", 400, 300)
    assert read_picture(b"<svg/>") is None
    assert read_picture(b"\xff\xd8\xff") is None


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (SOURCE, ""),
        ("@startuml\na -> b\n", "It must be one @startuml … @enduml."),
        (f"{SOURCE}\n{SOURCE}", "It must be one @startuml … @enduml."),
        ("@startuml\n!include /etc/passwd\na -> b\n@enduml", "!include is not allowed here."),
    ],
)
def test_syntax_is_checked_by_the_frame_where_the_parser_is_missing(source: str, fault: str) -> None:
    assert syntax_error(source, program="") == fault


def test_the_source_is_found_with_and_without_a_fence() -> None:
    assert find_source(f"text {SOURCE} text") == SOURCE
    assert find_source("```\na -> b\n```") == "@startuml\na -> b\n@enduml"
    assert find_source("~~~ puml\na -> b\n~~~") == "@startuml\na -> b\n@enduml"
    assert find_source("no code") == ""


def test_the_parsers_verdict_counts(tmp_path: Path) -> None:
    parser = tmp_path / "plantuml"
    parser.write_text("#!/bin/sh\ncat >/dev/null\nprintf 'ERROR\\n2\\nSyntax Error?\\n'\n")
    parser.chmod(0o755)
    assert syntax_error(SOURCE, program=str(parser)) == "2; Syntax Error?"
