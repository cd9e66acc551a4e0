"""Which texts describe a screen, and by which rule."""

from __future__ import annotations

import pytest

from indexer.screens import is_labelled, screen_rule


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
    assert screen_rule(text, headings) == rule


def test_the_label_of_the_page_decides_in_any_letter_case() -> None:
    assert is_labelled(("other", "UI"), "screen, ui")
    assert not is_labelled(("other",), "screen, ui")
    assert not is_labelled((), "screen, ui")
