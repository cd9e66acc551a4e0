"""What a question wants to be told and no quotation tells; what is no question; names that no list should name."""

from __future__ import annotations

import pytest

from askwiki.stages.asked import not_told
from askwiki.stages.refusal import unheard
from askwiki.stages.smalltalk import is_no_question, kind_of_talk
from tests.question.test_flow import kit, put
from tests.support.small_wiki import chunk


@pytest.mark.parametrize(
    ("question", "text", "missing"),
    [
        ("Сколько стоит один сервер?", "План на 5 дней.", ("price", "")),
        ("Сколько стоит один сервер?", "Сервер стоит 100 руб. в час.", ("", "")),
        ("Сколько стоит паллета?", "| Тара | Цена, руб. |\n| --- | --- |\n| паллета | 950 |", ("", "")),
        ("Сколько стоит паллета?", "| Тара | Вес |\n| --- | --- |\n| паллета | 950 |", ("price", "")),
        ("Сколько стоит паллета?", "| Цена |\n| --- |\n\n| Вес |\n| --- |\n| 950 |", ("price", "")),
        ("How much is a seat?", "| Plan | Price, USD |\n| --- | --- |\n| seat | 12 |", ("", "")),
        ("How much does a server cost?", "It is free of charge.", ("", "")),
        ("Кто удалил сервер?", "Пользователь удаляет сервер сам.", ("doer", "")),
        ("Кто удалил сервер?", "Сервер удалил Иван Петров.", ("", "")),
        ("Кто отвечает за доступ?", "За доступ надо платить.", ("person", "")),
        ("Кто отвечает за доступ?", "За доступ отвечает администратор.", ("", "")),
        ("Когда закрывают офис?", "Офис закрывают охотно.", ("time", "")),
        ("Когда закрывают офис?", "Офис закрывают вечером.", ("", "")),
        ("Сколько владельцев?", "Владельцы бывают разные.", ("number", "")),
        ("Сколько владельцев?", "Только один.", ("", "")),
        ("Чем отличается диск от ленты?", "Диск быстрый.", ("side", "ленты")),
        ("Какая разница между диском и снимком?", "Диск и снимок.", ("", "")),
        ("difference between a disk and a tape", "The disk is fast.", ("side", "a tape")),
        ("Как создать диск?", "Никак.", ("", "")),
    ],
)
def test_what_no_quotation_tells_is_named(question: str, text: str, missing: tuple[str, str]) -> None:
    assert not_told(question, [text]) == missing


@pytest.mark.parametrize("text", ["2+2", "2 + 2 = ?", "1", "42", "хм", "Хммм...", "ну", "а", "hmm"])
def test_what_asks_nothing_is_not_searched(text: str) -> None:
    assert (is_no_question(text), kind_of_talk(text)) == (True, "refused_empty")
    assert put(text, kit()).answer.refused == "empty"


@pytest.mark.parametrize("text", ["403", "10.0.0.1/24", "24/7", "E-1", "мы", "лимит"])
def test_codes_and_words_are_questions(text: str) -> None:
    assert not is_no_question(text)


def test_words_of_a_pasted_message_and_function_words_are_no_names() -> None:
    assert unheard("Что значит could not verify certificate против Trusted", []) == ["Trusted"]
    assert unheard("лимит of перевод the MoneyGram", []) == ["MoneyGram"]


def test_a_price_that_no_quotation_has_is_told_before_them() -> None:
    wiki = [chunk("limits", "Лимит перевода в Турцию задаёт банк.", title="Лимиты")]
    seen = put("Сколько стоит перевод в Турцию, какой лимит?", kit(wiki=wiki))
    assert seen.text.startswith("Цены в найденном нет. Возможно, ответа здесь нет.")
