"""``indexer show``: pages as they would be indexed, without a store."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from askwiki.commands.command_line import main
from indexer.__main__ import COMMANDS

FIRST = """---
title: Приём заявок
path: [Поддержка]
updated: 2026-05-06
labels: [важное]
readers:
  - groups: [hr]
url: https://wiki.example/display/HR/1
---
Вступление.

## Сроки

Ответ за два дня.
"""
SECOND = "# Оплата\n\nСчёт.\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASKWIKI_CONFIG", str(Path(__file__).resolve().parents[2] / "config"))
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "a.md").write_text(FIRST, encoding="utf-8")
    (pages / "b.md").write_text(SECOND, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return pages


def show(*words: str) -> int:
    return main("indexer", "indexer.commands", COMMANDS, ["show", *words])


def test_all_pages_are_one_json_object_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show(f"markdown:{folder}", "--all", "--json") == 0
    first, second = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    chunks: list[dict[str, Any]] = first.pop("chunks")
    assert first == {
        "id": "a.md",
        "title": "Приём заявок",
        "path": ["Поддержка"],
        "url": "https://wiki.example/display/HR/1",
        "updated": "2026-05-06",
        "labels": ["важное"],
        "readers": [{"users": [], "groups": ["hr"]}],
        "markdown": "Вступление.\n\n## Сроки\n\nОтвет за два дня.\n",
        "losses": [],
    }
    assert [(one["kind"], one["headings"], one["text"]) for one in chunks] == [
        ("note", [], "Вступление.\n\n"),
        ("section", ["Сроки"], "## Сроки\n\nОтвет за два дня.\n"),
    ]
    assert {(one["part"], one["parts"], one["overlap"], one["screen"], one["limit"]) for one in chunks} == {
        (1, 1, 0, False, 512)
    }
    assert all(0 < one["tokens"] < 60 for one in chunks)
    assert [each["text"] for one in chunks for each in one["embedded"]] == [
        "Поддержка / Приём заявок\nВступление.",
        "Поддержка / Приём заявок / Сроки\nСроки\nОтвет за два дня.",
    ]
    assert [each["tokens"] for one in chunks for each in one["embedded"]] == [one["tokens"] for one in chunks]
    assert chunks[1]["context"] == ""  # no model wrote one
    assert (second["id"], second["title"], second["readers"], second["url"]) == ("b.md", "Оплата", None, "")
    assert not (folder.parent / ".askwiki").exists()


@pytest.mark.parametrize("name", ["a.md", "приём заявок", "Поддержка / Приём заявок"])
def test_a_page_is_found_by_id_title_or_path(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert show(f"markdown:{folder}", name) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("title:    Приём заявок\nid:       a.md\npath:     Поддержка\n")
    assert "readers:  (hr)\nsections:\n  Сроки\n" in shown
    assert shown.endswith("Ответ за два дня.\n\n")


def test_chunks_are_shown_with_borders_kinds_and_tokens(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show(f"markdown:{folder}", "a.md", "--chunks") == 0
    shown = capsys.readouterr().out
    assert "[2/2] section, " in shown
    assert " of 512 tokens\nheadings: Сроки\n\n## Сроки\n" in shown
    assert re.search(
        r"embedded, \d+ tokens:\n  Поддержка / Приём заявок / Сроки\n  Сроки\n  Ответ за два дня\.\n", shown
    )


def test_what_a_part_repeats_is_parted_from_its_own_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = "| Имя | Смысл |\n| --- | --- |"
    rows = "".join(f"| поле {n} | что значит поле номер {n} |\n" for n in range(60))
    (folder / "c.md").write_text(f"{header}\n{rows}", encoding="utf-8")
    assert show(f"markdown:{folder}", "c.md", "--chunks") == 0
    first, second, *_ = capsys.readouterr().out.split("─" * 100)[1:]
    assert f"\n\n{header}\n| поле 0 |" in first
    assert re.search(rf"\n\n{re.escape(header)}\n┄+ repeated up to here\n\| поле \d+ \|", second)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("| Поле | Смысл |\n| --- | --- |\n| Имя | кто это |\n", "table of fields"),
        ("---\nlabels: [экран]\n---\nОб отпуске.\n", "label of the page"),
    ],
)
def test_a_chunk_of_a_screen_is_shown_with_the_reason(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, reason: str
) -> None:
    (folder / "c.md").write_text(text, encoding="utf-8")
    assert show(f"markdown:{folder}", "c.md", "--chunks") == 0
    assert f"[1/1] note, screen ({reason}), " in capsys.readouterr().out


def test_an_unknown_page_is_answered_with_the_nearest_titles(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show(f"markdown:{folder}", "Прием заявлений") == 2
    error = capsys.readouterr().err
    assert "has no page with the id, title or path «Прием заявлений». Nearest titles: Приём заявок." in error


def test_a_title_that_two_pages_have_asks_for_the_id(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "c.md").write_text(SECOND, encoding="utf-8")
    assert show(f"markdown:{folder}", "Оплата") == 2
    assert "Name one by its id: b.md, c.md." in capsys.readouterr().err


def test_neither_or_both_of_page_and_all_is_a_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show(f"markdown:{folder}") == 2
    assert show(f"markdown:{folder}", "a.md", "--all") == 2
    assert capsys.readouterr().err.count("Name one page, or give --all") == 2


def test_a_page_that_cannot_be_read_is_named_and_the_rest_is_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.md").write_bytes(b"\xff\xfe\xfa")
    assert show(f"markdown:{folder}", "--all", "--json") == 1
    shown = capsys.readouterr()
    assert [json.loads(line)["id"] for line in shown.out.splitlines()] == ["b.md"]
    assert "a.md" in shown.err
