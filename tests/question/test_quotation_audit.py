"""The audit of quotations sees each kind of fault, and no quotation of the sample wiki has one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from askwiki.configuration import load_configuration
from askwiki.data import Page
from askwiki.settings import AnswerSettings
from askwiki.stages.extractive.counts import counted_in
from askwiki.texts import load_texts
from indexer.opening import open_source
from tests.audit.faults import Fault, faults
from tests.audit.quoting import quotations
from tests.support.small_wiki import CONFIG

PAGE = """\
Вступление. Роль нужна всем. Стажёрам её не дают.

Стажёр не может:

- создать отпуск
- удалить отпуск
- продлить отпуск

**Для стажёров**

Пароль даёт куратор.

| Код | Срок |
| --- | --- |
| E-1 | день |
| E-2 | год |

1. Открыть.
1. Закрыть.

Отпуск дают всем.

Исключение — стажёры.
"""
TESTS = Path(__file__).resolve().parents[1]
SOURCES = [(f"xml:{TESTS / 'wiki' / 'xml'}", 9), (f"markdown:{TESTS / 'cases' / 'quotations'}", 1)]


@pytest.mark.parametrize(
    ("quotation", "kinds"),
    [
        (PAGE, set()),
        ("Вступление.\n\n…\n\nСтажёр не может:\n\n- создать отпуск\n\n*показан 1 пункт из 3*", set()),
        ("Вступление. Роль нужна всем.", {"limit"}),
        ("Вступление.\n\n**Для стажёров**\n\nПароль даёт куратор.", {"gap"}),
        ("Вступление.\n\n…\n\nСтажёр не может:", {"lead-in alone"}),
        ("- создать отпуск\n- удалить отпуск\n- продлить отпуск", {"without its lead-in"}),
        ("Пароль даёт куратор.", {"subheading"}),
        ("**Для стажёров**\n\n…\n\n| Код | Срок |\n| --- | --- |\n| E-2 | год |", {"cut"}),
        ("**Для стажёров**\n\n…\n\n1. Закрыть.\n\n*показан 1 пункт из 2*", {"step"}),
        ("**Для стажёров**\n\n…\n\n2. Закрыть.\n\n*показан 1 пункт из 2*", set()),
        ("**Для стажёров**\n\n…\n\nОтпуск дают всем.", {"limit"}),
    ],
)
def test_what_is_left_out_without_a_word_is_seen(quotation: str, kinds: set[str]) -> None:
    assert {fault.kind for fault in faults(PAGE, quotation)} == kinds


@pytest.mark.parametrize("characters", [200, 500, 1_200])
@pytest.mark.parametrize(("source", "every"), SOURCES, ids=["sample wiki", "shapes of real pages"])
def test_no_quotation_leaves_anything_out_without_a_word(source: str, every: int, characters: int) -> None:
    count = counted_in(load_texts(CONFIG / "texts"), "ru")
    settings = AnswerSettings(extractive_characters=characters)
    pages = open_source(source, load_configuration(os.environ)).pages()
    found: list[tuple[str, str, Fault]] = [
        (page.title, quoted.question, fault)
        for page in pages
        if isinstance(page, Page)
        for quoted in quotations(page, settings, count, every)
        for fault in faults(page.markdown, quoted.text, quoted.label)
    ]
    assert found == []


def test_a_list_inside_an_item_that_is_cut_without_a_word_is_seen() -> None:
    page = "1. Роль выдают:\n\n   - стажёру\n   - подрядчику\n\n2. Роль отзывают."
    cut = "1. Роль выдают:\n\n   - стажёру\n\n2. Роль отзывают."
    assert [fault.kind for fault in faults(page, cut)] == ["gap", "cut"]
    assert faults(page, cut.replace("стажёру", "стажёру\n\n   *показан 1 пункт из 2*")) == []
