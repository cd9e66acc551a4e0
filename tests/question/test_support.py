"""What counts as support of a sentence: words beside numbers and names, names that hold a capital inside."""

from __future__ import annotations

import pytest

from askwiki.data import Passage
from askwiki.stages.citations.checked_stream import SentenceGate
from askwiki.stages.citations.support import exact_facts, excused, known, supporting

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


def gate_over(*passages: str, question: str = "", same: dict[int, int] | None = None) -> SentenceGate:
    """A gate over these passages, numbered from 1."""
    given = {number: known(passage(one)) for number, one in enumerate(passages, 1)}
    return SentenceGate(
        given, hosts=frozenset(), least_share=LEAST, broken_diagram="", excused=excused(question), unsupported="?!",
        same=same,
    )  # fmt: skip


def said(text: str, *passages: str, question: str = "") -> str:
    """What of an answer leaves over these passages."""
    gate = gate_over(*passages, question=question)
    return gate.feed(text) + gate.finish()


LIMITS = "Лимит перевода 100 тысяч рублей в день. Комиссия за отмену двести рублей."
ROWS = "| Партнёр | Отмена |\n| --- | --- |\n| Алтын Пэй | 150 ₽ |\n| Борсо | 90 ₽ |\n"


@pytest.mark.parametrize(
    ("answer", "passages", "question"),
    [
        ("Отправить 80 тысяч можно: лимит перевода 100 тысяч рублей [1].", [LIMITS], "Как отправить 80 тысяч?"),
        ("Комиссия за отмену 200 рублей [1].", [LIMITS], ""),
        ("Лимит перевода сто тыс. рублей в день [1].", [LIMITS], ""),
        ("Лимит перевода 100 000 рублей в день [1].", [LIMITS], ""),
        ("Всего 2 статуса [1].", ["Статусы перевода:\n\n- принят\n- выдан\n"], ""),
        ("Лимит перевода 100 тысяч, комиссия за отмену 200, вместе 100 200 рублей [1].", [LIMITS], ""),
        ("Копии делают по схеме Grandfather-Father-Son [1].", ["Копии: схема Grandfather-Father-Son."], ""),
        ("Офис открыт в Санкт-Петербурге [1].", ["Офис открыт в городе Санкт-Петербург."], ""),
        ("Пишите Анне Ивановой-Петровой [1].", ["Писать: Анна Иванова-Петрова."], ""),
        ("У партнёра Алтын Пэй отмена стоит 150 ₽ [1].", [ROWS], ""),
        ("В хранилище есть лишь трое [1]:", ["В хранилище есть:\n\n- Анна\n- Иван\n- Олег\n"], ""),
    ],
)
def test_a_right_marker_stays(answer: str, passages: list[str], question: str) -> None:
    assert said(answer, *passages, question=question).replace("]\\:", "]:") == answer


def test_a_marker_speaks_for_the_clause_before_it() -> None:
    answer = "Пользователь — `debian` [2], порт — 22 [1]."
    assert said(answer, "Порт для входа: 22.", "Пользователь образа: `debian`.") == answer.replace("2]", "0]").replace(
        "1]", "2]"
    ).replace("0]", "1]")
    assert "[2]" not in said("Пользователь — `ubuntu` [1].", "Пользователь образа: `debian`.")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Диск нельзя увеличить без остановки машины [1].", "Диск можно увеличить без остановки машины."),
        (
            "Роль владельца снимается администратором проекта [1].",
            "Роль владельца не снимается администратором проекта.",
        ),
        ("У партнёра Борсо отмена стоит 150 ₽ [1].", ROWS),
        ("Отчёт утверждает Борсо [1].", "Отчёт утверждает Алтын. Скидку утверждает Борсо."),
        ("Скидка на перевод есть везде [1].", "Скидка на перевод есть везде, кроме карт UnionPay."),
        ("Заявку подают не менее чем за 14 дней [1].", "Заявку подают не более чем за 14 дней."),
    ],
)
def test_a_wrong_marker_goes_and_its_sentence_is_marked(answer: str, text: str) -> None:
    assert said(answer, text) == f"{answer.replace(' [1]', '')} ?!"


def test_only_what_can_be_checked_is_marked() -> None:
    assert said("Спросите коллег. Лимит перевода 300 тысяч рублей в день.", LIMITS) == (
        "Спросите коллег. Лимит перевода 300 тысяч рублей в день. ?!"
    )
    assert said("| Алтын Пэй | 170 ₽ |\n", ROWS) == "| Алтын Пэй | 170 ₽ ?! |\n"
    assert said("Лимит 300 тысяч.") == "Лимит 300 тысяч."


@pytest.mark.parametrize("label", ["Источник: [1]", "*Источник:* [1]", "Sources: [1]"])
def test_a_label_of_a_source_keeps_its_marker_or_goes(label: str) -> None:
    assert said(f"| Алтын Пэй | 150 ₽ |\n\n{label}\n", ROWS).endswith(f"{label}\n")
    assert "сточник" not in said(f"Погода хорошая.\n\n{label}\n", ROWS)


@pytest.mark.parametrize("marker", ["[citation:1]", "[doc 1]", "(Источник 1)", "[Источник 1, источник 1]"])
def test_further_ways_to_write_a_marker(marker: str) -> None:
    assert said(f"Комиссия за отмену 200 рублей {marker}.", LIMITS).startswith("Комиссия за отмену 200 рублей [1]")
