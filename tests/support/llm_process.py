"""A scripted OpenAI-compatible server in a process of its own, as slow as a real one and with counters.

The latency of a call is log-normal: what a small model on one card takes for a verdict. The k-th call
after a reset always gets the k-th draw, so two clients that make the same calls wait equally long.

    with running_llm() as llm:
        LlmSettings(url=llm.url, model="scripted")
        llm.reset(median=0.2, sigma=0.5)
        llm.counters()["active"]
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import requests

from tests.support.running import ROOT, environment

ANSWER = "Перевод ждёт получателя в статусе READY, потом деньги возвращают отправителю [1]. "
SENTENCES = 7  # of an answer: about 70 pieces
CONDENSED = {"question": "Что будет с переводом, если получатель не пришёл?", "need": "search", "intent": "unclear"}
SIZE = 384  # numbers in a vector of ``/v1/embeddings``
YES_EVERY = 3  # the first of so many fragments answers the question


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds. ``median`` and ``sigma`` of the time before a reply, ``pause`` between pieces of a stream."""

    median: float = 0.0
    sigma: float = 0.0
    pause: float = 0.0
    seed: int = 0
    keep: int = 0  # bodies of so many calls after the reset are kept, for a client that repeats them


@dataclass(frozen=True, slots=True)
class RunningLlm:
    url: str

    def reset(self, **pace: float) -> None:
        """Counters to zero, draws from the first one on."""
        requests.post(f"{self.url}/reset", json=asdict(Pace(**pace)), timeout=30).raise_for_status()  # type: ignore[arg-type]

    def counters(self) -> dict[str, int]:
        """active, most (at once), started, finished, gone (left by the client before the end)."""
        counted: dict[str, int] = requests.get(f"{self.url}/counters", timeout=30).json()
        return counted

    def bodies(self) -> list[dict[str, Any]]:
        kept: list[dict[str, Any]] = requests.get(f"{self.url}/bodies", timeout=30).json()
        return kept


@contextlib.contextmanager
def running_llm() -> Iterator[RunningLlm]:
    command = [sys.executable, "-m", "tests.support.llm_process"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield RunningLlm(process.stdout.readline().strip())
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


# --- in the process -------------------------------------------------------------------------------


class Script:
    """What all connections share: the pace, the draws, the counters."""

    def __init__(self) -> None:
        self.reset(Pace())

    def reset(self, pace: Pace) -> None:
        self.pace, self.draws = pace, random.Random(pace.seed)
        self.counters = dict.fromkeys(("active", "most", "started", "finished", "gone"), 0)
        self.bodies: list[dict[str, Any]] = []

    def seconds(self) -> float:
        """Of the next call; a factor beside the median, so that a sigma of 0 is the median itself."""
        return self.pace.median * self.draws.lognormvariate(0.0, self.pace.sigma)


class Connection(asyncio.Protocol):
    """One client: requests one after another on a connection that stays open."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._received = bytearray()
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, rest = bytes(self._received).partition(b"\r\n\r\n")
        if not found:
            return
        lines = head.decode("latin-1").lower().split("\r\n")
        length = next((int(line.split(":")[1]) for line in lines if line.startswith("content-length:")), 0)
        if len(rest) >= length:
            self._received.clear()
            path = head.split(b" ", 2)[1].decode()
            self._task = asyncio.get_running_loop().create_task(self._answer(path, rest[:length]))

    def connection_lost(self, _: Exception | None) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _answer(self, path: str, content: bytes) -> None:
        script = self._script
        if path.endswith("/reset"):
            script.reset(Pace(**json.loads(content)))
            self._whole({})
        elif path.endswith("/counters"):
            self._whole(script.counters)
        elif path.endswith("/bodies"):
            self._whole(script.bodies)
        elif path.endswith("/embeddings"):
            self._whole({"data": [_embedded(number, text) for number, text in enumerate(json.loads(content)["input"])]})
        elif path.endswith("/identity"):
            self._whole({"detail": "a plain embeddings server"}, "404 Not Found")
        elif path.endswith("/models"):
            self._whole({"object": "list", "data": [{"id": "scripted", "object": "model"}]})
        else:
            await self._counted(json.loads(content))

    async def _counted(self, body: dict[str, Any]) -> None:
        script, counters = self._script, self._script.counters
        counters["started"] += 1
        counters["active"] += 1
        counters["most"] = max(counters["most"], counters["active"])
        if len(script.bodies) < script.pace.keep:
            script.bodies.append(body)
        try:
            await asyncio.sleep(script.seconds())
            await (self._stream() if body.get("stream") else self._complete(body, counters["started"]))
            counters["finished"] += 1
        except asyncio.CancelledError:
            counters["gone"] += 1
        finally:
            counters["active"] -= 1

    async def _complete(self, body: dict[str, Any], number: int) -> None:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": _reply(body, number)},
            "finish_reason": "stop",
        }
        usage = {"prompt_tokens": 700, "completion_tokens": 3, "total_tokens": 703}
        head = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted"}
        self._whole({**head, "choices": [choice], "usage": usage})

    def _whole(self, content: Any, status: str = "200 OK") -> None:
        data = json.dumps(content).encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        self._transport.write(head.encode() + data)

    async def _stream(self) -> None:
        self._transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for event in EVENTS:
            self._transport.write(b"%x\r\n%s\r\n" % (len(event), event))
            await asyncio.sleep(self._script.pace.pause)
        self._transport.write(b"0\r\n\r\n")


def _reply(body: dict[str, Any], number: int) -> str:
    if body.get("response_format"):
        return json.dumps({**CONDENSED, "terms": [], "title": "Переводы"}, ensure_ascii=False)
    fragments = body["messages"][-1]["content"].count("<<end ")
    return "".join("1" if (number + place) % YES_EVERY == 0 else "0" for place in range(max(1, fragments)))


def _embedded(number: int, text: str) -> dict[str, Any]:
    """Some direction, the same for the same text: an encoder that costs next to nothing."""
    return {"index": number, "embedding": VECTORS[zlib.crc32(text.encode()) % len(VECTORS)]}


def _events() -> Iterator[bytes]:
    head = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    for word in (ANSWER * SENTENCES).split():
        choice = {"index": 0, "delta": {"content": f"{word} "}, "finish_reason": None}
        yield json.dumps({**head, "choices": [choice]}).encode()
    yield json.dumps({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}).encode()
    usage = {"prompt_tokens": 3000, "completion_tokens": 70, "total_tokens": 3070}
    yield json.dumps({**head, "choices": [], "usage": usage}).encode()
    yield b"[DONE]"


DRAWS = random.Random(0)
VECTORS = [[round(DRAWS.gauss(0, 1), 4) for _ in range(SIZE)] for _ in range(64)]
EVENTS = [b"data: %s\n\n" % event for event in _events()]


async def main() -> None:
    script = Script()
    server = await asyncio.get_running_loop().create_server(lambda: Connection(script), "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
