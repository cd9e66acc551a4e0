"""What counts as support of a sentence: words beside numbers and names, names that hold a capital inside."""

from __future__ import annotations

import pytest

from askwiki.data import Passage
from askwiki.stages.citations.support import exact_facts, known, supporting

LEAST = 0.4


def passage(text: str) -> Passage:
    return Passage(1, "p", "Машины", ("База",), ("Диски",), "", "2026-08-30", text, ("c",))


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Подсеть создают API-запросом.", "Подсеть создают запросом к API."),
        ("Комиссию берут с 91-го дня.", "Комиссию берут после 90 дней, на 91 день."),
        ("Нужен QEMU-агент в системе.", "В системе нужен агент QEMU."),
        ("Диск создают через OpenStack CLI.", "Диск создают через OpenStack CLI."),
        ("Скидка есть везде, кроме UnionPay.", "Скидка есть везде, кроме карт UnionPay."),
        ("Скорость до 1,5 Гбит/с на узел.", "Скорость до 1,5 Gbps на узел."),
    ],
)
def test_another_way_to_say_the_same_is_supported(sentence: str, text: str) -> None:
    assert supporting(sentence, [1], {1: known(passage(text))}, LEAST) == [1]


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Подсеть создают API-запросом.", "Подсеть создают в кабинете."),
        ("Комиссию берут с 91-го дня.", "Комиссию берут с 92-го дня."),
        ("Диск создают через OpenStack.", "Диск создают через Open Source."),
        ("Диск меняет КЗ-17 сам.", "Диск меняет КЗ-18 сам."),
    ],
)
def test_another_fact_is_not(sentence: str, text: str) -> None:
    assert supporting(sentence, [1], {1: known(passage(text))}, LEAST) == []


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("16-ядерный узел", {"16"}),
        ("документ КЗ-17", {"кз-17"}),
        ("join-запрос", set()),
        ("поле order_status_id", {"order_status_id"}),
    ],
)
def test_a_plain_word_beside_a_hyphen_is_no_identifier(sentence: str, facts: set[str]) -> None:
    assert exact_facts(sentence) == facts
