"""The forms of Open WebUI: messages in, events and texts out, service requests recognised."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from askwiki.data import Answer, Event, Source, Status, Token, Turn
from askwiki.errors import ModelError
from askwiki.openwebui.events import items, last_words, pieces, text_of, turns_of
from askwiki.openwebui.service_requests import first_question, plain_title, service_reply, task_by_text
from tests.support.scripted import ScriptedLlm
from tests.support.small_wiki import kit_of

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
FILES = {"type": "text", "text": "<attached_files>\n<file name='a.png'/>\n</attached_files>"}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("  Что такое ТК? ", "Что такое ТК?"),
        ([FILES, {"type": "text", "text": "Что тут?"}, PICTURE], "Что тут?"),
        ([PICTURE], ""),
        ([], ""),
        (None, ""),
        ([{"type": "text"}, {"type": "text", "text": 5}, "x", None], ""),
        ("<attached_files>x</attached_files>Вопрос", "Вопрос"),
        ("a\ud800b", "a\ufffdb"),
    ],
)
def test_the_words_of_a_message_are_found_in_every_form(content: Any, text: str) -> None:
    assert text_of(content) == text


def test_a_dialogue_keeps_only_messages_of_known_form() -> None:
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "q"},
        {"role": "tool", "content": "t"},
        {"content": "no role"},
        "text",
        {"role": "assistant", "content": "a"},
    ]
    assert turns_of(messages) == (Turn("system", "s"), Turn("user", "q"), Turn("assistant", "a"))
    assert turns_of(None) == ()


def test_the_last_words_are_the_persons() -> None:
    assert last_words((Turn("user", "q"), Turn("assistant", "a"))) == "q"
    assert last_words(()) == ""


SOURCE = Source(1, "askwiki-1", "Переводы", "https://wiki.example.com/x", "Текст", "2025-01-01", 0.5)
EVENTS: list[Event] = [
    Status("Ищу…", "search"),
    SOURCE,
    Token("data: это"),
    Token(""),
    Token(" ответ [1]"),
    Answer("data: это ответ [1]", timings={"search": 0.01234}, tokens={"prompt": 3, "completion": 2}),
]


def test_a_streamed_answer_has_progress_sources_text_and_usage() -> None:
    shown = list(items(EVENTS, stream=True, request_id="r"))
    assert shown == [
        {"event": {"type": "status", "data": {"description": "Ищу…", "done": True}}},
        {
            "event": {
                "type": "source",
                "data": {
                    "source": {"id": "askwiki-1", "name": "Переводы", "url": "https://wiki.example.com/x"},
                    "document": ["Текст"],
                    "metadata": [{"source": "askwiki-1", "name": "Переводы", "updated": "2025-01-01"}],
                },
            }
        },
        "d",
        "ata: это",
        " ответ [1]",
        {
            "choices": [],
            "usage": {
                "prompt_tokens": 3,
                "completion_tokens": 2,
                "total_tokens": 5,
                "askwiki": {"request": "r", "refused": "", "seconds": {"search": 0.012}},
            },
        },
    ]


def test_no_line_of_progress_is_ever_open() -> None:
    """A stopped chat hears nothing more of us: what is open then would shimmer for ever."""
    events: list[Event] = [Status("Ищу…", "search"), Status("Пишу…", "answer"), SOURCE, Token("а"), Token("б")]
    shown = [
        item if isinstance(item, str) else (item["event"]["type"], item["event"]["data"].get("done"))
        for item in items(events, stream=True, request_id="r")
    ]
    assert shown == [("status", True), ("status", True), ("source", None), "а", "б"]


def test_without_streaming_what_should_be_known_stands_below_the_text_once() -> None:
    note = Status("Видно не всё.", "notes", warning=True)
    events: list[Event] = [note, Status("Ищу…", "search"), Token("Ответ."), note, Answer("Ответ.")]
    assert "".join(map(str, items(events, stream=False, request_id="r"))) == "Ответ.\n\n*Видно не всё.*"


def test_without_streaming_there_is_only_text() -> None:
    assert "".join(str(item) for item in items(EVENTS, stream=False, request_id="r")) == "data: это ответ [1]"


def test_a_text_that_was_not_streamed_is_shown_at_the_end() -> None:
    assert list(items([Answer("Не нашёл.")], stream=False, request_id="r")) == ["Не нашёл."]


@pytest.mark.parametrize("text", ["data:", "data: x", "data", "", "x data:"])
def test_no_piece_of_text_is_taken_for_a_raw_event(text: str) -> None:
    parts = list(pieces(text))
    assert "".join(parts) == text
    assert not any(part.startswith("data:") or not part for part in parts)


def test_events_are_taken_one_by_one() -> None:
    """The first status leaves before the search has run."""

    def working() -> Iterator[Event]:
        yield Status("Ищу…")
        raise RuntimeError("the search ran")

    assert next(iter(items(working(), stream=True, request_id="r"))) == {
        "event": {"type": "status", "data": {"description": "Ищу…", "done": True}}
    }


# --- service requests -------------------------------------------------------------------------------

TITLE_PROMPT = """### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Output:
JSON format: { "title": "your concise title here" }
### Chat History:
<chat_history>
USER: Как **отменить** перевод через [портал](https://wiki.example.com/x), если он в статусе "Создан" уже два дня?
ASSISTANT: Нажмите «Отменить».
USER: А возврат?
</chat_history>"""


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (TITLE_PROMPT, "title_generation"),
        ('### Task:\nGenerate 1-3 broad tags … { "tags": ["tag1"] }', "tags_generation"),
        ('### Task:\nSuggest 3-5 follow-up questions … { "follow_ups": [] }', "follow_up_generation"),
        ('### Task:\nAnalyze the chat history … { "queries": [] }', "query_generation"),
        ("### Task:\nsomething new", "unknown"),
        ("Что такое ### Task:?", ""),
        ("", ""),
    ],
)
def test_an_unmarked_service_request_is_known_by_its_first_words(text: str, task: str) -> None:
    assert task_by_text(text) == task


def test_a_title_without_a_model_is_the_first_question_in_plain_words() -> None:
    reply = service_reply("title_generation", TITLE_PROMPT, kit=None, cancel=threading.Event())
    assert json.loads(reply) == {"title": "Как отменить перевод через портал, если он в статусе…"}


@pytest.mark.parametrize(
    ("task", "reply"),
    [
        ("tags_generation", '{"tags": []}'),
        ("follow_up_generation", '{"follow_ups": []}'),
        ("query_generation", '{"queries": []}'),
        ("autocomplete_generation", '{"text": ""}'),
        ("emoji_generation", "📖"),
        ("moa_response_generation", ""),
        ("unknown", ""),
    ],
)
def test_other_service_requests_have_fixed_answers(task: str, reply: str) -> None:
    assert service_reply(task, "### Task: …", kit=None, cancel=threading.Event()) == reply


def test_the_first_question_is_found_without_the_marks_of_a_history_too() -> None:
    assert first_question("USER: Первый\nвопрос\nASSISTANT: Ответ") == "Первый\nвопрос"
    assert first_question("no dialogue") == ""


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Что такое ТК?", "Что такое ТК"),
        ("![x](https://evil.example/?q=1) Тест <b>b</b> https://evil.example", "x Тест b"),
        ("слово " * 30, "слово слово слово слово слово слово слово слово слово…"),
    ],
)
def test_a_title_is_one_plain_line(text: str, title: str) -> None:
    assert plain_title(text) == title


# --- the button "Merge responses" -------------------------------------------------------------------------

ONE = "Лимит 100 рублей [1].\n\n**Источники**\n\n1. [Лимиты](https://wiki.example.com/limits) · обновлено сегодня"
TWO = "В день не больше двух переводов [1].\n\n**Источники**\n\n1. [Переводы](https://wiki.example.com/transfers)"
MERGE_PROMPT = (
    "You have been provided with a set of responses from various models to the latest user query: "
    '"Какой «лимит» "на день"?"\n\nYour task is to synthesize these responses into a single, high-quality response.\n\n'
    f'Responses from models: """{ONE}"""\n\n"""{TWO}"""'
)


def test_answers_are_merged_by_the_model_and_keep_their_pages() -> None:
    said = "Лимит 100 рублей [1], и не больше двух переводов. ![](https://evil.example/x.png)"
    llm = ScriptedLlm().enqueue("answer", said)
    assert task_by_text(MERGE_PROMPT) == "moa_response_generation"
    reply = service_reply("moa_response_generation", MERGE_PROMPT, kit=kit_of([], llm=llm), cancel=threading.Event())
    assert reply.startswith("Лимит 100 рублей, и не больше двух переводов.") and "evil" not in reply
    assert reply.endswith(
        "**Источники**\n\n1. [Лимиты](https://wiki.example.com/limits) · обновлено сегодня\n"
        "2. [Переводы](https://wiki.example.com/transfers)"
    )
    asked = llm.history[0].text
    assert 'Какой «лимит» "на день"?' in asked and "Лимит 100 рублей." in asked and "wiki.example.com" not in asked


@pytest.mark.parametrize("llm", [None, ScriptedLlm().enqueue("answer", ModelError("down"))])
def test_without_a_model_the_fullest_answer_stands_for_all(llm: ScriptedLlm | None) -> None:
    reply = service_reply("moa_response_generation", MERGE_PROMPT, kit=kit_of([], llm=llm), cancel=threading.Event())
    assert reply == ONE
