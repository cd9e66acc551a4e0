"""From the dialogue to a question that stands alone: rules, the model's part, and what may go wrong."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from askwiki.data import Intent, Need, Question, Turn
from askwiki.errors import Cancelled, ModelError
from askwiki.language.wording import intent_of, language_of, leans_on_dialogue
from askwiki.settings import CondenseSettings, Settings
from askwiki.stages.condense import by_rule, condense
from askwiki.stages.dialogue import clean, recent, split, typed, without_markers
from askwiki.stages.smalltalk import is_about_last_answer, is_friendly, kind_of_talk, without_greeting
from tests.support.scripted import ScriptedLlm
from tests.support.small_wiki import kit_of

RULES = CondenseSettings()


def user(text: str) -> Turn:
    return Turn("user", text)


def ours(text: str) -> Turn:
    return Turn("assistant", text)


def said(question: str, **more: Any) -> dict[str, Any]:
    return {"question": question, "need": "search", "intent": "unclear", "terms": [], **more}


# --- what the chat adds ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        (ours("Срок 3 дня [1]. Деньги вернут [1][2], [3, 4].\n"), "Срок 3 дня. Деньги вернут,."),
        (ours("Срок [1].\n\n**Источники**\n\n1. [А › Б](https://w/1) · обновлено 3 мес. назад"), "Срок."),
        (ours("No.\n\n**The nearest pages (they do not answer the question)**\n\n- [A](https://w/1)\n- B"), "No."),
        (ours("**Источники (просмотрены при ответе)**\n\n1. A\n\n\u00a0\n\n3. B"), ""),
        (ours("<details type='reasoning'>hm</details>Да."), "Да."),
        (ours("`a[1]` и ```\nb[2]\n``` и [1](https://w)"), "`a[1]` и ```\nb[2]\n``` и [1](https://w)"),
        (user("Что значит [1] в коде?"), "Что значит [1] в коде?"),
        (user("### Task:\nRespond.\n<context>\n<source>x</source>\n</context>\n\nКто тут?"), "Кто тут?"),
        (user("### Task:\n…</context>\n<user_query>\nКто тут?\n</user_query>"), "Кто тут?"),
    ],
)
def test_what_the_chat_and_we_added_is_taken_out(turn: Turn, text: str) -> None:
    assert [each.content for each in clean([turn])] == ([text] if text else [])


def test_turns_of_unknown_roles_and_empty_ones_are_left_out() -> None:
    turns = [Turn("system", "You are."), Turn("tool", "{}"), user(" "), user("Вопрос?"), Turn("developer", "x")]
    assert clean(turns) == (user("Вопрос?"),)


@pytest.mark.parametrize(
    ("turns", "before", "question", "wish"),
    [
        ([], (), "", ""),
        ([ours("Привет")], (ours("Привет"),), "", ""),
        ([user("А?")], (), "А?", ""),
        ([user("А?"), ours("Б."), user("В?")], (user("А?"), ours("Б.")), "В?", ""),
        ([user("А?"), ours("Б."), user("Добавить детали")], (ours("Б."),), "А?", "Добавить детали"),
        ([user("А?"), ours("Бол")], (ours("Бол"),), "А?", ""),
    ],
)
def test_the_question_is_told_from_what_was_said_before(
    turns: list[Turn], before: tuple[Turn, ...], question: str, wish: str
) -> None:
    assert split(turns) == (before, question, wish)


def test_of_a_long_dialogue_the_end_is_read() -> None:
    turns = [user(str(number) * 10) for number in range(10)] * 200
    kept = recent(turns, CondenseSettings(turns=4, characters=25))
    assert [turn.content for turn in kept] == ["7777…", "8888888888", "9999999999"]


def test_a_message_of_empty_lines_costs_no_more_than_its_length() -> None:
    """Square time would be minutes here."""
    assert clean([ours("\n" * 300_000 + "Да.")]) == (ours("Да."),)


def test_markers_go_with_their_blank() -> None:
    assert without_markers("Да [1], нет[2][3]. [12]") == "Да, нет."


@pytest.mark.parametrize("code", ["~~~\na[1]\n~~~\n", "````\n```\na[1]\n````\nи `b[2]`"])
def test_code_keeps_what_looks_like_a_marker(code: str) -> None:
    assert without_markers(code) == code


# --- friendly words -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Привет!", "hello"),
        ("добрый день, коллеги", "hello"),
        ("Hi there", "hello"),
        ("как дела?", "hello"),
        ("👍", "noted"),
        ("Спасибо большое!", "thanks"),
        ("ок, понятно", "thanks"),
        ("thanks a lot", "thanks"),
        ("пока!", "goodbye"),
    ],
)
def test_friendly_messages_need_no_search(text: str, sentence: str) -> None:
    assert (is_friendly(text), kind_of_talk(text)) == (True, sentence)
    assert by_rule([user(text)], RULES).need == "smalltalk"


@pytest.mark.parametrize("text", ["короче", "Переведи, пожалуйста, на английский", "make it shorter"])
def test_a_wish_about_an_answer_where_there_is_none_is_not_searched(text: str) -> None:
    assert (by_rule([user(text)], RULES).need, kind_of_talk(text)) == ("smalltalk", "nothing_said")
    answered = [user("Как взять отпуск?"), ours("Напишите заявление."), user(text)]
    assert by_rule(answered, RULES).need == "dialogue"
    assert by_rule([user(f"{text}: как взять отпуск и кто его согласует")], RULES).need == "search"


@pytest.mark.parametrize(
    "text",
    ["как дела с переводом?", "не понятно", "нет", "Хорошо ли работает касса?", "спасибо, а лимит?", "ТК", "E-136"],
)
def test_questions_are_not_taken_for_small_talk(text: str) -> None:
    assert not is_friendly(text)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Привет! Какие статусы у перевода?", "Какие статусы у перевода?"),
        ("Добрый день, коллеги! где забрать ноут", "где забрать ноут"),
        ("Спасибо! А лимит?", "А лимит?"),
        ("Добрый день начинается когда?", "Добрый день начинается когда?"),
        ("Привет", "Привет"),
    ],
)
def test_a_greeting_before_the_question_goes(text: str, question: str) -> None:
    assert without_greeting(text) == question


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Переведи прошлый ответ на английский", True),
        ("переведи это на татарский", True),
        ("сократи ответ", True),
        ("короче", True),
        ("Скажи по-английски", True),
        ("Перепиши в виде таблицы", True),
        ("Translate your last answer into Russian", True),
        ("переведи деньги в Турцию", False),
        ("Как перевести деньги в Бразилию?", False),
        ("как сократить срок займа?", False),
        ("Переведи договор на английский кто делает?", False),
        ("How do I translate a contract?", False),
    ],
)
def test_wishes_about_the_last_answer_are_told_from_questions(text: str, about: bool) -> None:
    assert is_about_last_answer(text) is about
    turns = [user("Какой срок?"), ours("3 дня."), user(text)]
    assert (by_rule(turns, RULES).need == "dialogue") is about


# --- the rule -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "leans"),
    [
        ("А если не пришёл за ними?", True),
        ("и сколько там держат ключ?", True),
        ("Она платная?", True),
        ("нет, я про займы", True),
        ("а второму?", True),
        ("What about loans?", True),
        ("за границей сколько", True),
        ("Как оформить ежегодный отпуск через портал «Кадры»?", False),
        ("Какие документы нужны получателю перевода?", False),
    ],
)
def test_a_question_that_leans_on_the_dialogue_is_recognised(question: str, leans: bool) -> None:
    assert leans_on_dialogue(question) is leans


@pytest.mark.parametrize(
    ("turns", "text"),
    [
        (
            [user("Какие суточные в Москве?"), ours("1 500 ₽."), user("А за границей?")],
            "Какие суточные в Москве? А за границей?",
        ),
        (
            [user("Какие суточные?"), ours("1 500 ₽."), user("Как оформить больничный лист сотруднику?")],
            "Как оформить больничный лист сотруднику?",
        ),
        ([user("А за границей?")], "А за границей?"),
        (
            [user("Какие суточные в Москве?"), ours("1."), user("А в Китае?"), ours("2."), user("А в Индии?")],
            "Какие суточные в Москве? А в Китае? А в Индии?",
        ),
        (
            [user("Лимит?"), ours("1."), *[user("А там?"), ours("2.")] * 5, user("А потом?")],
            "А там? А там? А там? А потом?",
        ),
        (
            [user("Какие суточные в Москве?"), ours("1."), user("Спасибо!"), ours("Рад."), user("А за границей?")],
            "Какие суточные в Москве? А за границей?",
        ),
        (
            [user("Какие суточные?"), ours("1."), user("Переведи ответ на английский"), ours("2."), user("А в Китае?")],
            "Какие суточные? А в Китае?",
        ),
        (
            [user("Какие суточные?"), ours("1."), user("Более кратко"), ours("2."), user("А в Китае?")],
            "Какие суточные? А в Китае?",
        ),
        (
            [user("Как взять отпуск?"), ours("1."), user("Какие суточные в Москве?"), ours("2."), user("А в Китае?")],
            "Какие суточные в Москве? А в Китае?",
        ),
        ([user("Какой срок?"), ours("3 дня."), user("Добавить детали")], "Какой срок?"),
    ],
)
def test_without_a_model_a_follow_up_is_searched_with_the_question_before_it(turns: list[Turn], text: str) -> None:
    assert by_rule(turns, RULES).text == text


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_nothing_typed_is_no_question(text: str) -> None:
    assert by_rule([user(text)], RULES) == Question("", need="smalltalk")


def test_a_question_of_fifty_thousand_characters_is_cut() -> None:
    question = by_rule([user("слово " * 10_000)], RULES)
    assert len(question.text) == RULES.question_characters
    shorter = by_rule([user("слово " * 10_000)], CondenseSettings(question_characters=100))
    assert len(shorter.text) <= 100


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Какие статусы у перевода?", "ru"),
        ("How fast may a partner call production?", "en"),
        ("POSTURE_DENY", "ru"),
        ("routerctl partner enable", "ru"),
        ("Что делать с ошибкой ERR_CONNECTION_REFUSED в Chrome?", "ru"),
        ("Нинди статуслар бар?", "ru"),
        ("🙂", "ru"),
        ("SELECT * FROM dm_transfers WHERE status = 'SENT'", "en"),
    ],
)
def test_language_of_prompts_and_sentences(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("кнопка «Создать» серая", "screen"),
        ("Что такое КЗ?", "concept"),
        ("что значит кнопка «В СБ»", None),
        ("лимит турция", None),
    ],
)
def test_intent_by_its_words(text: str, intent: Intent | None) -> None:
    assert intent_of(text) == intent


# --- the model's part -----------------------------------------------------------------------------

FOLLOW_UP = [user("Кто работает в отделе партнёров?"), ours("Титова и двое."), user("А кто у них руководитель?")]


def test_a_follow_up_is_made_to_stand_alone() -> None:
    llm = ScriptedLlm().enqueue(
        "condense", said("Кто руководитель отдела партнёров?", intent="concept", terms=["начальник", "Отдел партнёров"])
    )
    question = condense(FOLLOW_UP, kit=kit_of([], llm=llm), settings=Settings())
    assert question == Question(
        text="Кто руководитель отдела партнёров?",
        original="А кто у них руководитель?",
        intent="concept",
        terms=("начальник", "Отдел партнёров"),
        history=tuple(FOLLOW_UP[:2]),
    )


def test_the_prompt_has_dialogue_question_and_only_the_words_of_the_company_that_occur() -> None:
    llm = ScriptedLlm().enqueue("condense", said("Где номер кадров в телефонной книге?"))
    turns = [user("Что есть в телефонной книге?"), ours("Номера [1]."), user("А номер кадров?")]
    condense(turns, kit=kit_of([], llm=llm), settings=Settings())
    (asked,) = llm.history
    assert "user: Что есть в телефонной книге?\n\nassistant: Номера." in asked.messages[1].content
    assert "- ТК (телефонка) — телефонная книга" in asked.messages[1].content
    assert asked.schema is not None and asked.schema["required"] == ["question", "need", "intent", "terms"]


@pytest.mark.parametrize(
    "turns",
    [
        [user("Какие статусы у перевода?")],
        [user("Что такое ТК?")],
        [user("Как подписать заявку в системе учёта, если её вернул бухгалтер?")],
        [user("Привет!")],
        [user("")],
        [user("Какой срок?"), ours("3 дня."), user("Спасибо!")],
        [user("Какой срок?"), ours("3 дня."), user("Переведи ответ на английский")],
    ],
)
def test_no_call_where_none_is_needed(turns: list[Turn]) -> None:
    condense(turns, kit=kit_of([], llm=ScriptedLlm()), settings=Settings())


def test_a_single_question_with_a_pronoun_is_worth_a_call() -> None:
    llm = ScriptedLlm().enqueue("condense", said("Кто у них руководитель?"))
    condense([user("Кто у них руководитель?")], kit=kit_of([], llm=llm), settings=Settings())
    assert len(llm.history) == 1


LONG = "Коллеги, вчера я оформлял заявку на отпуск через портал. " * 6 + "Сколько дней она будет на согласовании?"


@pytest.mark.parametrize(
    ("searches", "kept"),
    [
        (["Какой лимит?", "Когда отпуск?", "Какой лимит?"], ("Какой лимит?", "Когда отпуск?")),
        (["а?", "б?", "в?", "г?"], ("а?", "б?", "в?")),
        (["Какой лимит?"], ()),
        ([], ()),
    ],
)
def test_the_parts_of_a_question_come_with_it(searches: list[str], kept: tuple[str, ...]) -> None:
    asked = "Какой лимит перевода и когда подать заявку на отпуск?"
    llm = ScriptedLlm().enqueue("condense", {**said(asked), "searches": searches})
    assert condense([user(asked)], kit=kit_of([], llm=llm), settings=Settings()).searches == kept


@pytest.mark.parametrize("asked", [LONG, "Сотрудник Петров ушёл в отпуск. Кто его заменяет в отделе переводов?"])
def test_a_first_message_that_is_long_or_points_at_its_own_beginning_is_worth_a_call(asked: str) -> None:
    llm = ScriptedLlm().enqueue("condense", said("Сколько дней заявка на отпуск будет на согласовании?"))
    condense([user(asked)], kit=kit_of([], llm=llm), settings=Settings())
    assert len(llm.history) == 1


CORRECTED = [user("Что значит ошибка E-136?"), ours("Нет бумаги."), user("Ой нет, не E-136, а E-129")]


def test_what_the_person_took_back_is_not_put_into_the_question_again() -> None:
    llm = ScriptedLlm().enqueue("condense", said("Что значит ошибка E-129?"))
    assert condense(CORRECTED, kit=kit_of([], llm=llm), settings=Settings()).text == "Что значит ошибка E-129?"


def test_what_the_person_took_back_is_not_searched_without_a_model_either() -> None:
    question = by_rule(CORRECTED, RULES)
    assert "E-136" not in question.text and "E-129" in question.text and "ошибка" in question.text


def test_the_condenser_knows_what_day_it_is() -> None:
    llm = ScriptedLlm().enqueue("condense", said("Кто у них руководитель?"))
    condense([user("Кто у них руководитель?")], kit=kit_of([], llm=llm), settings=Settings())
    assert f"Сегодня {date.today().isoformat()}." in llm.history[0].text


def test_condensing_can_be_switched_off() -> None:
    settings = replace(Settings(), condense=CondenseSettings(enabled=False))
    question = condense(FOLLOW_UP, kit=kit_of([], llm=ScriptedLlm()), settings=settings)
    assert question.text == "Кто работает в отделе партнёров? А кто у них руководитель?"


def test_quoted_words_the_person_typed_are_never_lost() -> None:
    llm = ScriptedLlm().enqueue("condense", said("Что делает кнопка в кассе?"))
    turns = [user("Что есть в кассе?"), ours("Кнопки."), user("А что делает «Отменить всё»?")]
    question = condense(turns, kit=kit_of([], llm=llm), settings=Settings())
    assert question.text == "Что делает кнопка в кассе? (Отменить всё)"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (said("Что значит ошибка?"), "Что значит ошибка? (E-129, КЗ)"),
        (said("Что значит e-129 для КЗ?"), "Что значит e-129 для КЗ?"),
    ],
)
def test_codes_the_person_typed_are_never_lost(reply: dict[str, Any], text: str) -> None:
    llm = ScriptedLlm().enqueue("condense", reply)
    turns = [user("Что с кассой?"), ours("Ошибка."), user("А E-129 для КЗ?")]
    assert condense(turns, kit=kit_of([], llm=llm), settings=Settings()).text == text


@pytest.mark.parametrize(
    ("need", "kept"), [("search", "search"), ("dialogue", "dialogue"), ("outside", "outside"), ("smalltalk", "search")]
)
def test_what_the_model_says_is_needed(need: Need, kept: Need) -> None:
    llm = ScriptedLlm().enqueue("condense", said("Какая завтра погода в городе?", need=need))
    assert condense(FOLLOW_UP, kit=kit_of([], llm=llm), settings=Settings()).need == kept


@pytest.mark.parametrize(
    "reply",
    [
        ModelError("down"),
        said(""),
        said("Who leads the partner department?"),
        said("Руководитель отдела: Титова. " * 100),
        said("Извините, я не могу помочь с этим запросом."),
        said("Я языковая модель и не знаю, кто руководит отделом."),
    ],
)
def test_when_the_model_fails_the_rule_holds_and_it_is_said(reply: Any) -> None:
    llm = ScriptedLlm().enqueue("condense", reply)
    question = condense(FOLLOW_UP, kit=kit_of([], llm=llm), settings=Settings())
    assert question.text == "Кто работает в отделе партнёров? А кто у них руководитель?"
    assert question.note == "Языковая модель не ответила, поэтому вопрос взят как есть."


def test_a_stopped_chat_is_not_condensed() -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        condense(FOLLOW_UP, kit=kit_of([], llm=ScriptedLlm()), settings=Settings(), cancel=cancel)


def test_two_thousand_messages_make_one_short_prompt() -> None:
    llm = ScriptedLlm().enqueue("condense", said("Какой лимит у перевода в Турцию?"))
    turns = [turn for number in range(1000) for turn in (user(f"Вопрос {number}?"), ours("Ответ. " * 50))]
    condense([*turns, user("А в Турцию?")], kit=kit_of([], llm=llm), settings=Settings())
    assert len(llm.history[0].text) < 16_000


def test_what_is_beyond_the_limit_of_a_message_is_read_by_no_rule() -> None:
    """The question and those before it are cut first: neither a pattern nor the model sees the rest."""
    long = "Как? " + " " * 300_000 + "Суточные а как насчёт них"
    question = by_rule([Turn("user", long), Turn("assistant", "Так."), Turn("user", long)], RULES)
    assert "Суточные" not in question.text
    assert all("Суточные" not in turn.content for turn in question.history)


def test_a_document_before_the_question_does_not_count_as_its_length() -> None:
    document = f"### Task:\nAnswer.\n<context>{'x' * 20_000}</context>\n<user_query>\nСрок?\n</user_query>"
    assert typed(document) == "Срок?"
    assert by_rule([Turn("user", document)], RULES).text == "Срок?"
