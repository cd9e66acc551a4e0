"""The gate of the streamed text: citations, support, addresses, diagrams; and the list of links."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from askwiki.data import Passage, Source
from askwiki.stages.dialogue import clean
from askwiki.stages.gate import SentenceGate
from askwiki.stages.links import harmless, link, wiki_hosts
from askwiki.stages.mermaid import check
from askwiki.stages.sources import age_of, cited_sources, label_of, link_list, source_list, source_of
from askwiki.stages.support import exact_facts, known, supporting
from askwiki.texts import load_texts
from tests.small_wiki import CONFIG

TEXTS = load_texts(CONFIG / "texts")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOSTS = frozenset({"wiki.example.com"})


def passage(number: int, text: str, **more: Any) -> Passage:
    fields: dict[str, Any] = {
        "number": number,
        "page_id": f"p{number}",
        "title": f"Страница {number}",
        "path": ("База", "Раздел"),
        "headings": (),
        "url": f"https://wiki.example.com/p{number}",
        "updated": "2026-08-30",
        "text": text,
        "chunk_ids": (f"c{number}",),
    }
    return Passage(**{**fields, **more})


REFUND = passage(1, "Деньги возвращают отправителю за 3 рабочих дня. Комиссия 1 500 ₽. Действует с 01.06.2025.")
DUTY = passage(2, "Дежурный инженер Орлов отвечает за 10 минут, телефон 7700. Команда routerctl partner enable.")
PASSAGES = (REFUND, DUTY)


def gate(passages: Sequence[Passage] = PASSAGES, share: float = 0.3) -> SentenceGate:
    return SentenceGate(
        {each.number: known(each) for each in passages}, hosts=HOSTS, least_share=share, broken_diagram="(текст схемы)"
    )


def shown(text: str, size: int = 3, passages: Sequence[Passage] = PASSAGES) -> str:
    """What leaves the gate of a text that comes in pieces of ``size`` characters."""
    each = gate(passages)
    return "".join(each.feed(text[at : at + size]) for at in range(0, len(text), size)) + each.finish()


# --- citations ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 5, 17, 1000])
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Деньги возвращают за 3 дня [1].", "Деньги возвращают за 3 дня [1]."),
        ("Деньги возвращают за 3 дня. [1] Звоните 7700 [2].", "Деньги возвращают за 3 дня. [1] Звоните 7700 [2]."),
        ("Деньги возвращают [9] за 3 дня [1][7].", "Деньги возвращают за 3 дня [1]."),
        ("Возврат за 3 дня, дежурный Орлов [1, 2].", "Возврат за 3 дня, дежурный Орлов [1][2]."),
        ("Возврат за 5 дней [1].", "Возврат за 5 дней."),
        ("Отвечает Петров, дежурный инженер [2].", "Отвечает Петров, дежурный инженер."),
        ("Погода завтра будет хорошая, солнечная и тёплая [1].", "Погода завтра будет хорошая, солнечная и тёплая."),
        ("| Срок | 3 дня [1] |\n| Телефон | 7700 [1] |\n", "| Срок | 3 дня [1] |\n| Телефон | 7700 |\n"),
        (
            "1. Возврат отправителю [1]\n2. Дежурный инженер [2]\n",
            "1. Возврат отправителю [1]\n2. Дежурный инженер [2]\n",
        ),
        ("Поле `x[1]` и [1](https://wiki.example.com/p1).", "Поле `x[1]` и [1](https://wiki.example.com/p1)."),
        ("```\na[1] = b[9]\n```\n", "```\na[1] = b[9]\n```\n"),
        ("Просто текст без чисел.", "Просто текст без чисел."),
    ],
)
def test_only_citations_that_hold_leave(text: str, left: str, size: int) -> None:
    assert shown(text, size) == left


def test_what_was_cited_is_remembered() -> None:
    each = gate()
    each.feed("Возврат за 3 дня [1]. Возврат за 5 дней [1]. Звоните 7700 [2][9]. Конец")
    each.finish()
    assert each.cited == {1, 2}


@pytest.mark.parametrize(
    ("sentence", "cited", "supported"),
    [
        ("Комиссия 1500 ₽", [1], [1]),
        ("Комиссия 1 500 ₽", [1, 2], [1]),
        ("Срок — три рабочих дня", [1], [1]),
        ("С 1 июня 2025 года возвращают деньги", [1], [1]),
        ("С 1 июля 2025 года возвращают деньги", [1], []),
        ("Включите партнёра: routerctl partner enable", [2], [2]),
        ("Ошибка E-136 у дежурного инженера", [2], []),
        ("Отвечает инженер Орлов", [2], [2]),
        ("Отвечает инженер Орловский", [2], []),
        ("Ответ за 10 минут, возврат за 3 дня", [1, 2], [1, 2]),
        ("Ответ за 10 минут, возврат за 3 дня", [1], []),
        ("Возврат", [3], []),
        ("", [1], [1]),
    ],
)
def test_support_is_held_by_numbers_dates_names_and_words(
    sentence: str, cited: list[int], supported: list[int]
) -> None:
    assert supporting(sentence, cited, {each.number: known(each) for each in PASSAGES}, 0.3) == supported


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("1 500 ₽ и 0,25 %", {"1500", "0.25"}),
        ("05.06.2025", {"5", "6", "2025"}),
        ("5 июня 2025", {"5", "6", "2025"}),
        ("до 10:00", {"10:00"}),
        ("код E-136 в gw-ledger", {"e-136", "gw-ledger"}),
        ("1. Первый пункт", set()),
        ("- 2) Второй", set()),
        ("май хороший", set()),
    ],
)
def test_exact_facts_are_written_one_way(text: str, facts: set[str]) -> None:
    assert exact_facts(text) == facts


# --- no stutter -----------------------------------------------------------------------------------


def test_a_sentence_leaves_as_soon_as_the_next_one_begins() -> None:
    each = gate()
    pieces = ["Деньги ", "вернут. ", "Потом ", "звонок ", "7700 [2]", ". ", "И", "так"]
    assert [each.feed(piece) for piece in pieces] == [
        "",
        "",
        "Деньги вернут. ",
        "",
        "",
        "",
        "Потом звонок 7700 [2]. ",
        "",
    ]
    assert each.finish() == "Итак"


def test_a_line_leaves_with_its_end_and_a_sentence_without_end_at_its_limit() -> None:
    each = gate()
    assert each.feed("- пункт\n- вто") == "- пункт\n"
    long = each.feed("рой " + "слово " * 200)
    assert 600 < len(long) <= 710 and long.endswith(" ")


def test_an_abbreviation_does_not_end_a_sentence() -> None:
    each = gate()
    assert each.feed("Живёт в г. Москва на ул. Ленина. ") == ""
    assert each.feed("А") == "Живёт в г. Москва на ул. Ленина. "


def test_an_open_code_block_is_closed_at_the_end() -> None:
    assert shown("Так:\n```bash\nls -l") == "Так:\n```bash\nls -l\n```"


# --- addresses and markup -------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[Регламент](https://wiki.example.com/p1?a=1#b)", "[Регламент](https://wiki.example.com/p1?a=1#b)"),
        ("![Экран](https://wiki.example.com/s.png)", "![Экран](https://wiki.example.com/s.png)"),
        ("[Зайди. Туда](https://evil.example/x)", "Зайди. Туда (`https://evil.example/x`)"),
        ("![пиксель](https://evil.example/p.png)", "пиксель"),
        ("Смотри https://evil.example/x.", "Смотри `https://evil.example/x`."),
        ("Смотри <https://evil.example>", "Смотри `https://evil.example`"),
        ("Смотри www.evil.example", "Смотри `www.evil.example`"),
        ("[ж](javascript:alert(1))", "ж"),
        ("[относительная](/admin)", "относительная"),
        ("<script>alert(1)</script> и <br> и a < b", "&lt;script>alert(1)&lt;/script> и <br> и a < b"),
        ("`<b>https://evil.example</b>`", "`<b>https://evil.example</b>`"),
        ("[https://wiki.example.com](https://evil.example)", "https://wiki.example.com (`https://evil.example`)"),
        ("https://wiki.example.com@evil.example/", "`https://wiki.example.com@evil.example/`"),
        ("https://wiki.example.com.evil.example/", "`https://wiki.example.com.evil.example/`"),
    ],
)
def test_foreign_addresses_do_not_lead_anywhere(text: str, left: str, size: int) -> None:
    assert shown(text, size) == left


def test_an_address_that_spans_lines_is_no_link_either() -> None:
    assert "](" not in shown("[а\nб](https://evil.example/x)\n").replace("] (", "")


def test_the_wikis_own_hosts_are_those_of_setting_and_pages() -> None:
    pages = [passage(1, ""), passage(2, "", url=""), passage(3, "", url="page.html")]
    assert wiki_hosts(pages, "https://Confluence.example.com/x") == {"wiki.example.com", "confluence.example.com"}


def test_text_that_begins_with_data_is_text() -> None:
    assert harmless("data: 5", HOSTS) == "data: 5"


# --- diagrams -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("diagram", "drawn"),
    [
        ("flowchart TD\n  A[Старт] --> B{Да?}", "flowchart TD\n  A[Старт] --> B{Да?}"),
        ("flowchart TD\n  A[Заявка (новая)] --> B", 'flowchart TD\n  A["Заявка (новая)"] --> B'),
        ("stateDiagram-v2\n  [*] --> SENT", "stateDiagram-v2\n  [*] --> SENT"),
        ("sequenceDiagram\n  A->>B: привет :)", "sequenceDiagram\n  A->>B: привет :)"),
        ("%% пояснение\ngraph LR\n  A --> B", "%% пояснение\ngraph LR\n  A --> B"),
        ("graph LR; A --> B;", "graph LR; A --> B;"),
        ("flowchart TD\n  A[Старт --> B", None),
        ("flowchart TD\n  A(Старт] --> B", None),
        ("flowchart TD", None),
        ("схема\n  A --> B", None),
        ("", None),
        ('flowchart TD\n  A --> B\n  click A href "https://evil.example"', None),
        ("%%{init: {}}%%\nflowchart TD\n  A --> B", None),
        ("flowchart TD\n" + "  A --> B\n" * 300, None),
    ],
)
def test_a_diagram_is_drawn_only_when_it_can_be(diagram: str, drawn: str | None) -> None:
    assert check(diagram) == drawn


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_good_diagram_leaves_whole_and_a_broken_one_as_text(size: int) -> None:
    good = "Схема:\n```mermaid\nflowchart TD\n  A --> B[1]\n```\nКонец."
    assert shown(good, size) == good
    bad = "```mermaid\nкартинка\n```\nКонец."
    assert shown(bad, size) == "```text\nкартинка\n```\n*(текст схемы)*\nКонец."
    assert shown("```mermaid\nflowchart TD\n  A --> B", size) == "```mermaid\nflowchart TD\n  A --> B\n```\n"


# --- the list -------------------------------------------------------------------------------------


def listed(*passages: Passage, language: str = "ru") -> str:
    return source_list(passages, title="Источники", texts=TEXTS, language=language, now=NOW)


def test_the_list_has_number_title_heading_link_and_age() -> None:
    page = passage(1, "", headings=("Сроки",), url="https://wiki.example.com/p 1(2)#сроки")
    assert listed(page) == (
        "\n\n**Источники**\n\n1. [Страница 1 › Сроки](https://wiki.example.com/p%201%282%29#%D1%81%D1%80%D0%BE%D0%BA%D0%B8)"
        " · обновлено 3 мес. назад"
    )


@pytest.mark.parametrize(
    ("page", "line"),
    [
        (passage(1, "", title="A [b] *c* <d>", updated=""), r"1. [A \[b\] \*c\* \<d\>](https://wiki.example.com/p1)"),
        (passage(1, "", url="", updated=""), "1. Страница 1 (База / Раздел / Страница 1)"),
        (passage(1, "", url="javascript:alert(1)", updated="", path=()), "1. Страница 1"),
        (passage(1, "", headings=("Страница 1",), updated=""), "1. [Страница 1](https://wiki.example.com/p1)"),
    ],
)
def test_odd_titles_and_addresses_in_the_list(page: Passage, line: str) -> None:
    assert listed(page) == f"\n\n**Источники**\n\n{line}"


def test_numbers_stay_those_of_the_text_where_some_are_left_out() -> None:
    pages = [passage(number, "", updated="") for number in (1, 2, 5)]
    lines = [f"{each.number}. [Страница {each.number}]({each.url})" for each in pages]
    assert listed(*pages) == f"\n\n**Источники**\n\n{lines[0]}\n{lines[1]}\n\n\u00a0\n\n{lines[2]}"


def test_the_list_is_taken_out_of_history_again() -> None:
    from askwiki.data import Turn

    text = "Ответ [2]." + listed(passage(2, ""), passage(5, ""))
    assert clean([Turn("assistant", text)]) == (Turn("assistant", "Ответ."),)


def test_no_sources_make_no_list() -> None:
    assert listed() == ""


def test_links_of_near_pages_have_no_numbers() -> None:
    text = link_list([REFUND, DUTY], texts=TEXTS, language="en", now=NOW)
    assert text == (
        "- [Страница 1](https://wiki.example.com/p1) · updated 3 mo ago\n"
        "- [Страница 2](https://wiki.example.com/p2) · updated 3 mo ago"
    )


@pytest.mark.parametrize(
    ("updated", "age"),
    [
        ("2026-11-30T09:00:00+00:00", "обновлено сегодня"),
        ("2026-11-28", "обновлено 2 дн. назад"),
        ("2026-08-30T10:00:00", "обновлено 3 мес. назад"),
        ("2024-01-15", "обновлено 2 г. назад"),
        ("", ""),
        ("вчера", ""),
    ],
)
def test_age_of_a_page(updated: str, age: str) -> None:
    assert age_of(updated, TEXTS, "ru", NOW) == age


@pytest.mark.parametrize(
    ("cited", "list_all", "numbers"), [({2}, True, [2]), (set(), True, [1, 2]), (set(), False, []), ({9}, True, [1, 2])]
)
def test_what_is_listed(cited: set[int], list_all: bool, numbers: list[int]) -> None:
    assert [each.number for each in cited_sources(PASSAGES, cited, list_all=list_all)] == numbers


def test_a_source_event_names_the_page_by_an_id_that_is_no_address() -> None:
    long = passage(3, "а" * 5_000, headings=("Сроки",), score=1.5)
    assert source_of(long) == Source(
        3, "wiki-3-p3", "Страница 3 › Сроки", "https://wiki.example.com/p3", "а" * 1_200 + "…", "2026-08-30", 1.5
    )


def test_a_label_is_title_and_last_heading() -> None:
    assert label_of(passage(1, "", headings=("А", "Б"))) == "Страница 1 › Б"
    assert link("a", "") == "a"
