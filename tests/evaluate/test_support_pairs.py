"""The pairs that the support check is measured on: each says what its kind promises."""

from __future__ import annotations

import random

import pytest

from tests.bench.support_changes import NUMBER, inflected, reordered, spoken, swapped, turned, without_exception
from tests.bench.support_pairs import pairs_of, rows_of

PAGE = (
    "# Переводы\n\nЛимит перевода физического лица 600 рублей в сутки. Отмену перевода оператор делает за 15 минут.\n\n"
    "| Партнёр | Отмена перевода | Кто платит |\n| --- | --- | --- |\n| Борсо | 90 ₽ | клиент кассы |\n"
)
OTHER = "# Отпуск\n\nЗаявку на ежегодный отпуск сотрудник подаёт за две недели в портале кадров.\n"


def test_a_broken_pair_has_no_right_marker_and_an_honest_one_has_all() -> None:
    pairs = list(pairs_of({"a": PAGE, "b": OTHER}))
    assert {pair.kind for pair in pairs} >= {"honest: copied", "honest: table row", "broken: other number"}
    assert all(bool(pair.right) == pair.kind.startswith("honest") for pair in pairs)
    assert pairs == list(pairs_of({"b": OTHER, "a": PAGE}))


def test_a_row_is_told_with_the_heads_of_its_columns() -> None:
    assert list(rows_of(PAGE)) == ["Борсо: Отмена перевода — 90 ₽, Кто платит — клиент кассы."]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (turned("Роль снимается."), "Роль не снимается."),
        (turned("Диск нельзя увеличить."), "Диск можно увеличить."),
        (turned("Заявку не принимают."), "Заявку принимают."),
        (spoken("Срок 5 дней, 15000 рублей, 10% и 1 500."), "Срок пять дней, 15 тысяч рублей, 10% и 1 500."),
        (inflected("Пишет Ольга снова."), "Пишет Ольгой снова."),
        (reordered("Если касса закрыта, перевод ждёт утра."), "Перевод ждёт утра, если касса закрыта."),
        (without_exception("Скидка есть везде, кроме карт."), "Скидка есть везде."),
        (without_exception("Скидка есть везде."), ""),
        (list(swapped("Лимит 600.", "Лимит 600. Отмена 15.", NUMBER, random.Random(1))), ["Лимит 15."]),
        (list(swapped("Лимит 600.", "Лимит 600.", NUMBER, random.Random(1))), []),
    ],
)
def test_a_sentence_is_changed_as_its_kind_says(made: object, expected: object) -> None:
    assert made == expected
