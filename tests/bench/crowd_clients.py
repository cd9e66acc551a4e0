"""The clients of the crowd, each in a process of its own: chats as Open WebUI has them, and bare calls.

python -m tests.bench.crowd_clients chats|bare    reads its arguments as JSON, prints what was seen as JSON
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aiohttp
import openai

from tests.bench.filled import questions
from tests.bench.replay import replay
from tests.support.running import PERSON, ROOT, environment, kind_of

FOLLOWS_EVERY = 4  # one chat of so many asks a second question: its filter calls the model


def start(role: str, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.bench.crowd_clients", role]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=pipe, stdout=pipe, text=True)
    assert process.stdin is not None
    process.stdin.write(json.dumps(options))
    process.stdin.close()
    process.stdin = None
    return process


def seen(process: subprocess.Popen[str]) -> Any:
    """What the client printed once it has ended."""
    text, _ = process.communicate(timeout=600)
    assert process.returncode == 0, f"a client ended with {process.returncode}"
    return json.loads(text)


# --- chats ----------------------------------------------------------------------------------------


def chats(
    url: str, key: str, count: int, within: float = 0.0, leave: int = 0, leave_after: float = 0.0
) -> list[dict[str, Any]]:
    """``count`` chats that come ``within`` so many seconds; the first ``leave`` press Stop ``leave_after`` seconds."""
    return asyncio.run(_chats(url, key, count, within, leave, leave_after))


async def _chats(url: str, key: str, count: int, within: float, leave: int, leave_after: float) -> list[dict[str, Any]]:
    connector = aiohttp.TCPConnector(limit=0)
    headers = {"Authorization": f"Bearer {key}"}
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(url, connector=connector, headers=headers, timeout=timeout) as session:
        started = time.monotonic()
        waits = [within * number / count for number in range(count)]
        tasks = [asyncio.create_task(_chat(session, number, started, wait)) for number, wait in enumerate(waits)]
        if leave:
            await asyncio.sleep(leave_after)
            for task in tasks[:leave]:
                task.cancel()
        return await asyncio.gather(*tasks)


async def _chat(session: aiohttp.ClientSession, number: int, started: float, wait: float) -> dict[str, Any]:
    """Seconds since the start of all: when it came, of the filter's answer, of first status and text, of the end."""
    told: dict[str, Any] = {"number": number, "text": "", "came": wait}

    def now() -> float:
        return round(time.monotonic() - started, 3)

    try:
        await asyncio.sleep(wait)
        body = {"stream": True, "model": "wiki_answer", "messages": _dialogue(number)}
        inlet = {"user": PERSON, "body": body}
        async with session.post("/wiki_condense/filter/inlet", json=inlet) as answer:
            answer.raise_for_status()
            body = await answer.json()
        told["inlet"] = now()
        async with session.post("/chat/completions", json={**body, "user": PERSON}) as answer:
            answer.raise_for_status()
            async for line in answer.content:
                if line.startswith(b"data: {"):
                    _note(told, json.loads(line[6:]), now)
    except aiohttp.ClientError as error:
        told["error"] = repr(error)
    except asyncio.CancelledError:
        told["stopped"] = True
    told["end"] = now()
    return told


def _dialogue(number: int) -> list[dict[str, str]]:
    asked = questions()
    turns = [{"role": "user", "content": asked[number % len(asked)]}]
    if number % FOLLOWS_EVERY == 0:
        turns.append({"role": "assistant", "content": "Да, такое бывает."})
        turns.append({"role": "user", "content": "А что будет, если он не пришёл за ними?"})
    return turns


def _note(told: dict[str, Any], item: dict[str, Any], now: Callable[[], float]) -> None:
    kind = kind_of(item)
    told.setdefault(f"first_{kind}", now())
    if kind == "text":
        told["text"] += item["choices"][0]["delta"]["content"]
    elif kind == "usage":
        told["seconds"] = item["usage"]["askwiki"]["seconds"]


# --- the bare client ------------------------------------------------------------------------------


def bare(url: str, count: int, within: float, parallel: int, bodies: list[dict[str, Any]]) -> dict[str, Any]:
    """The same calls by the openai library in threads: condense, relevance all at once, the answer streamed.

    ``bodies``: all that ``count`` chats of ours asked; as many verdicts a chat are asked here.
    """
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    condense = next(body for body in bodies if "response_format" in body)
    answer = next(body for body in bodies if body.get("stream"))
    relevance = [body for body in bodies if "response_format" not in body and not body.get("stream")]
    relevance = relevance[: max(1, round(len(relevance) / count))]
    pool = ThreadPoolExecutor(parallel)

    def call(body: dict[str, Any]) -> None:
        for _ in replay(client, body):
            pass

    def chat(number: int) -> None:
        time.sleep(within * number / count)
        if number % FOLLOWS_EVERY == 0:
            pool.submit(call, condense).result()
        for judging in [pool.submit(call, body) for body in relevance]:
            judging.result()
        pool.submit(call, answer).result()
        took[number] = time.monotonic() - started - within * number / count

    took = [0.0] * count
    threads = [threading.Thread(target=chat, args=(number,)) for number in range(count)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"seconds": time.monotonic() - started, "took": took}


if __name__ == "__main__":
    print(json.dumps({"chats": chats, "bare": bare}[sys.argv[1]](**json.load(sys.stdin))))
