"""The relevance filter with a real model's latency: beside a bare client with the same calls, and fair to many."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import openai

from askwiki.data import Candidate, Chunk, Identity, Question, Token, Turn
from askwiki.flow import ask as flow
from askwiki.kit import Kit
from askwiki.llm.factory import make_llm
from askwiki.settings import LlmSettings
from askwiki.stages.condense import condense
from askwiki.stages.relevance import judge
from tests.bench.replay import replay
from tests.bench.row import row
from tests.support.llm_process import RunningLlm, running_llm
from tests.support.small_wiki import chunk, kit_of, with_settings

ROUNDS = 3  # pairs of ours and bare, one after the other; the median of the ratios counts
CANDIDATES, PARALLEL, CHATS = 50, 8, 6
PACE = {"median": 0.2, "sigma": 0.5}  # seconds: a small model on one card
SENTENCE = "Перевод в статусе {} ждёт получателя {} дней, потом деньги возвращают отправителю. "
TURNS = [
    Turn("user", "Что значит READY у перевода?"),
    Turn("assistant", "Получатель может прийти за деньгами."),
    Turn("user", "А если он не пришёл за ними?"),
]
QUESTION = Question("Что будет с переводом, если получатель не пришёл за деньгами?")


def rows() -> list[dict[str, Any]]:
    with running_llm() as llm:
        settings = LlmSettings(url=llm.url, model="scripted", parallel=PARALLEL)
        waves = with_settings(replace(kit_of(_chunks()), llm=make_llm(settings)), llm=settings)
        at_once = replace(waves.settings.relevance, first=0)  # the yardstick knows no waves
        kit = with_settings(waves, relevance=at_once)
        client = openai.OpenAI(base_url=llm.url, api_key="none", max_retries=0)
        llm.reset(keep=CANDIDATES)
        _judge(kit)
        bodies = llm.bodies()
        pairs = [(_timed_ours(kit, llm, seed), _timed_bare(client, llm, bodies, seed)) for seed in range(ROUNDS)]
        llm.reset(keep=CANDIDATES + 2)
        _to_first_token(kit)
        way = llm.bodies()
        ways = []
        for seed in range(ROUNDS):
            llm.reset(**PACE, seed=seed)
            ours = _to_first_token(kit)
            llm.reset(**PACE, seed=seed)
            ways.append((ours, _bare_way(client, way)))
        waved = [_timed_ours(waves, llm, seed) / ours for seed, (ours, _) in enumerate(pairs)]
        llm.reset(**PACE)
        with ThreadPoolExecutor(CHATS) as pool:
            finished = list(pool.map(_judge, [waves] * CHATS))
        most = llm.counters()["most"]
    ratio = statistics.median(ours / bare for ours, bare in pairs)
    figures = f"seconds ours and bare: {json.dumps([[round(each, 2) for each in pair] for pair in pairs])}"
    whole = statistics.median(ours / bare for ours, bare in ways)
    seconds = f"seconds ours and bare: {json.dumps([[round(each, 2) for each in pair] for pair in ways])}"
    who = f"{CHATS} chats at once, seconds each: {[round(each, 1) for each in finished]}"
    calls = f"openai library in {PARALLEL} threads, log-normal 200 ms, the same draw for each call"
    return [
        row(f"relevance stage of {CANDIDATES} candidates / the same calls bare", ratio, "x", 1.15, calls, figures),
        row(
            "in waves, every third candidate relevant / all at once",
            statistics.median(waved),
            "x",
            4.0,
            calls,
            figures,
        ),
        row("inlet to first token of the answer / the same calls bare", whole, "x", 1.15, calls, seconds),
        row("relevance stages at once: last to finish / first", max(finished) / min(finished), "x", 1.5, who, who),
        row("calls of the model at once", most, "calls", PARALLEL, "llm.parallel", "the limit broke"),
    ]


def _chunks() -> list[Chunk]:
    text = "".join(SENTENCE.format(status, number) for number, status in enumerate(("READY", "SENT", "HOLD") * 4))
    return [chunk(f"page{number}", text, title=f"Статус {number}") for number in range(CANDIDATES)]


def _timed_ours(kit: Kit, llm: RunningLlm, seed: int) -> float:
    llm.reset(**PACE, seed=seed)
    return _judge(kit)


def _judge(kit: Kit) -> float:
    """Seconds until every candidate has its verdict."""
    candidates = [Candidate(each, 1.0) for each in _chunks()]
    started = time.perf_counter()
    judged = _returned(judge(candidates, QUESTION, kit=kit, settings=kit.settings.relevance))
    took = time.perf_counter() - started
    assert all(each.verdict in ("yes", "no") for each in judged)
    return took


def _returned(work: Any) -> Iterable[Candidate]:
    while True:
        try:
            next(work)
        except StopIteration as end:
            found: Iterable[Candidate] = end.value
            return found


def _timed_bare(client: openai.OpenAI, llm: RunningLlm, bodies: list[dict[str, Any]], seed: int) -> float:
    llm.reset(**PACE, seed=seed)
    started = time.perf_counter()
    with ThreadPoolExecutor(PARALLEL) as pool:
        list(pool.map(lambda body: replay(client, body).choices[0].message.content, bodies))
    return time.perf_counter() - started


# --- the whole way --------------------------------------------------------------------------------


def _to_first_token(kit: Kit) -> float:
    started = time.perf_counter()
    question = condense(TURNS, kit=kit, settings=kit.settings)
    for event in flow.ask(TURNS, Identity(), kit=kit, question=question):
        if isinstance(event, Token):
            break
    return time.perf_counter() - started


def _bare_way(client: openai.OpenAI, bodies: list[dict[str, Any]]) -> float:
    """Condense, the verdicts in parallel, the answer up to its first sentence: what ours shows first."""
    condensing, *judging, answering = bodies
    started = time.perf_counter()
    replay(client, condensing)
    with ThreadPoolExecutor(PARALLEL) as pool:
        list(pool.map(lambda body: replay(client, body).choices[0].message.content, judging))
    said = ""
    for part in replay(client, answering):
        said += (part.choices[0].delta.content or "") if part.choices else ""
        if "] " in said:
            break
    return time.perf_counter() - started
