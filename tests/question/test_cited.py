"""A source is named after, leads to and shows the part of a passage that the answer's sentence speaks of."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from askwiki.data import Answer, Candidate, Identity, Source, Turn
from askwiki.flow.ask import ask
from askwiki.settings import AnswerSettings, SourcesSettings
from askwiki.stages.citations.cited import WINDOW, as_cited_for, shown_part
from askwiki.stages.passages.spans import find_spans, passage_of
from askwiki.stages.sources import label_of, source_of
from tests.support.scripted import ScriptedLlm
from tests.support.small_wiki import chunk, kit_of, with_settings

PAGE = "https://wiki.example.com/tariffs"
SALE = chunk(
    "tariffs#0",
    "## Скидки\n\nПостоянным клиентам скидка 5 процентов.\n\n",
    title="Тарифы",
    headings=("Скидки",),
    url=f"{PAGE}#id-Тарифы-Скидки",
)
ABROAD = chunk(
    "tariffs#1",
    "## За границу\n\nПеревод в другую страну стоит 300 рублей.\n\n### Срочный перевод\n\nСрочный доходит за час.\n",
    title="Тарифы",
    headings=("За границу",),
    url=f"{PAGE}#id-Тарифы-Заграницу",
)


def passage(*chunks: object) -> object:
    (span,) = find_spans([Candidate(each, 1.0, {}) for each in chunks])  # type: ignore[arg-type]
    return passage_of(span)


@pytest.mark.parametrize(
    ("sentence", "label", "url"),
    [
        ("Постоянным клиентам дают скидку 5 процентов", "Тарифы › Скидки", SALE.url),
        ("Перевод в другую страну стоит 300 рублей", "Тарифы › За границу", ABROAD.url),
        ("Срочный доходит за час", "Тарифы › Срочный перевод", f"{PAGE}#id-Тарифы-Срочныйперевод"),
        ("", "Тарифы › Скидки", SALE.url),
    ],
)
def test_label_and_anchor_are_those_of_the_section_that_says_it(sentence: str, label: str, url: str) -> None:
    cited = as_cited_for(passage(SALE, ABROAD), sentence)  # type: ignore[arg-type]
    assert (label_of(cited), cited.url) == (label, url)


@pytest.mark.parametrize(
    ("url", "cited"),
    [
        (f"{PAGE}#за-границу", f"{PAGE}#срочный-перевод"),
        (f"{PAGE}#{quote('за-границу')}", f"{PAGE}#{quote('срочный-перевод')}"),
        (f"{PAGE}#section-7", f"{PAGE}#section-7"),  # nobody knows how it is made
        (PAGE, PAGE),
        ("", ""),
    ],
)
def test_an_anchor_is_written_anew_only_where_its_form_is_seen(url: str, cited: str) -> None:
    assert as_cited_for(passage(ABROAD._replace(url=url)), "Срочный доходит за час").url == cited  # type: ignore[arg-type]


FILLER = "Общие слова о порядке работы отдела и о том, кто за что отвечает.\n\n" * 30
LONG = f"# Порядок\n\n{FILLER}## Сроки\n\n{FILLER}Возврат занимает три рабочих дня.\n\n{FILLER}"


def test_the_window_shows_what_is_cited_with_the_heading_above_it() -> None:
    shown = shown_part(LONG, "Деньги возвращают за три рабочих дня", WINDOW)
    assert "Возврат занимает три рабочих дня." in shown
    assert shown.startswith("## Сроки\n\n…\n\n")
    assert shown.endswith(" …")
    assert len(shown) <= WINDOW + 40


@pytest.mark.parametrize("text", ["Коротко.", "", LONG[:WINDOW]])
def test_what_fits_is_shown_whole(text: str) -> None:
    assert shown_part(text, "Деньги возвращают", WINDOW) == text


def test_of_a_long_table_the_row_is_shown() -> None:
    rows = "\n".join(f"| Поле {number} | Значение {number} настройки отчёта |" for number in range(200))
    shown = shown_part(f"| Поле | Что |\n|---|---|\n{rows}\n", "Поле 150 хранит значение 150", WINDOW)
    assert "| Поле 150 |" in shown
    assert len(shown) <= WINDOW + 40


def test_in_the_answer_event_and_list_name_the_cited_section() -> None:
    llm = ScriptedLlm().always("relevance", "1").enqueue("answer", "Перевод в другую страну стоит 300 рублей [1].")
    kit = with_settings(
        kit_of([SALE, ABROAD], llm=llm), answer=AnswerSettings(refusal_threshold=0.0, low_confidence=0.0)
    )
    events = list(ask([Turn("user", "Сколько стоит перевод за границу?")], Identity(), kit=kit))
    (source,) = [event for event in events if isinstance(event, Source)]
    (answer,) = [event for event in events if isinstance(event, Answer)]
    assert (source.title, source.url) == ("Тарифы › За границу", ABROAD.url)
    assert "300 рублей" in source.text
    assert "1. [Тарифы › За границу](" in answer.text
    assert answer.sources == (source,)


def told(text: str, *chunks: object) -> tuple[str, list[Source]]:
    """The list of links below an answer, and the sources that the chat was shown."""
    llm = ScriptedLlm().always("relevance", "1" * len(chunks)).enqueue("answer", text)
    kit = with_settings(
        kit_of(list(chunks), llm=llm),
        answer=AnswerSettings(refusal_threshold=0.0, low_confidence=0.0),  # type: ignore[arg-type]
    )
    events = list(ask([Turn("user", "Сколько стоит перевод со скидкой?")], Identity(), kit=kit))
    (answer,) = [event for event in events if isinstance(event, Answer)]
    return answer.text, [event for event in events if isinstance(event, Source)]


def test_one_page_cited_for_two_sections_shows_both() -> None:
    said = "Перевод в другую страну стоит 300 рублей [1]. Постоянным клиентам дают скидку 5 процентов [1]."
    text, sources = told(said, SALE, ABROAD)
    (line,) = [line for line in text.splitlines() if line.startswith("1. ")]
    assert line.startswith("1. [Тарифы › За границу](") and "), [Скидки](" in line and "\n2. " not in text
    assert [(source.title, source.id) for source in sources] == [
        ("Тарифы › За границу", sources[0].id),
        ("Тарифы › Скидки", sources[0].id),
    ]


def test_two_passages_of_one_label_and_address_are_one_line_with_one_number() -> None:
    parts = [
        chunk(
            "page#0", f"Перевод в другую страну стоит 300 рублей. {FILLER}", title="Тарифы", url=PAGE, part=1, parts=9
        ),
        chunk("page#7", f"Постоянным клиентам скидка 5 процентов. {FILLER}", title="Тарифы", url=PAGE, part=8, parts=9),
    ]
    said = "Перевод в другую страну стоит 300 рублей [1][2]. Постоянным клиентам дают скидку 5 процентов [1][2]."
    text, sources = told(said, *parts)
    assert "[2]" not in text and text.count(f"({PAGE})") == 1
    assert len({source.id for source in sources}) == 1
    shown = " ".join(source.text for source in sources)
    assert "300 рублей" in shown and "скидка 5 процентов" in shown


def test_a_passage_that_nothing_cites_is_shown_from_its_beginning() -> None:
    assert source_of(passage(SALE, ABROAD)).text.startswith("## Скидки")  # type: ignore[arg-type]


FORM = "https://forms.example.org/leave?id=7"
DESK = chunk("desk", f"Заявку на отпуск подают через форму {FORM} или [портал](https://desk.example.net/new).")


def answered(text: str, sources: SourcesSettings = SourcesSettings()) -> str:
    llm = ScriptedLlm().always("relevance", "1").enqueue("answer", text)
    kit = with_settings(
        kit_of([DESK], llm=llm),
        answer=AnswerSettings(refusal_threshold=0.0, low_confidence=0.0),
        sources=sources,
    )
    events = list(ask([Turn("user", "Как подать заявку на отпуск?")], Identity(), kit=kit))
    (answer,) = [event for event in events if isinstance(event, Answer)]
    return answer.text.split("\n\n**")[0]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (f"Заявку подают через форму {FORM} [1].", f"Заявку подают через форму {FORM} [1]."),
        (f"Заявку подают через [форму]({FORM}) [1].", f"Заявку подают через [форму]({FORM}) [1]."),
        ("Заявку подают через [портал](https://desk.example.net/new) [1].",) * 2,
        (f"Заявку подают через форму {FORM}1 [1].", f"Заявку подают через форму `{FORM}1`"),
        ("Заявку подают на https://desk.example.net/ [1].", "Заявку подают на `https://desk.example.net/` [1]."),
        (f"Заявку подают через форму ![форму]({FORM}) [1].", "Заявку подают через форму форму [1]."),
    ],
    ids=["bare", "link", "link of the page", "longer", "the host alone", "picture"],
)
def test_an_address_that_stands_in_the_page_is_a_link_letter_for_letter(said: str, shown: str) -> None:
    assert answered(said).startswith(shown)


def test_addresses_of_pages_can_be_switched_off_and_hosts_be_named() -> None:
    said = f"Заявку подают через форму {FORM} [1]."
    assert f"`{FORM}`" in answered(said, SourcesSettings(page_addresses=False))
    assert f" {FORM} " in answered(
        said, SourcesSettings(page_addresses=False, hosts="x.example.org, forms.example.org")
    )


def test_an_unsupported_sentence_is_marked_only_where_the_settings_say_so() -> None:
    said = "Заявку рассматривают 17 дней [1]."
    marked, plain = (answered(said, SourcesSettings(mark_unsupported=each)) for each in (True, False))
    assert (marked != plain, plain) == (True, "Заявку рассматривают 17 дней.")


def test_how_much_of_a_sentence_its_page_must_hold_is_a_setting() -> None:
    said = "Бухгалтерия переводит зарплату сотрудникам дважды каждый месяц [1]."
    strict, lax = ("[1]" in answered(said, SourcesSettings(support=share)) for share in (0.5, 0.0))
    assert (strict, lax) == (False, True)


def test_what_was_read_is_listed_when_nothing_was_cited_unless_the_settings_say_no() -> None:
    llm = ScriptedLlm().always("relevance", "1").always("answer", "Подайте заявку.")
    kit = kit_of([DESK], llm=llm)
    given = []
    for each in (True, False):
        made = with_settings(kit, sources=SourcesSettings(list_all=each))
        events = list(ask([Turn("user", "Как подать заявку на отпуск?")], Identity(), kit=made))
        (answer,) = [event for event in events if isinstance(event, Answer)]
        given.append("Источники" in answer.text)
    assert given == [True, False]
