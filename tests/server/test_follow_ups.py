"""What is suggested to ask next: headings beside the cited sections, that this person finds, and nothing else."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import Any

import pytest

from askwiki.access.rights import acl_key
from askwiki.data import Clause, Identity
from askwiki.kit import Kit
from askwiki.openwebui.follow_ups import follow_ups, quoted_turns
from tests.support.edge_wiki import PERSON
from tests.support.running import Running, complete, inlet
from tests.support.scripted import ScriptedLlm
from tests.support.small_wiki import chunk, kit_of

ANNA = Identity(id="a", email="a@example.com", known=True)
FINANCE = (Clause(groups=("finance",)),)
URL = "https://wiki.example.com/refund"
HEADINGS = ("Сроки возврата", "Куда возвращаются деньги", "Что нужно для возврата?", "АРМ оператора")
TEXTS = ("три рабочих дня на карту", "на карту отправителя или наличными в кассе", "паспорт и чек", "кнопка в карточке")


def wiki(**more: Any) -> Kit:
    sections = [
        chunk(
            f"refund#{number}",
            f"## {heading}\n\nВозврат перевода: {text}.\n\n",
            title="Возврат перевода",
            headings=(heading,),
            url=f"{URL}#{number}",
            **more,
        )
        for number, (heading, text) in enumerate(zip(HEADINGS, TEXTS, strict=True))
    ]
    other = [chunk(f"other{number}", f"Отпуск и график работы, вопрос {number}.") for number in range(8)]
    return kit_of([*sections, *other], readers={acl_key(FINANCE): FINANCE}, llm=ScriptedLlm())


def prompt(*said: tuple[str, str]) -> str:
    history = "\n".join(f"{who}: {text}" for who, text in said)
    return f'### Task:\nSuggest … {{ "follow_ups": [] }}\n<chat_history>\n{history}\n</chat_history>'


ASKED = ("USER", "Сколько идёт возврат перевода на карту?")
ANSWERED = ("ASSISTANT", f"Три рабочих дня [1].\n\n**Источники**\n\n1. [Возврат перевода › Сроки возврата]({URL}#0)")


def suggested(kit: Kit, said: str, identity: Identity = ANNA) -> tuple[str, ...]:
    return follow_ups(said, identity, kit=kit, settings=kit.settings, cancel=threading.Event())


def test_the_sections_beside_the_cited_one_are_suggested_nearest_first_without_a_model() -> None:
    kit = wiki()
    assert suggested(kit, prompt(ASKED, ANSWERED)) == (
        "Возврат перевода: куда возвращаются деньги",
        "Что нужно для возврата?",
        "Возврат перевода: АРМ оператора",
    )
    assert kit.llm.history == []  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "said",
    [
        prompt(ASKED),  # not answered yet
        prompt(ASKED, ("ASSISTANT", "В вики об этом ничего нет.")),  # nothing is cited
        prompt(ASKED, ("ASSISTANT", "1. [Чужая страница](https://wiki.example.com/other)")),
        prompt(("ASSISTANT", ANSWERED[1])),
        "### Task: no history",
        "",
    ],
)
def test_where_nothing_is_cited_nothing_is_suggested(said: str) -> None:
    assert suggested(wiki(), said) == ()


def test_what_was_asked_already_is_not_suggested_again() -> None:
    before = [("USER", "Что нужно для возврата?"), ("ASSISTANT", "Паспорт и чек.")]
    assert "Что нужно для возврата?" not in suggested(wiki(), prompt(*before, ASKED, ANSWERED))


def test_a_page_of_others_suggests_nothing() -> None:
    kit = wiki(acl=acl_key(FINANCE))
    assert suggested(kit, prompt(ASKED, ANSWERED)) == ()
    assert suggested(kit, prompt(ASKED, ANSWERED), replace(ANNA, groups=("finance",))) != ()


@pytest.mark.parametrize(("most", "count"), [(0, 0), (1, 1), (9, 3)])
def test_as_many_as_the_setting_says(most: int, count: int) -> None:
    kit = wiki()
    settings = replace(kit.settings, answer=replace(kit.settings.answer, follow_ups=most))
    found = follow_ups(prompt(ASKED, ANSWERED), ANNA, kit=kit, settings=settings, cancel=threading.Event())
    assert len(found) == count


def test_the_quoted_dialogue_is_read_with_the_lines_of_each_turn() -> None:
    turns = quoted_turns(prompt(("USER", "Первая\nи вторая"), ("ASSISTANT", "Ответ: да.\n\nUSER_ID не нужен")))
    assert [(turn.role, turn.content) for turn in turns] == [
        ("user", "Первая\nи вторая"),
        ("assistant", "Ответ: да.\n\nUSER_ID не нужен"),
    ]


def test_the_running_server_answers_the_request_of_the_chat(served: Running) -> None:
    asked = prompt(("USER", "Какой разовый лимит?"), ("ASSISTANT", "В вики об этом ничего нет."))
    body = inlet(served, [{"role": "user", "content": asked}], PERSON, metadata={"task": "follow_up_generation"})
    answer = complete(served, {**body, "stream": False, "user": PERSON}).json()
    assert json.loads(answer["choices"][0]["message"]["content"]) == {"follow_ups": []}
