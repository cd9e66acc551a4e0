"""Every valve acts: the same question asked before and after it is turned differs in what the valve is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from askwiki.data import Answer, Identity, Question, Trace, Turn
from askwiki.flow.ask import ask
from askwiki.llm.factory import make_llm
from askwiki.openwebui.process import kit_for
from askwiki.openwebui.valves import AnswerValves, CondenseValves
from askwiki.settings import AnswerSettings, LlmSettings, RoleSettings, Settings
from askwiki.stages.condense import condense
from tests.support.scripted import Asking, ScriptedServer
from tests.support.small_wiki import chunk, kit_of

WIKI = [
    *(
        chunk(
            f"long#{number}",
            f"Часть {number} регламента: лимит перевода номер {number}.",
            part=number + 1,
            parts=3,
            headings=("Регламент",),
        )
        for number in range(3)
    ),
    chunk("limit", "Разовый лимит перевода 100 000 рублей.", context="О деньгах"),
    chunk("screen", "Кнопка «Лимит» показывает остаток.", screen=True),
    *(
        chunk(f"other{number}", f"Лимит перевода партнёра {number}.", context="лимит перевода разовый")
        for number in range(8)
    ),
]
WRITTEN = "Лимит указан на странице."
ASKED = "Какой разовый лимит перевода?"
LOOSE = Settings(
    answer=AnswerSettings(refusal_threshold=0.0, low_confidence=0.0),
    llm=LlmSettings(
        answer=RoleSettings(model="writer", temperature=0.1, max_tokens=500),
        relevance=RoleSettings(model="judge", max_tokens=50),
        condense=RoleSettings(model="condenser", max_tokens=400),
        context_tokens=32_000,
    ),
)


class ByLength:
    """A ``Reranker``: the shorter a text, the higher its score."""

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        return [10.0 / len(text) for text in texts]


@dataclass(frozen=True, slots=True)
class Went:
    """How a question went: its answer, its trace, what the language model's server was asked."""

    answer: Answer
    trace: Trace
    asked: Sequence[Asking]

    def of(self, model: str) -> list[Asking]:
        return [each for each in self.asked if each.body["model"] == model]


def _says(asking: Asking) -> str:
    """The judge finds every fragment relevant; who writes says a sentence."""
    judged = asking.body["model"] in ("judge", "other") and not asking.stream
    return "\n".join("1" * len(re.findall(r"^<<\d+ ", asking.text, re.MULTILINE))) if judged else WRITTEN


def go(asked: str = ASKED, kind: Any = None, **values: Any) -> Went:
    with ScriptedServer(_says, models=["writer", "judge", "other"]) as server:
        settings = AnswerValves(**values).apply(LOOSE)
        object.__setattr__(settings.llm, "url", server.url)
        before = replace(settings, wiki=LOOSE.wiki)
        kit = kit_for(kit_of(WIKI, llm=make_llm(settings.llm), settings=before, reranker=ByLength()), settings)
        question = Question(asked, original=asked, intent=kind) if kind else None
        events = list(ask([Turn("user", asked)], Identity(), kit=kit, settings=settings, question=question))
        (answer,) = [event for event in events if isinstance(event, Answer)]
        assert answer.trace is not None
        return Went(answer, answer.trace, tuple(server.requests))


def order(went: Went) -> list[str]:
    return [candidate.chunk.id for candidate in went.trace.found]


ACTS: dict[str, tuple[Any, Callable[[Went], Any], Any]] = {
    # valve: (its value, what to look at, what is seen then)
    "relevance_filter": (False, lambda went: len(went.of("judge")), 0),
    "list_all_sources": (False, lambda went: len(went.answer.sources), 0),
    "candidates": (2, lambda went: len(went.trace.found), 2),
    "minimum_similarity": (1.0, lambda went: len(went.trace.gated) < len(went.trace.found), True),
    "minimum_rerank": (20.0, lambda went: len(went.trace.gated), 0),
    "after_gates": (3, lambda went: len(went.trace.gated), 3),
    "relevance_group": (1, lambda went: len(went.of("judge")) > 2, True),
    "domain": ("Мы строим мосты.", lambda went: "Мы строим мосты." in went.of("writer")[0].text, True),
    "relevance_model": ("other", lambda went: (len(went.of("judge")), len(went.of("other")) > 0), (0, True)),
    "passages": (1, lambda went: len(went.trace.passages), 1),
    "answer_model": ("other", lambda went: len(went.of("writer")), 0),
    "answer_temperature": (1.5, lambda went: went.of("writer")[0].body["temperature"], 1.5),
}


@pytest.mark.parametrize("name", sorted(ACTS))
def test_a_valve_acts(name: str) -> None:
    value, look, seen = ACTS[name]
    assert look(go()) != seen
    assert look(go(**{name: value})) == seen


def test_the_kind_of_question_lifts_screens_as_far_as_the_valve_says() -> None:
    before, after = (order(go(kind="screen", intent=share)).index("screen") for share in (0.0, 1.0))
    assert after < before


def test_the_language_is_the_valves_where_the_question_has_none() -> None:
    assert "**Источники" in go("100 000?").answer.text
    assert "**Sources" in go("100 000?", language="en").answer.text


def test_the_search_in_contexts_counts_as_the_valve_says() -> None:
    without, with_it = (order(go(context_leg=weight)) for weight in (0.0, 2.0))
    assert (without[0], with_it[0][:5]) == ("limit", "other")


def test_siblings_come_and_go_with_their_valve() -> None:
    def parts(went: Went) -> int:
        return max(len(passage.chunk_ids) for passage in went.trace.passages)

    asked = "Часть 1 регламента"
    assert [parts(go(asked, candidates=1, siblings=each)) for each in (True, False)] == [3, 1]


def test_every_valve_of_the_pipe_is_shown_to_act() -> None:
    beside = {
        "language",
        "intent",
        "context_leg",
        "siblings",
        "relevance_seconds",
    }  # the tests above; the clock: test_relevance.py
    assert set(AnswerValves.SETTINGS) == set(ACTS) | beside


def test_the_valves_of_the_filter_act() -> None:
    before = [Turn("user", "Что такое касса?"), Turn("assistant", "Место."), Turn("user", "Кто руководит отделом?")]
    turns = [*before, Turn("assistant", "Титова."), Turn("user", "А её заместитель?")]
    said = '{"question": "Кто заместитель Титовой?", "need": "search", "intent": "unclear", "terms": []}'
    with ScriptedServer(lambda asking: said, models=["condenser", "other"]) as server:

        def asked(**values: Any) -> list[Asking]:
            settings = CondenseValves(**values).apply(LOOSE)
            object.__setattr__(settings.llm, "url", server.url)
            known = len(server.requests)
            condense(turns, kit=kit_of(WIKI, llm=make_llm(settings.llm), settings=settings), settings=settings)
            return server.requests[known:]

        assert [each.body["model"] for each in asked()] == ["condenser"]
        assert [each.body["model"] for each in asked(condense_model="other")] == ["other"]
        assert asked(condense=False) == []
        assert ["Что такое касса" in asked(turns=count)[0].text for count in (2, 5)] == [False, True]
