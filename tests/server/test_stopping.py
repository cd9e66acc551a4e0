"""A server that is told to stop lets what it says have an end, refuses what comes after, and ends with code 0."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.support import edge_wiki
from tests.support.running import PERSON, Running, collect, complete, items, kind_of, serving
from tests.support.scripted import Asking, Saying, ScriptedServer

SENTENCE = "Разовый лимит перевода — 150 000 рублей, месячный — 600 000 рублей [1]. "
QUESTION = "Какой разовый лимит перевода?"
ENDING = "Сервер перезапускается"
STOP_SECONDS = 30.0  # on a busy machine; an idle one needs six at most


def slow(asking: Asking) -> Saying:
    if asking.stream:
        return Saying(SENTENCE * 200, pause=0.05)
    return Saying("1")


@pytest.fixture
def stopping(small_store: Path, plugin_folder: Path, tmp_path: Path) -> Iterator[Running]:
    with ScriptedServer(slow) as model:
        environ = edge_wiki.variables(small_store, PIPELINES_DIR=str(plugin_folder), ASKWIKI_LLM_URL=model.url)
        with serving(environ, tmp_path / "server.log") as running:
            yield running


def body(question: str = QUESTION, *, stream: bool = True) -> dict[str, object]:
    return {
        "stream": stream,
        "model": "wiki_answer",
        "messages": [{"role": "user", "content": question}],
        "user": PERSON,
    }


def test_an_answer_under_way_ends_with_a_sentence_its_sources_and_the_code_is_zero(stopping: Running) -> None:
    with complete(stopping, body()) as answer:
        stream, seen = items(answer), []
        while not seen or kind_of(seen[-1]) != "text":
            seen.append(next(stream))
        stopping.process.send_signal(signal.SIGTERM)
        told = time.monotonic()
        late = requests.post(
            f"{stopping.url}/chat/completions", json=body(stream=False), headers=stopping.headers, timeout=60
        )
        shown = collect(iter([*seen, *stream]))
    assert stopping.process.wait(STOP_SECONDS) == 0
    assert time.monotonic() - told < STOP_SECONDS
    assert ENDING in late.json()["choices"][0]["message"]["content"]
    assert "150 000 рублей" in shown.text
    assert shown.text.count(ENDING) == 1
    assert "**Источники**" in shown.text.partition(ENDING)[2]
    assert shown.statuses[-1]["done"]
    assert [source["source"]["name"].partition(" ")[0] for source in shown.sources] == ["Лимиты"]
    assert shown.finished


def test_an_idle_server_ends_at_once_with_code_zero(stopping: Running) -> None:
    stopping.process.send_signal(signal.SIGTERM)
    assert stopping.process.wait(STOP_SECONDS) == 0
