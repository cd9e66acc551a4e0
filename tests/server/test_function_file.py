"""The function file, run as Open WebUI runs it, against the running server: the chat's own items come through."""

from __future__ import annotations

import dataclasses
from typing import Any

import anyio

from askwiki.openwebui.function_file import Pipe
from tests.support.edge_wiki import PERSON
from tests.support.running import Running, chat

QUESTION = "Какой разовый лимит перевода?"


def through_the_function(served: Running, body: dict[str, Any], task: str | None = None, key: str = "") -> list[Any]:
    """What the function file yields for a chat, run as Open WebUI runs it."""

    async def work() -> list[Any]:
        pipe = Pipe()
        pipe.valves = Pipe.Valves(url=f"{served.url}/", key=key or served.key)
        return [item async for item in pipe.pipe(body, dict(PERSON), {"task": task}, task)]

    return anyio.run(work)


def asked(question: str, **more: Any) -> dict[str, Any]:
    return {"model": "wiki_function", "messages": [{"role": "user", "content": question}], "stream": True, **more}


def test_the_function_hands_on_what_the_pipe_sends(served: Running) -> None:
    shown = chat(served, [{"role": "user", "content": QUESTION}])
    items = through_the_function(served, asked(QUESTION))
    assert "".join(item for item in items if isinstance(item, str)) == shown.text
    events = [item["event"] for item in items if isinstance(item, dict) and "event" in item]
    assert [event["data"] for event in events if event["type"] == "source"] == shown.sources
    statuses = [event["data"] for event in events if event["type"] == "status"]
    assert ([status["description"] for status in statuses], statuses[-1]["done"]) == (
        [status["description"] for status in shown.statuses],
        True,
    )
    assert [item for item in items if isinstance(item, dict) and "event" not in item][-1]["usage"]


def test_the_function_answers_whole_where_the_chat_does_not_stream(served: Running) -> None:
    (answer,) = through_the_function(served, asked(QUESTION, stream=False))
    assert "150 000 рублей" in answer


def test_the_function_tells_a_service_request_from_a_question(served: Running) -> None:
    title = through_the_function(served, asked(QUESTION, stream=False), task="title_generation")
    assert "150 000" not in "".join(title)


def test_the_function_says_that_the_server_refuses_or_is_away(served: Running) -> None:
    assert "needs its key" in "".join(through_the_function(served, asked("лимит"), key="wrong"))
    away = dataclasses.replace(served, url="http://127.0.0.1:9")
    assert "Ассистент не отвечает" in "".join(through_the_function(away, asked("лимит")))
