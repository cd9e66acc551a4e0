"""The list of links under an answer: what a line says of its page."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from askwiki.data import Passage
from askwiki.stages.sources import age_of, link_list, source_list
from askwiki.texts import load_texts

TEXTS = load_texts(Path(__file__).parents[2] / "config" / "texts")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def passage(**more: Any) -> Passage:
    plain = {"number": 1, "text": "Лимит 100.", "page_id": "1", "title": "Лимиты", "path": ("Деньги", "Переводы")}
    fields = {
        **plain,
        "headings": (),
        "url": "https://wiki.example.com/1",
        "updated": "",
        "chunk_ids": ("1#0",),
        **more,
    }
    return Passage(**fields)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, "1. [Лимиты](https://wiki.example.com/1)"),
        ({"headings": ("Разовый",)}, "1. [Лимиты › Разовый](https://wiki.example.com/1)"),
        ({"headings": ("Лимиты",)}, "1. [Лимиты](https://wiki.example.com/1)"),
        ({"url": ""}, "1. Лимиты (Деньги / Переводы)"),
        ({"url": "", "path": ()}, "1. Лимиты"),
        ({"title": "[а](б)", "url": "", "path": ("*",)}, r"1. (а)(б) (\*)"),
        ({"updated": "2026-11-20T10:00:00+00:00"}, "1. [Лимиты](https://wiki.example.com/1) · обновлено 10 дн. назад"),
    ],
)
def test_a_line_names_the_page_and_leads_to_it_or_says_where_it_is(fields: dict[str, Any], line: str) -> None:
    shown = source_list([passage(**fields)], title="Источники", texts=TEXTS, language="ru", now=NOW)
    assert shown == f"\n\n**Источники**\n\n{line}"
    near = link_list([passage(**fields)], texts=TEXTS, language="ru", now=NOW)
    assert near == f"- {line.removeprefix('1. ')}"


@pytest.mark.parametrize(
    ("updated", "said"),
    [
        ("2026-11-30T01:00:00", "обновлено сегодня"),
        ("2026-11-29", "обновлено 1 дн. назад"),
        ("2026-10-01", "обновлено 60 дн. назад"),
        ("2026-09-29", "обновлено 2 мес. назад"),
        ("2024-12-01", "обновлено 23 мес. назад"),
        ("2024-11-01", "обновлено 2 г. назад"),
        ("вчера", ""),
        ("", ""),
    ],
)
def test_the_age_of_a_page_is_said_in_days_months_or_years(updated: str, said: str) -> None:
    assert age_of(updated, TEXTS, "ru", NOW) == said


def test_nothing_to_list_is_no_list() -> None:
    assert source_list([], title="Источники", texts=TEXTS, language="ru", now=NOW) == ""
