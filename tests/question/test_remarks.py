"""Remarks about the last answer and questions about the assistant: told from questions, answered without a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from askwiki.data import Answer, Identity, Token, Turn
from askwiki.flow.ask import ask
from askwiki.kit import Kit
from askwiki.settings import AnswerSettings, CondenseSettings, WikiSettings
from askwiki.stages.condense import by_rule
from askwiki.stages.remarks import is_about_us, remark_of
from askwiki.store.port import Freshness
from tests.support.scripted import ScriptedLlm
from tests.support.small_wiki import MemoryReader, chunk, kit_of, with_settings

RULES = CondenseSettings()
ANNA = Identity(id="a", email="a@example.com", known=True)


def user(text: str) -> Turn:
    return Turn("user", text)


def ours(text: str) -> Turn:
    return Turn("assistant", text)


LISTED = "**Источники**\n\n1. [Лимиты переводов](https://wiki.example.com/limit0) · обновлено сегодня"
ASKED = [user("Какой лимит перевода?"), ours(f"Сто тысяч [1].\n\n{LISTED}")]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((text, "sources") for text in ("дай ссылку", "Можешь дать ссылку?", "источник?", "где это написано?")),
        *((text, "sources") for text in ("give me the link please", "source?", "where does it say that?")),
        *(
            (text, "doubt")
            for text in ("уверен?", "Вы уверены?", "а ты точно уверен в этом", "точно?", "are you sure?")
        ),
        *((text, "more") for text in ("продолжи", "Подробнее!", "расскажи подробнее, пожалуйста", "ещё", "что ещё?")),
        *((text, "more") for text in ("Continue", "go on", "tell me more", "what else?")),
        *((text, "other") for text in ("можно пример?", "Приведите, пожалуйста, пример", "почему?", "why?")),
        *((text, "other") for text in ("Could you give me an example?",)),
        *((text, "") for text in ("Как получить ссылку на встречу?", "Пример заявления на отпуск", "👍", "", "?!")),
        *((text, "") for text in ("Почему не работает VPN?", "Где указан лимит?", "Источник питания", "more memory")),
        ("дальше " * 20, ""),
    ],
)
def test_a_remark_is_the_whole_message(text: str, kind: str) -> None:
    assert remark_of(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        *("что ты умеешь?", "Кто ты такой?", "help", "Помощь", "откуда данные?", "откуда ты берёшь информацию"),
        *("когда обновлялась вики?", "О чём тебя можно спросить?", "какие есть разделы?", "чем можешь помочь?"),
        *("What can you do?", "who are you?", "Where does the data come from?", "how fresh is the data?"),
        "When was the wiki last updated?",
        *("откуда данные и когда обновлялась вики", "Кто ты? Что ты умеешь?"),
    ],
)
def test_a_question_about_the_assistant_is_known(text: str) -> None:
    assert is_about_us(text)
    assert by_rule([user(text)], RULES).need == "about"


@pytest.mark.parametrize(
    "text",
    [
        "Помощь при переезде",
        "Кто ты по должности в оргструктуре?",
        "Когда обновлялась база клиентов?",
        "help desk",
        "Кто ты и где отдел кадров?",
    ],
)
def test_a_question_of_the_wiki_is_not_about_the_assistant(text: str) -> None:
    assert not is_about_us(text)


@pytest.mark.parametrize(
    "remark", ["можно пример?", "уверен?", "подробнее", "дай ссылку", "👍", "продолжи", "покороче", "Continue"]
)
def test_a_remark_is_not_what_the_next_question_leans_on(remark: str) -> None:
    turns = [*ASKED, user(remark), ours("Вот."), user("А в Турцию?")]
    assert by_rule(turns, RULES).text == "Какой лимит перевода? А в Турцию?"


def test_without_an_answer_before_it_a_remark_is_an_ordinary_question() -> None:
    assert by_rule([user("дай ссылку")], RULES).need == "search"


def wiki() -> Kit:
    pages = [
        chunk(
            f"limit{number}",
            f"Лимит перевода номер {number}: {number}00 000 рублей.",
            title=f"Лимиты переводов {number}",
            headings=(f"Лимит {number}",),
        )
        for number in range(5)
    ]
    kit = kit_of([*pages, chunk("secret", "Лимит перевода тайный.", title="Тайна", acl="hr", space="HR")])
    return with_settings(kit, answer=AnswerSettings(refusal_threshold=0.0, low_confidence=0.0, extractive_passages=2))


def said(turns: Sequence[Turn], kit: Kit, identity: Identity = ANNA) -> tuple[str, Answer]:
    events = list(ask(turns, identity, kit=kit))
    (answer,) = [event for event in events if isinstance(event, Answer)]
    return "".join(event.text for event in events if isinstance(event, Token)), answer


@pytest.mark.parametrize("text", ["дай ссылку", "ты уверен?"])
@pytest.mark.parametrize("llm", [None, ScriptedLlm()])
def test_who_wants_the_link_or_doubts_gets_the_sources_once_more(text: str, llm: ScriptedLlm | None) -> None:
    told, answer = said([*ASKED, user(text)], replace(wiki(), llm=llm))
    assert told == f"Ответ составлен по этим страницам, его можно проверить по ссылкам.\n\n{LISTED}"
    assert answer.refused == ""


def test_where_the_last_answer_had_none_that_is_said() -> None:
    told, _ = said([user("Привет"), ours("Здравствуйте!"), user("источник?")], wiki())
    assert told == "У последнего ответа нет источников: задайте вопрос, и я приведу ссылки на страницы."


def test_who_wants_more_gets_what_was_found_and_not_shown() -> None:
    first, before = said([user("Какой лимит перевода?")], wiki())
    _, after = said([user("Какой лимит перевода?"), ours(first), user("продолжи")], wiki())
    assert before.sources and after.sources
    assert not {source.url for source in before.sources} & {source.url for source in after.sources}
    everything = "\n".join(f"1. [x](https://wiki.example.com/limit{number})" for number in range(5))
    told, _ = said([user("Какой лимит перевода?"), ours(f"Да.\n\n**Источники**\n\n{everything}"), user("ещё")], wiki())
    assert told == "Добавить к ответу нечего."


class Dated(MemoryReader):
    """A wiki that was brought in twice."""

    def freshness(self) -> list[Freshness]:
        return [
            Freshness("xml:a", "2026-01-02T10:00:00+00:00", 40, 90),
            Freshness("html:b", "2025-01-02T10:00:00+00:00", 2, 3),
        ]


def dated(kit: Kit) -> Kit:
    reader = kit.reader
    assert isinstance(reader, MemoryReader)
    reader.__class__ = Dated
    return kit


def test_the_assistant_says_what_it_knows_how_old_it_is_and_what_one_could_ask() -> None:
    kit = with_settings(dated(wiki()), wiki=WikiSettings(name="Атлас"))
    told, answer = said([user("Что ты умеешь?")], kit)
    assert told.startswith("Я отвечаю на вопросы по вики")
    assert "Языковая модель сейчас не подключена" in told
    assert "Страниц в индексе: 42, обновлено" in told
    assert "Пространства: KB." in told
    assert told.endswith("\n\n- " + "\n- ".join(told.split("\n- ")[1:]))
    assert len(told.split("\n- ")) == 4
    assert (answer.refused, answer.sources) == ("", ())


def test_it_names_no_page_and_no_space_that_the_person_may_not_read() -> None:
    told, _ = said([user("кто ты?")], wiki(), Identity())
    assert "Тайна" not in told and "HR" not in told
    assert "видны только общедоступные страницы" in told


def test_in_english_too() -> None:
    told, _ = said([user("What can you do?")], wiki())
    assert told.startswith("I answer questions about")
    assert "You could ask, for example:" in told
