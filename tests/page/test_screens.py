"""Which texts describe a screen, and by which rule."""

from __future__ import annotations

import pytest

from askwiki.data import Page
from askwiki.settings import ChunkingSettings
from indexer.chunking.chunks import chunk_page
from indexer.chunking.screens import Screens, is_labelled, state_of


@pytest.mark.parametrize(
    ("text", "headings", "rule"),
    [
        ("| Поле | Смысл |\n|---|---|\n| Сумма | до копейки |\n", (), "table of fields"),
        ("| **Название поля** | Тип |\n|---|---|\n| a | b |\n", (), "table of fields"),
        ("| Button | Effect |\n|---|---|\n| Save | saves |\n", (), "table of fields"),
        ("Откройте меню **Займы → Заявки**, затем Отчёты → Новые.", (), "menu paths"),
        ("Open the menu Settings > Users, then Admin > Rights.", (), "menu paths"),
        ("Нажмите кнопку «Создать». В поле «Сумма» введите число, поставьте флажок.", (), "words of controls"),
        ("Кнопка одна.", ("Форма заявки",), "heading"),
        ("Заявку рассматривает руководитель в течение двух дней.", (), ""),
        ("Заявку рассматривает руководитель.", ("Форма собственности",), ""),
        ("Займ становится просроченным на шестой день. Кнопка тут ни при чём, важен только срок.", (), ""),
        ("| Система | Кто даёт |\n|---|---|\n| DWH | Фролов |\n", (), ""),
        ("Тип `Map -> Set` и\n```\nfield -> Button\nmenu -> Tab\n```\n", (), ""),
        ("", (), ""),
    ],
)
def test_rules(text: str, headings: tuple[str, ...], rule: str) -> None:
    assert Screens(text).rule(0, len(text), headings) == rule


def test_the_label_of_the_page_decides_in_any_letter_case() -> None:
    assert is_labelled(("other", "UI"), "screen, ui")
    assert not is_labelled(("other",), "screen, ui")
    assert not is_labelled((), "screen, ui")


def test_a_part_of_the_text_is_judged_by_itself() -> None:
    prose, table = "Просто текст.\n\n", "| Поле | Смысл |\n|---|---|\n"
    screens = Screens(prose + table)
    assert screens.rule(0, len(prose), ()) == ""
    assert screens.rule(len(prose), len(prose + table), ()) == "table of fields"


def test_letters_that_become_two_in_lower_case_move_nothing() -> None:
    text = "İ" * 50 + " Нажмите кнопку." + " Нажмите кнопку." * 2
    assert Screens(text).rule(50, len(text), ()) == "words of controls"
    assert Screens(text).rule(0, 50, ()) == ""


@pytest.mark.parametrize("state", ["outdated", "archived", "draft", "verified"])
def test_a_label_of_the_settings_says_what_a_page_is_called(state: str) -> None:
    page = Page("1", "IT", "Заявки", (), "", "Текст.", labels=("Особая",))
    labels = {
        "outdated": ChunkingSettings(outdated_labels="особая"),
        "archived": ChunkingSettings(archived_labels="особая"),
        "draft": ChunkingSettings(draft_labels="особая"),
        "verified": ChunkingSettings(verified_labels="особая"),
    }
    assert (state_of(page, ChunkingSettings()), state_of(page, labels[state])) == ("", state)


def test_a_page_with_a_label_of_the_settings_is_one_of_a_screen() -> None:
    page = Page("1", "IT", "Заявки", (), "", "Текст.", labels=("форма",))
    kinds = [
        [chunk.screen for chunk in chunk_page(page, count=lambda texts: [len(each) for each in texts], limit=200,
                                              settings=ChunkingSettings(screen_labels=labels))]
        for labels in ("screen", "форма")
    ]  # fmt: skip
    assert kinds == [[False], [True]]
