"""A model that takes every call and never answers costs a question one of its time limits, not their sum."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from askwiki.data import Answer, Identity, Turn
from askwiki.flow.ask import ask
from askwiki.llm.factory import make_llm
from askwiki.settings import LlmSettings, RoleSettings
from tests.support.scripted import Asking, ScriptedServer
from tests.support.small_wiki import chunk, kit_of, with_settings
from tests.support.waiting import PATIENCE

WIKI = [chunk(str(number), f"Лимит перевода в страну {number} — {number} рублей.") for number in range(12)]
DIALOGUE = (Turn("user", "Какой лимит перевода?"), Turn("assistant", "В какую страну?"), Turn("user", "А во вторую?"))
SINGLE = (Turn("user", "Какой лимит перевода в страну 2?"),)
CONDENSE, RELEVANCE, ANSWER, SILENCE = 1.0, 1.5, 6.0, 4.0  # seconds
WORK = 2.0  # seconds of everything but waiting, on a busy machine


@pytest.fixture
def hanging() -> Iterator[ScriptedServer]:
    over = threading.Event()

    def rule(asking: Asking) -> str:
        over.wait(PATIENCE)
        return "1"

    with ScriptedServer(rule) as server:
        yield server
        over.set()


@pytest.mark.parametrize(("turns", "limit"), [(DIALOGUE, CONDENSE), (SINGLE, RELEVANCE)])
def test_only_the_first_step_waits_for_it(hanging: ScriptedServer, turns: tuple[Turn, ...], limit: float) -> None:
    llm = LlmSettings(
        url=hanging.url,
        model="one",
        silence=SILENCE,
        condense=RoleSettings(timeout=CONDENSE),
        relevance=RoleSettings(timeout=RELEVANCE),
        answer=RoleSettings(timeout=ANSWER),
    )
    kit = kit_of(WIKI, llm=make_llm(llm))
    kit = with_settings(kit, llm=llm, relevance=replace(kit.settings.relevance, call_timeout=5.0, total_timeout=10.0))
    started = time.monotonic()
    events = list(ask(turns, Identity(email="a@example.com"), kit=kit))
    assert time.monotonic() - started < limit + WORK
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert any("модель" in sentence for sentence in answer.degraded)


def test_without_the_steps_before_it_the_answer_waits_for_its_silence(hanging: ScriptedServer) -> None:
    llm = LlmSettings(url=hanging.url, model="one", silence=1.0, answer=RoleSettings(timeout=ANSWER))
    kit = kit_of(WIKI, llm=make_llm(llm))
    kit = with_settings(kit, llm=llm, relevance=replace(kit.settings.relevance, enabled=False))
    started = time.monotonic()
    list(ask(SINGLE, Identity(email="a@example.com"), kit=kit))
    assert time.monotonic() - started < 1.0 + WORK
