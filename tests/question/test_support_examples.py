"""Markers that were once lost or kept wrongly, each with its right value."""

from __future__ import annotations

import pytest

from tests.question.test_support import LIMITS, ROWS, gate_over, said

STAFF = "Руководитель отдела переводов — Анна Иванова-Петрова. Генеральный директор холдинга — Олег Сомов."
RULES = "Отменить перевод можно только в кассе. Отмена стоит 150 ₽, срок отмены 30 минут, не позже выдачи."
VPN = "VPN работает через ADFS версии 25.1. Для входа нужен токен, без токена вход закрыт."


@pytest.mark.parametrize(
    ("answer", "passages", "question"),
    [
        ("Отправить 80 тысяч можно, лимит 100 тысяч рублей в день [1].", [LIMITS], "Можно отправить 80 тысяч?"),
        ("Да, 80 000 меньше лимита 100 000 рублей в день [1].", [LIMITS], "Пройдёт ли перевод 80 тысяч?"),
        ("В версии 25.1 для входа нужен токен [1].", ["Для входа нужен токен."], "Как войти в 25.1?"),
        ("Через ADFS для входа нужен токен [1].", ["Для входа нужен токен."], "Как войти через ADFS?"),
        ("Комиссия за отмену двести рублей [1].", ["Комиссия за отмену 200 рублей."], ""),
        ("Лимит перевода 100 тыс. рублей в день [1].", [LIMITS], ""),
        ("В 2026 году лимит перевода 100 тысяч рублей в день [1].", [LIMITS], "Какой лимит в 2026 году?"),
        ("Две отмены стоят вместе 300 ₽, одна 150 ₽ [1].", [RULES], "Сколько стоят две отмены?"),
        ("Копии делают по схеме «Grandfather-Father-Son» [1].", ["Копии: схема Grandfather-Father-Son."], ""),
        ("Отдел открыт в Санкт-Петербурге [1].", ["Отдел открыт: Санкт-Петербург."], ""),
        ("Об отпуске пишите Анне Ивановой-Петровой [1].", [f"{STAFF} Об отпуске пишут ей."], ""),
        ("Отмена перевода в кассе стоит 150 ₽ [1].", [RULES], ""),
    ],
)
def test_a_true_link_is_kept(answer: str, passages: list[str], question: str) -> None:
    assert said(answer, *passages, question=question) == answer


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Отмена перевода стоит 30 ₽, срок отмены 150 минут [1].", RULES),
        ("У партнёра Алтын Пэй отмена стоит 90 ₽ [1].", ROWS),
        ("Для входа не нужен токен [1].", VPN),
        ("Генеральный директор холдинга — Анна Иванова-Петрова [1].", STAFF),
        ("Комиссия за отмену 250 рублей [1].", LIMITS),
        ("Пользователь образа — `ubuntu` [1].", "Пользователь образа: `debian`."),
    ],
)
def test_a_wrong_link_is_dropped(answer: str, text: str) -> None:
    assert "[1]" not in said(answer, text)


def test_what_only_paraphrases_keeps_its_link() -> None:
    answer = "Вернуть деньги получится лишь лично у оператора [1]."
    assert said(answer, "Отменить перевод можно только в кассе, деньги вернут сразу.", VPN) == answer


FLAGS = (
    "| Параметр | Обязателен | Назначение |\n| --- | --- | --- |\n| адрес | да | куда уходит письмо после входа |\n"
    "| метод | нет | какой метод вызвать при ошибке проверки |"
)
DISKS = (
    "| ГБ | Чтение, операций | Запись, операций |\n| --- | --- | --- |\n"
    "| 10 | 300 | 150 |\n| 50 | 300 | 160 |\n| 90 | 700 | 150 |"
)


@pytest.mark.parametrize(
    "answer",
    [
        "метод: Обязателен — нет, Назначение — какой метод вызвать при ошибке проверки [1].",
        "адрес: Обязателен — да, Назначение — куда уходит письмо после входа [1].",
    ],
)
def test_a_no_in_a_cell_denies_nothing_that_the_cells_beside_it_say(answer: str) -> None:
    assert said(answer, FLAGS) == answer


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("10: Чтение, операций — 300, Запись, операций — 150 [1].", True),
        ("50: Чтение, операций — 300, Запись, операций — 160 [1].", True),
        ("десять: Чтение, операций — 300, Запись, операций — 150 [1].", True),
        ("90: Чтение, операций — 300, Запись, операций — 160 [1].", False),  # another row's
        ("10: Чтение, операций — 310, Запись, операций — 150 [1].", False),
    ],
)
def test_a_row_of_numbers_is_told_whole_or_not_at_all(answer: str, kept: bool) -> None:
    assert ("[1]" in said(answer, DISKS)) == kept


def test_two_sources_in_one_sentence_are_judged_each_for_its_part() -> None:
    answer = "Пользователь — `debian` [1], порт — 22 [2]."
    assert said(answer, "Пользователь образа: `debian`.", "Порт для входа: 22.") == answer


def test_another_passage_that_says_it_takes_the_link_from_one_that_does_not() -> None:
    other = "Заявку на отпуск подают за две недели на портале кадров."
    assert said("Заявку на отпуск подают на портале кадров [1].", LIMITS, other).endswith("кадров.")
    assert said("Заявку на отпуск подают на портале кадров [2].", LIMITS, other).endswith("[1].")


LISTED = "Лимит перевода 100 тысяч рублей в день [1].\n\n"


@pytest.mark.parametrize(
    "own",
    [
        "**Источники:**\n\n1. [1] Лимиты\n2. [2] Отмены\n",
        "## Источники\n- Машины\n- [2] Отмены",
        "Sources:\n[1] Limits\n[2] Cancelling\n",
        "**Ссылки на источники**\n\n- [Машины](https://example.com/1) [1]\n",
    ],
)
def test_a_list_of_sources_that_the_model_wrote_goes(own: str) -> None:
    assert said(f"{LISTED}{own}", LIMITS, RULES).strip() == LISTED.strip()
    assert said(f"{LISTED}{own}\nСпросите коллег.\n", LIMITS, RULES) == f"{LISTED}\nСпросите коллег.\n"


def test_a_list_of_the_answers_own_matter_stays() -> None:
    text = "Источники:\n\n- касса\n- приложение\n"
    assert said(text, LIMITS) == text


def test_a_page_that_only_such_a_list_names_is_numbered_after_the_cited_ones() -> None:
    gate = gate_over(LIMITS, RULES)
    assert gate.feed(f"{LISTED}Источники:\n[2] Отмены\n") + gate.finish() == LISTED
    assert (gate.numbers, gate.listed) == ({1: 1, 2: 2}, [2])


def test_a_list_that_names_the_page_by_its_title_adds_none_of_its_other_sections() -> None:
    gate = gate_over(LIMITS, RULES)  # two sections of «Машины»
    assert gate.feed(f"{LISTED}Источники:\n- Машины\n") + gate.finish() == LISTED
    assert (gate.numbers, gate.listed) == ({1: 1}, [])


def listed_after(answer: str, *passages: str, same: dict[int, int] | None = None) -> tuple[dict[int, int], list[int]]:
    """The numbers of the pages in the list below an answer, and those of them that no marker is shown of."""
    gate = gate_over(*passages, same=same)
    gate.feed(answer)
    gate.finish()
    return gate.numbers, gate.listed


def test_what_a_list_names_of_a_place_that_is_cited_is_no_second_line() -> None:
    assert listed_after(f"{LISTED}Источники:\n- [2] Лимиты\n", LIMITS, RULES, same={1: 1, 2: 1}) == ({1: 1}, [])


@pytest.mark.parametrize(
    ("answer", "numbers", "listed"),
    [
        ("[1]\n\nЛимит перевода 100 тысяч рублей в день [2].", {2: 1, 1: 2}, [1]),  # a marker without a sentence
        ("Requests go through the staff portal [1].", {1: 1}, [1]),  # said in the words of another language
        ("Комиссия за отмену 250 рублей [2].", {}, []),  # the page says something else
        ("Лимит перевода 100 тысяч рублей в день [1].", {}, []),  # another page says it
        ("[7]\n\nЛимит перевода 100 тысяч рублей в день [2].", {2: 1}, []),  # nothing that was given
    ],
)
def test_a_page_stays_in_the_list_when_its_marker_went_only_for_form(
    answer: str, numbers: dict[int, int], listed: list[int]
) -> None:
    assert listed_after(answer, "Заявку подают на портале кадров.", LIMITS) == (numbers, listed)
