"""Questions that one search does not answer: the part that the judge misses, pages that relevant ones link to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from askwiki.data import PUBLIC, Candidate, Question, Rights
from askwiki.errors import ModelError, ModelRefuses
from askwiki.language.wording import may_have_parts
from askwiki.llm.port import Message
from askwiki.prompts import Prompts
from askwiki.settings import PassagesSettings, RelevanceSettings
from askwiki.stages.relevance.linked import linked_candidates, linked_pages
from askwiki.stages.relevance.missing import CHARACTERS, missing_part, read_part
from tests.question.test_flow import Seen, kit, put, relevant
from tests.support.scripted import Scripted, ScriptedLlm
from tests.support.small_wiki import chunk, kit_of, with_settings

CHAIN = "Какой лимит перевода в Турцию и кто его меняет?"
WHO = "Кто повышает лимит перевода?"
LIMITS = [chunk(f"t{number}", f"Лимит перевода в Турцию, вид {number}.", title="Лимиты") for number in range(30)]
LINK = "[карточка](/pages/viewpage.action?pageId=42)"
RIGHTS = Rights(frozenset({PUBLIC}))


def asked(missed: Scripted, wiki: Sequence[Any], *names: str, question: str = CHAIN) -> tuple[Seen, ScriptedLlm]:
    """The question put to a wiki whose first search is full of limits; ``missed`` is what the judge says it lacks."""
    judge = relevant(*names)

    def says(messages: Sequence[Message]) -> Any:
        if "недостающую" not in messages[-1].content:
            return judge(messages)
        return missed(messages) if callable(missed) else missed

    llm = ScriptedLlm().always("relevance", says).always("answer", "Лимит есть [1].")
    llm.always("condense", {"question": question, "need": "search", "intent": "unclear", "terms": []})
    made = kit(llm, [*LIMITS, *wiki])
    made = with_settings(made, search=replace(made.settings.search, candidates=10))
    return put(question, made), llm


def looked_for(seen: Seen) -> list[str]:
    return [line for line in seen.statuses if line.startswith("Ищу ещё")]


def titles(seen: Seen) -> list[str]:
    assert seen.answer.trace is not None
    return [passage.title for passage in seen.answer.trace.passages]


def test_the_part_that_the_judge_misses_is_looked_for_once_and_said() -> None:
    wiki = [chunk("w", "Лимит перевода повышает начальник смены.", title="Начальство")]
    seen, llm = asked(WHO, wiki, "вид 1.", "начальник")
    assert looked_for(seen) == [f"Ищу ещё: {WHO}"]
    assert "Начальство" in titles(seen)
    calls = llm.asked("relevance")
    assert sum("недостающую" in call.text for call in calls) == 1
    assert calls[-1].text.count(WHO) == 2  # what was found for the part is judged by the part


def test_what_is_not_relevant_to_the_whole_may_be_to_the_part() -> None:
    wiki = [chunk("w", "Лимит перевода в Турцию меняет начальник.", title="Начальство")]

    def says(messages: Sequence[Message]) -> Any:
        return relevant("вид 1.", *(("начальник",) if WHO in messages[-1].content else ()))(messages)

    llm = ScriptedLlm().always("answer", "Лимит есть [1].")
    llm.always("relevance", lambda messages: WHO if "недостающую" in messages[-1].content else says(messages))
    llm.always("condense", {"question": CHAIN, "need": "search", "intent": "unclear", "terms": []})
    seen = put(CHAIN, with_settings(kit(llm, [*LIMITS, *wiki]), passages=PassagesSettings(siblings=False)))
    assert titles(seen).count("Начальство") == 1
    assert looked_for(seen) == [f"Ищу ещё: {WHO}"]


def test_pages_that_relevant_fragments_link_to_are_candidates_for_the_part() -> None:
    wiki = [
        chunk("t", f"Лимит перевода в Турцию меняет {LINK}.", title="Лимиты"),
        *(chunk(f"n{number}", "Кто повышает лимит перевода?", title="Вопросы") for number in range(20)),
        chunk("42", "Отвечает за перевод отдел контроля.", title="Карточка"),
    ]
    seen, _ = asked(WHO, wiki, "меняет", "контроля")
    assert "Карточка" in titles(seen)


@pytest.mark.parametrize("missed", ["0", "", "Нет.", CHAIN, "Слово " * 60, ModelError("slow"), "00"])
def test_nothing_more_is_looked_for_where_the_judge_misses_nothing(missed: Scripted) -> None:
    seen, _ = asked(missed, [], "вид 1.")
    assert looked_for(seen) == []
    assert seen.answer.text.startswith("Лимит есть [1].")


def test_a_model_that_refuses_is_not_asked_again() -> None:
    seen, llm = asked(ModelRefuses("no money"), [], "вид 1.")
    assert llm.asked("answer") == []
    assert looked_for(seen) == []


def test_a_plain_question_is_not_held_against_what_was_found() -> None:
    _, llm = asked(WHO, [], "вид 1.", question="Какой лимит перевода в Турцию?")
    assert [call for call in llm.asked("relevance") if "недостающую" in call.text] == []


def test_a_folder_of_prompts_from_before_goes_on_without_a_second_round() -> None:
    llm = ScriptedLlm().always("relevance", relevant("вид 1.")).always("answer", "Лимит есть [1].")
    llm.always("condense", {"question": CHAIN, "need": "search", "intent": "unclear", "terms": []})
    made = kit(llm, LIMITS)
    old = {(language, name): made.prompts.get(name, language) for language, name in made.prompts.names()}
    before = Prompts({key: prompt for key, prompt in old.items() if key[1] != "missing"})
    assert put(CHAIN, replace(made, prompts=before)).answer.text.startswith("Лимит есть [1].")


def test_without_a_relevant_fragment_nothing_is_missed() -> None:
    _, llm = asked(WHO, [], "ничего такого")
    assert [call for call in llm.asked("relevance") if "недостающую" in call.text] == []


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Какой тариф у банка и кто его меняет?", True),
        ("Кто отвечает за заявку, которой занимается кадровик, и где он сидит?", True),
        ("Какая почта у отдела? А телефон?", True),
        ("Чем отличается роль редактора от роли автора?", True),
        ("What is the limit and who raises it?", True),
        ("difference between a disk and a tape", True),
        ("Какой лимит перевода?", False),
        ("Как оформить отпуск и больничный?", False),
        ("How do I order a pass?", False),
    ],
)
def test_a_question_that_may_have_parts(question: str, parts: bool) -> None:
    assert may_have_parts(question) == parts


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ("**Не хватает:** «Кто повышает лимит?»", "Кто повышает лимит?"),
        ("- Кто повышает лимит?\n- Где он сидит?", "Кто повышает лимит?"),
        ("Missing: the phone of the shift lead", "the phone of the shift lead"),
        ("0\nВсё есть.", ""),
        ("---\n0", ""),
    ],
)
def test_the_part_is_read_in_whatever_clothes_it_comes(said: str, part: str) -> None:
    assert read_part(said, CHAIN) == part


def test_the_judge_reads_the_best_fragments_up_to_a_limit() -> None:
    llm = ScriptedLlm().always("relevance", WHO)
    found = [Candidate(chunk(str(number), f"№{number} " + "слово " * 480), 1.0) for number in range(9)]
    made, settings = kit_of([], llm=llm), RelevanceSettings()
    assert missing_part(Question(CHAIN), found, llm=llm, kit=made, settings=settings) == WHO
    shown = llm.history[0].text
    assert ("№2 " in shown, "№8 " in shown, len(shown) < CHARACTERS + 3_000) == (True, False, True)


@pytest.mark.parametrize(
    ("page", "text", "pages"),
    [
        ("17", f"{LINK} и [ещё](/spaces/KB/pages/7/Имя#Раздел)", ["42", "7"]),
        ("17", "[сюда](https://wiki.example.com/pages/viewpage.action?pageId=5&src=x)", ["5"]),
        ("17", "[запись](/spaces/KB/blog/2025/03/01/504/Имя) [она же](/pages/edit-v2/504)", ["504"]),
        ("17", "[чужая](https://other.example.com/pages/viewpage.action?pageId=5)", []),
        (
            "a/b/c.md",
            "[`f`](../d.md#x), [два\nслова](./e.md), [диск](/f.md), [почта](mailto:g@h.md)",
            ["a/d.md", "a/b/e.md"],
        ),
        ("a/b/c.md", "`[код](d.md)` ![рис](d.png) [в](#сюда)", []),
        ("a/b.md!/act.pdf", "[имя](%D0%B0.md)", ["a/а.md"]),
    ],
)
def test_a_link_names_its_page(page: str, text: str, pages: list[str]) -> None:
    assert linked_pages(chunk("x", text, page_id=page, url="https://wiki.example.com/x")) == pages


def test_of_linked_pages_what_says_most_of_the_part_is_taken_and_nothing_hidden() -> None:
    wiki = [
        chunk("42#1", "О погоде."),
        chunk("42#2", "Повышает лимит начальник."),
        chunk("42#3", "Повышает лимит директор.", acl="secret"),
        chunk("42#4", "Повышает лимит кассир."),
    ]
    first = [Candidate(chunk("17", f"Лимит: {LINK}"), 1.0)]
    reader = kit_of(wiki).reader
    found = linked_candidates("Кто повышает лимит?", first, {"42#4"}, RIGHTS, reader)
    assert [each.chunk.id for each in found][:1] == ["42#2"]
    assert not {"42#3", "42#4"} & {each.chunk.id for each in found}
