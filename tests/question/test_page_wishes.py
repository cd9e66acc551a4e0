"""Wishes about pages themselves: known by their words, answered from what the index knows of pages, rights kept."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from askwiki.data import Answer, Chunk, Clause, Identity, Source, Token, Turn
from askwiki.flow.ask import ask
from askwiki.flow.pages import MOST_PAGES
from askwiki.language.page_wishes import page_wish
from askwiki.settings import AnswerSettings
from tests.support.scripted import ScriptedLlm
from tests.support.small_wiki import chunk, kit_of, with_settings

WIKI = [
    chunk("leave", "Отпуск берут частями.", title="Отпуск", headings=("Части",), author="Анна Белова", owner="Кадры"),
    chunk("pay", "Отпускные за отпуск платят за три дня.", title="Выплаты"),
    chunk("vpn", "VPN включают на ноутбуке.", title="Удалённая работа", updated="", editor="Пётр [Орлов]"),
    chunk("secret", "Отпуск директора в мае.", title="Отпуск директора", acl="boss"),
]
READERS = {"boss": (Clause(groups=("boss",)),)}


@pytest.mark.parametrize(
    ("text", "kind", "subject"),
    [
        ("перечисли все страницы про отпуск", "list", "отпуск"),
        ("Какие есть инструкции по возврату перевода?", "list", "возврату перевода"),
        ("какие у нас документы о командировках", "list", "командировках"),
        ("Please list all pages about leave", "list", "leave"),
        ("What guides do we have on VPN?", "list", "VPN"),
        ("кто автор страницы про отпуск?", "facts", "отпуск"),
        ("Кто последним правил регламент возвратов", "facts", "регламент возвратов"),
        ("когда обновили страницу про лимиты", "facts", "лимиты"),
        ("When was the page about leave last updated?", "facts", "leave"),
        ("а кто автор?", "facts", ""),
        ("когда её обновляли?", "facts", ""),
        ("что нового в вики?", "news", ""),
        ("What's new?", "news", ""),
    ],
)
def test_a_wish_about_pages_is_known_by_its_words(text: str, kind: str, subject: str) -> None:
    found = page_wish(text)
    assert found is not None
    assert (found.kind, found.subject) == (kind, subject)


@pytest.mark.parametrize(
    "text",
    [
        *("Кто отвечает за документы по отпуску?", "Кто автор идеи скидок?", "Какие документы нужны для отпуска?"),
        *(
            "Когда обновляют прошивку?",
            "Как создать страницу?",
            "Что нового в тарифах с января?",
            "Сколько страниц в отчёте",
        ),
        *("Who wrote the payment service?", "How do I edit a page?", "Which documents do I need for leave?"),
    ],
)
def test_a_question_to_the_text_is_no_wish_about_pages(text: str) -> None:
    assert page_wish(text) is None


def told(*said: str, llm: ScriptedLlm | None = None, wiki: Sequence[Chunk] = WIKI) -> tuple[str, list[str]]:
    """The last answer of a dialogue, and the addresses of its sources."""
    kit = with_settings(
        kit_of(wiki, llm=llm, readers=READERS), answer=AnswerSettings(refusal_threshold=0.0, low_confidence=0.0)
    )
    turns: list[Turn] = []
    for text in said:
        turns.append(Turn("user", text))
        events = list(ask(turns, Identity(), kit=kit))
        answer = "".join(event.text for event in events if isinstance(event, Token))
        turns.append(Turn("assistant", answer))
    assert sum(isinstance(event, Answer) for event in events) == 1
    return answer, [event.url for event in events if isinstance(event, Source)]


def test_pages_are_listed_with_place_and_age_and_only_those_one_may_read() -> None:
    text, sources = told("перечисли все страницы про отпуск")
    lines = text.splitlines()
    assert lines[:2] == ["Страницы об этом:", ""]
    assert lines[2].startswith("1. [Отпуск](https://wiki.example.com/leave) · База знаний · обновлено ")
    assert lines[3].startswith("2. [Выплаты](https://wiki.example.com/pay)")
    assert len(lines) == 4 and sources == ["https://wiki.example.com/leave", "https://wiki.example.com/pay"]


def test_a_long_list_says_how_many_are_not_shown() -> None:
    many = [chunk(f"p{number}", f"Отпуск {number}.", title=f"Отпуск {number}") for number in range(MOST_PAGES + 3)]
    text, sources = told("список страниц об отпуске", wiki=many)
    assert text.endswith("И ещё страниц: 3. Уточните вопрос, чтобы увидеть их.") and len(sources) == MOST_PAGES


def test_with_a_model_its_verdicts_say_which_pages_are_on_the_subject() -> None:
    def verdicts(messages: object) -> str:
        fragments = messages[-1].content.partition("\n<<")[2].split("\n<<end ")[:-1]  # type: ignore[index]
        return "".join("1" if "Отпускные" in fragment else "0" for fragment in fragments)

    text, sources = told("перечисли все страницы про отпуск", llm=ScriptedLlm().always("relevance", verdicts))
    assert sources == ["https://wiki.example.com/pay"] and "[Выплаты]" in text


def test_who_and_when_come_from_the_page_and_what_it_does_not_say_is_unknown() -> None:
    text, sources = told("кто автор страницы про отпуск?")
    assert text.startswith(
        "[Отпуск](https://wiki.example.com/leave) [1]\n\n- Отвечает за страницу: Кадры\n- Автор: Анна"
    )
    assert "Последнее изменение: 2026-08-30 (обновлено" in text and sources == ["https://wiki.example.com/leave"]
    text, _ = told("когда обновили страницу про VPN?")
    assert "Последняя правка: Пётр" in text and "Когда её меняли, неизвестно." in text
    assert "Кто её написал, в вики не указано." in told("кто написал страницу про выплаты?")[0]


def test_after_an_answer_the_page_is_the_one_that_was_asked_about() -> None:
    for question in ("кто автор?", "а когда её обновляли?"):
        text, sources = told("Как берут отпуск частями?", "кто автор?", question)
        assert sources == ["https://wiki.example.com/leave"], text


def test_where_no_page_is_on_the_subject_the_question_is_asked_like_any_other() -> None:
    assert "Страницы об этом" not in told("перечисли все страницы про криптографию")[0]


def test_what_is_new_is_said_not_to_be_known() -> None:
    assert told("что нового?")[0].startswith("Списка последних изменений у меня нет.")
