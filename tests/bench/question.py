"""What a question costs beside the models: processor time without the HTTP client, and the client's own."""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import openai

from askwiki.data import Answer, Identity, Status, Turn
from askwiki.flow import ask as flow
from askwiki.kit import Kit
from askwiki.llm.factory import make_llm
from askwiki.llm.port import Message
from askwiki.settings import LlmSettings, RelevanceSettings
from askwiki.store.embedded.store import embedded_reader
from tests.bench.calibration import scaled
from tests.bench.filled import fill, questions
from tests.bench.replay import replay
from tests.bench.row import row
from tests.support.fakes import HashEmbedder
from tests.support.llm_process import CONDENSED, RunningLlm, running_llm
from tests.support.scripted import ScriptedLlm
from tests.support.small_wiki import kit_of, with_settings

CHUNKS = 5_000
ASKED = 40  # questions a figure
CALLED = 10  # the same for those that make their calls over HTTP
GROUP = 10  # candidates a call, where they are grouped
GOAL_MEDIAN, GOAL_P95 = 40.0, 80.0
GOAL_CLIENT, GOAL_SHARE = 60.0, 0.7
ANSWER = "Перевод ждёт получателя, потом деньги возвращают отправителю [1]. " * 10
PERSON = Identity()


def rows() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder, running_llm() as llm:
        embedder = HashEmbedder(size=384)
        fill(Path(folder), CHUNKS, embedder)
        reader = embedded_reader(Path(folder))
        kit = kit_of([], reader=reader, embedder=embedder)
        own, stages = _alone(replace(kit, llm=_instant()))
        single, grouped, bare = _over_http(kit, llm)
        first = _first_status(kit)
        reader.close()
    median = statistics.median(own)
    profile = (
        f"wall ms by stage: {stages}; the engine's three legs alone take about 10 of the processor's, its payloads 2, "
        "five threads 1; half of the rest checks ten sentences against ten passages (5 ms to read one, spread over "
        "its words, numbers and names; less where a statement was read before); next: to read cited passages only"
    )
    against = f"embedded store of {CHUNKS} chunks, 50 candidates; no HTTP client, no encoder; scaled processor time"
    client, by_group = single - median, grouped - median
    calls = f"51 calls of one question over HTTP; the openai library's typed calls take {bare:.0f} ms"
    parts = (
        f"{calls}; a call is 0.6 ms of one thread (0.36 the bare HTTP library), a piece of the stream 0.13, the rest "
        "turns of eight threads for the interpreter; next: relevance.group, which takes a tenth"
    )
    return [
        row("processor time of a question, p50", median, "ms", GOAL_MEDIAN, against, profile),
        row("processor time of a question, p95", _p95(own), "ms", GOAL_P95, against, profile),
        row("processor time of the HTTP client, 50 + 1 calls", client, "ms", GOAL_CLIENT, calls, parts),
        row("the same / the openai library's typed calls", client / bare, "x", GOAL_SHARE, calls, parts),
        row(f"the same with {GROUP} candidates a call", by_group, "ms", GOAL_CLIENT / 4, "5 + 1 calls", parts),
        row("wall time beside models, embedded store", sum(stages.values()), "ms", 150.0, against, profile),
        row("first status before any model", first, "ms", 50.0, "of the call", "see the load in `machine`"),
    ]


def _p95(seconds: Sequence[float]) -> float:
    return sorted(seconds)[int(0.95 * len(seconds))]


def _alone(kit: Kit) -> tuple[list[float], dict[str, float]]:
    """Scaled processor ms of each question whose models answer at once; median wall ms of each stage."""
    answers: list[Answer] = []
    asking = itertools.cycle(questions())
    _ask(kit, next(asking))
    milliseconds = _milliseconds(lambda: answers.append(_ask(kit, next(asking))), ASKED)
    names = [name for name in answers[0].timings if name not in ("embed", "total")]
    walls = {name: statistics.median(answer.timings.get(name, 0.0) for answer in answers) for name in names}
    return milliseconds, {name: round(1000 * seconds, 1) for name, seconds in walls.items()}


def _over_http(kit: Kit, llm: RunningLlm) -> tuple[float, float, float]:
    """Median ms of a question over HTTP, one candidate a call and grouped; and of the openai library's bare calls."""
    settings = LlmSettings(url=llm.url, model="scripted")
    calling = with_settings(
        replace(kit, llm=make_llm(settings)), llm=settings, relevance=RelevanceSettings(first=0, group=1)
    )
    grouping = with_settings(calling, relevance=RelevanceSettings(first=0, group=GROUP))
    client = openai.OpenAI(base_url=llm.url, api_key="none", max_retries=0)
    asking = itertools.cycle(questions())
    llm.reset(keep=51)
    _ask(calling, next(asking))
    bodies = llm.bodies()
    assert len(bodies) == 51, f"{len(bodies)} calls"

    def bare() -> None:
        for body in bodies:
            _call(client, body)

    bare()
    work: list[Callable[[], object]] = [
        lambda: _ask(calling, next(asking)),
        lambda: _ask(grouping, next(asking)),
        bare,
    ]
    single, grouped, alone = (statistics.median(_milliseconds(each, CALLED)) for each in work)
    return single, grouped, alone


def _milliseconds(work: Callable[[], object], rounds: int) -> list[float]:
    return [1000 * seconds for seconds in scaled(work, rounds)]


def _call(client: openai.OpenAI, body: dict[str, Any]) -> None:
    answer = replay(client, body)
    if body.get("stream"):
        for _ in answer:
            pass


def _ask(kit: Kit, question: str) -> Answer:
    *_, answer = flow.ask([Turn("user", question)], PERSON, kit=kit)
    assert isinstance(answer, Answer) and not answer.degraded, question
    return answer


def _instant() -> ScriptedLlm:
    """A model that answers at once, a third of the candidates with "1"."""

    def verdict(messages: Sequence[Message]) -> str:
        text = messages[-1].content
        return "".join("1" if (len(text) + place) % 3 == 0 else "0" for place in range(text.count("<<end ")))

    llm = ScriptedLlm(parallel=1).always("relevance", verdict).always("answer", ANSWER)
    return llm.always("condense", {**CONDENSED, "terms": []})


def _first_status(kit: Kit) -> float:
    def once() -> float:
        started = time.perf_counter()
        assert isinstance(next(iter(flow.ask([Turn("user", questions()[0])], PERSON, kit=kit))), Status)
        return time.perf_counter() - started

    return 1000 * statistics.median(once() for _ in range(9))
