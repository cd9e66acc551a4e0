"""Answers without a model: what is quoted, whole or with its gaps marked, the answer first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from askwiki.data import Candidate, Passage
from askwiki.settings import AnswerSettings
from askwiki.stages.extractive.counts import counted_in
from askwiki.stages.extractive.quotations import as_markdown, extract
from askwiki.texts import load_texts
from tests.support.small_wiki import chunk

CONFIG = Path(__file__).resolve().parents[2] / "config"
COUNT = counted_in(load_texts(CONFIG / "texts"), "ru")
TABLE = "| Код | Значит |\n| --- | --- |\n" + "".join(
    f"| E-{number} | ошибка номер {number} {'ы' * 60} |\n" for number in range(40)
)
LONG = "Вступление без пользы. " * 40
STEPS = "\n".join(f"1. Действие с буквой {letter * 90}." for letter in "абвгдежзик")


def passage(text: str, number: int = 1, **more: Any) -> Passage:
    fields: dict[str, Any] = {
        "number": number,
        "page_id": f"p{number}",
        "title": "Лимиты",
        "path": ("База",),
        "headings": ("Турция",),
        "url": "https://wiki.example.com/p1",
        "updated": "2026-08-30T10:00:00",
        "text": text,
        "chunk_ids": ("c",),
    }
    return Passage(**{**fields, **more})


def quoted(text: str, question: str, characters: int = 200) -> str:
    settings = AnswerSettings(extractive_characters=characters)
    return extract([passage(text)], (), question, (), settings, COUNT)[0][1]


def test_of_running_text_the_sentence_that_answers_is_bold_and_every_gap_a_line() -> None:
    text = LONG + "Перед этим. Дежурный отвечает за десять минут. После этого. " + LONG
    assert (
        quoted(text, "когда отвечает дежурный", 60) == "…\n\n**Дежурный отвечает за десять минут.** После этого.\n\n…"
    )


def test_a_sentence_that_points_back_or_is_denied_beside_it_is_not_left_alone() -> None:
    text = LONG + "Роль даёт владелец. Она нужна для отпуска. Стажёрам её не дают. " + LONG
    assert quoted(text, "зачем нужна для отпуска", 40) == (
        "…\n\nРоль даёт владелец. **Она нужна для отпуска.** Стажёрам её не дают.\n\n…"
    )


@pytest.mark.parametrize(
    "body", ["- удалить отпуск\n- создать отпуск", "| Отпуск |\n| --- |\n| создать |", "```\nотпуск --create\n```"]
)
def test_a_lead_in_stays_with_what_it_leads_into(body: str) -> None:
    text = f"{LONG}\n\nСтажёр не может:\n\n{body}\n\n{LONG}"
    for question in ("создать отпуск", "стажёр"):
        said = quoted(text, question, 120)
        assert said.startswith("**Стажёр не может:**" if question == "стажёр" else "Стажёр не может:")
        assert said.replace("**", "").endswith(body)


def test_a_bold_line_and_a_heading_stay_with_what_they_head() -> None:
    text = f"## Вход\n\n{LONG}\n\n**Для стажёров**\n\n{LONG}\n\nПароль даёт куратор.\n\n## Иное\n\n{LONG}"
    assert quoted(text, "куратор", 40) == "## Вход\n\n…\n\n**Для стажёров**\n\n…\n\n**Пароль даёт куратор.**"
    assert quoted(text, "стажёров вход", 40).startswith("## Вход\n\n…\n\n**Для стажёров**\n\n")


def test_the_heading_that_the_label_names_is_not_said_twice() -> None:
    assert quoted("## Турция\n\nСрок три дня.", "срок") == "**Срок три дня.**"


def test_steps_keep_the_numbers_that_the_page_shows() -> None:
    said = quoted(f"{STEPS}\n\n{LONG}", f"буква {'г' * 90}", 230)
    assert said.splitlines()[0] == "…"
    assert [line[:4] for line in said.splitlines() if line[:1].isdigit()] == ["4. *", "5. Д"]
    assert said.endswith("*показаны 2 пункта из 10*")


def test_of_a_long_table_the_header_the_row_and_how_many_there_are() -> None:
    lines = quoted(TABLE, "что значит E-17").splitlines()
    assert lines[:2] == ["| Код | Значит |", "| --- | --- |"]
    assert [line[:10] for line in lines[2:]] == ["| **E-17**", "", "*показана "]
    assert lines[-1] == "*показана 1 строка из 40*"


def test_a_cell_that_is_a_picture_is_not_made_bold() -> None:
    assert quoted("| Вид | ![](yes.svg) |\n| --- | --- |\n| отпуск | ![](no.svg) |", "отпуск").endswith(
        "| **отпуск** | ![](no.svg) |"
    )


def test_of_long_code_the_lines_about_the_best_one_are_shown() -> None:
    code = "```bash\n" + "".join(f"route add {number} {'x' * 60}\n" for number in range(40)) + "```"
    assert quoted(f"{code}\n\n{LONG}", "route 17", 170).splitlines() == [
        *("```bash", "…", f"route add 17 {'x' * 60}", f"route add 18 {'x' * 60}", "```", ""),
        "*показаны 2 строки кода из 40*",
    ]


def test_an_exception_after_what_is_shown_is_shown() -> None:
    text = f"{LONG}\n\nОтпуск дают всем.\n\nИсключение — стажёры.\n\n{LONG}"
    assert quoted(text, "кому отпуск", 30) == "**Отпуск дают всем.**\n\nИсключение — стажёры."


def test_what_stands_under_an_outer_item_after_a_deeper_list_belongs_to_it() -> None:
    text = f"1. Раз\n2. Два:\n   - а\n   - б\n\n   Срок отпуска три дня.\n3. Три\n\n{LONG}"
    assert quoted(text, "срок отпуска", 70) == text.partition("\n\nВст")[0].replace("2. Два:", "2. **Два:**")


def test_another_sign_before_an_item_begins_another_list() -> None:
    assert quoted("- раз\n- два\n1. три\n1. четыре", "отпуск") == "- раз\n- два\n\n1. три\n2. четыре"


def test_a_question_that_is_a_bold_line_brings_its_answer_and_not_its_neighbours() -> None:
    faq = "\n\n".join(f"**Как {name} отпуск?**\n\nОтвет про {name}." for name in ("взять", "отменить", "продлить"))
    assert quoted(faq, "как отменить отпуск", 400).startswith("**Как отменить отпуск?**\n\n**Ответ про отменить.**")


def test_what_the_search_found_counts_more_than_what_was_joined_to_it() -> None:
    joined, found = f"## Кому\n\nОтпуск нужен всем. {LONG}", f"## Срок\n\nОтпуск длится месяц. {LONG}"
    whole = passage(f"{joined}\n\n{found}")
    candidates = [Candidate(chunk("p1", found), 2.0), Candidate(chunk("p2", "Иное"), 0.0)]
    settings = AnswerSettings(extractive_characters=30)
    ((_, before),) = extract([whole], (), "отпуск", (), settings, COUNT)
    ((_, after),) = extract([whole], candidates, "отпуск", (), settings, COUNT)
    assert (before[:30], after[:32]) == ("## Кому\n\n**Отпуск нужен всем.*", "## Срок\n\n**Отпуск длится месяц.*")


def test_where_words_say_as_much_of_two_meaning_decides() -> None:
    passages = [passage("Отпуск оформляют в кадрах.", 1), passage("Отпуск длится месяц.", 2)]

    def similar(texts: Sequence[str]) -> list[float]:
        return [float("длится" in text) for text in texts]

    by_words = extract(passages, (), "сколько отпуск", (), AnswerSettings(), COUNT)
    by_meaning = extract(passages, (), "сколько отпуск", (), AnswerSettings(), COUNT, similar=similar)
    assert [[each.number for each, _ in found] for found in (by_words, by_meaning)] == [[1, 2], [2]]


def test_later_passages_are_quoted_only_when_they_are_near_too() -> None:
    passages = [
        passage("Лимит перевода сто тысяч.", 1),
        passage("Погода хорошая.", 2),
        passage("Лимит перевода в день.", 3),
    ]
    found = extract(passages, (), "лимит перевода", (), AnswerSettings(), COUNT)
    assert [(each.number, text) for each, text in found] == [
        (1, "**Лимит перевода сто тысяч.**"),
        (3, "**Лимит перевода в день.**"),
    ]


def test_quotations_stand_under_name_and_number_with_headings_made_bold() -> None:
    assert as_markdown([(passage("", 2), "## **Срок**\n\nТри *дня*.")]) == (
        "**Лимиты › Турция** [2]\n\n> **Срок**\n>\n> Три *дня*."
    )


def test_where_no_row_is_nearer_than_the_others_none_is_bold() -> None:
    table = "| Статус | Значит |\n| --- | --- |\n| новый | только что |\n| старый | давно |"
    assert "**" not in quoted(f"## Статусы\n\n{table}", "какие статусы бывают").replace("## Статусы", "")
    assert "| **старый** |" in quoted(f"## Статусы\n\n{table}", "что значит статус старый")


def test_a_list_that_is_asked_for_is_shown_whole() -> None:
    rows = [f"| S-{number} | состояние {number} {'ы' * 30} |" for number in range(12)]
    table = "\n".join(("| Статус | Значит |", "| --- | --- |", *rows))
    text = f"## Статусы\n\n{table}\n\n{LONG}"
    for question in ("какие статусы перевода бывают", "перечисли все статусы", "what statuses does a transfer have"):
        assert quoted(text, question, 600).count("S-") == 12
    assert quoted(text, "статусы").count("S-") < 12


def test_rows_are_told_apart_by_words_that_do_not_stand_above_them_all() -> None:
    rows = [f"| S-{number} | {'перевод ' * (number > 3)}состояние {'ы' * 60} |" for number in range(9)]
    table = "\n".join(("| Код | Значит |", "| --- | --- |", *rows))
    said = quoted(f"## Статусы перевода\n\n{table}\n\n{LONG}", "статусы перевода", 400)
    assert [f"S-{number}" in said for number in (0, 1, 2, 8)] == [True, True, True, False]


def test_an_item_that_is_cut_does_not_end_at_its_lead_in() -> None:
    text = f"1. Откройте пульт.\n2. Выполните действия:\n\n   **Windows**\n\n   Нажмите пуск. {LONG}\n"
    assert "2. Выполните действия:\n\n   **Windows**\n\n   Нажмите пуск." in quoted(text, "откройте пульт", 800)


def test_a_long_last_item_that_leads_into_what_follows_is_kept_with_it() -> None:
    text = f"1. Откройте пульт.\n2. {LONG}\n\n   - Доступны два способа:\n\n> **Внимание.** Адрес пульта новый.\n"
    assert "Доступны два способа:" in quoted(text, "адрес пульта новый")


def test_a_comment_below_a_table_is_no_row_of_it() -> None:
    text = f"{TABLE}<!-- конец -->\n\n<!-- начало -->\n{TABLE.replace('E-', 'F-')}"
    shown = quoted(text, "что значит E-39", 400)
    assert "<!--" not in shown
    assert "из 40*" in shown


def test_code_whose_end_stands_too_deep_ends_below_its_beginning() -> None:
    assert quoted("```sh\nпуск\n   ```\n\nПосле пуска.", "пуск").startswith("```sh\nпуск\n```\n")


def test_what_no_other_group_takes_goes_to_the_first() -> None:
    steps = [f"{at}. Шаг {letter * (300 if at == 4 else 20)}." for at, letter in enumerate("абвгд", 1)]
    text = "\n".join(steps)
    assert quoted(f"{text}\n\n{LONG}", "шаг ббббббббббббббббббббб", 600).replace("*", "").startswith(text)


def test_of_a_list_that_has_room_the_steps_before_the_best_one_are_shown_too() -> None:
    text = "\n".join(f"{at}. Действие {letter * 60}." for at, letter in enumerate("абвгдежзик", 1))
    said = quoted(f"{text}\n\n{LONG}", f"действие {'к' * 60}", 300)
    assert said.startswith("…\n\n7. Действие")
    assert said.endswith("*показаны 4 пункта из 10*")


def test_a_heading_over_two_groups_is_said_once() -> None:
    text = f"# Отказ\n\nВводное.\n\n## Диск\n\n**Причина**\n\nДиск занят.\n\n{LONG}\n\n**Решение**\n\nОсвободите диск."
    assert quoted(text, "диск причина решение", 300).count("## Диск") == 1


@pytest.mark.parametrize("mark", ["**{}**", "## {}"], ids=["bold", "heading"])
def test_the_question_that_is_asked_brings_its_answer_only(mark: str) -> None:
    asked = ("Кто выдаёт роль подрядчику?", "Сколько дней действует роль подрядчика?", "Кому нужна роль подрядчика?")
    answers = ("Владелец роли подрядчика.", "Тридцать дней.", "Тем, кто подрядчик.")
    faq = "\n\n".join(f"{mark.format(question)}\n\n{said}" for question, said in zip(asked, answers, strict=True))
    found = [Candidate(chunk("p1", faq), 2.0), Candidate(chunk("p2", "Иное"), 0.0)]
    [(_, text)] = extract([passage(faq)], found, "сколько дней действует роль подрядчика", (), AnswerSettings(), COUNT)
    assert text == f"{mark.format(asked[1])}\n\n**Тридцать дней.**"


def test_a_list_of_links_is_not_the_list_that_is_asked_for() -> None:
    rows = "".join(f"| S-{number} | состояние {number} {'ы' * 30} |\n" for number in range(12))
    links = "- [Статусы перевода](https://wiki.example.com/1)\n- [Лимиты переводов](https://wiki.example.com/2)"
    table = f"## Статусы перевода\n\n| Статус | Значит |\n| --- | --- |\n{rows}"
    settings = AnswerSettings(extractive_characters=600)
    found = extract([passage(links), passage(table, 2)], (), "какие статусы перевода бывают", (), settings, COUNT)
    assert [each.number for each, _ in found][:1] == [2]
    assert found[0][1].count("S-") == 12


def test_the_list_that_is_asked_for_stands_before_nearer_text() -> None:
    rows = "".join(f"| S-{number} | состояние {number} |\n" for number in range(5))
    table = f"## Статусы перевода\n\n| Статус перевода | Значит |\n| --- | --- |\n{rows}"
    text = f"## Где смотреть\n\nСтатусы у перевода видно на экране.\n\n{table}"
    assert quoted(text, "Какие статусы у перевода?", 600).startswith("## Статусы")
    assert quoted(text, "Где статусы перевода?", 600).startswith("## Где смотреть")
