"""Many at once: chats as Open WebUI has them against the real server, a scripted model in its own process.

The encoder is a service too, in the model's process, and costs next to nothing: the embedded one would take
40 ms of both cores for a question, and that is model time. Ten candidates a call, as whoever has many
at once would set it. The yardstick, the openai library in threads, makes the same calls of the same model.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import requests

from askwiki.encoders.factory import make_embedder
from askwiki.settings import EmbeddingSettings
from tests.bench import proc
from tests.bench.crowd_clients import seen, start
from tests.bench.filled import fill
from tests.bench.row import row
from tests.demo import demo_environment
from tests.support.llm_process import RunningLlm, running_llm
from tests.support.running import Running, ask, serving

CHATS, OVER, STAYING = 200, 20, 40
COME_WITHIN = 20.0  # seconds, in the first crowd; in the second all press Enter at once
MOST_CALLS = 10  # of one chat
PARALLEL = 64  # calls that the language model takes at once
PACE = {"median": 0.2, "sigma": 0.5, "pause": 0.15}  # an answer of ten seconds
QUICK = {"median": 0.05, "sigma": 0.5, "pause": 0.02}  # for a crowd of which only the memory is looked at
CHUNKS = 2_000
LOOK_SECONDS = 0.2
WAIT_SECONDS = 60.0  # for what must come
BUSY = "слишком много вопросов"
Chats = Sequence[dict[str, Any]]


def rows() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder, running_llm() as llm:
        place = Path(folder)
        fill(place / "store", CHUNKS, make_embedder(_encoder(llm)))
        with serving(_environment(place, llm), place / "server.log") as server:
            return _measure(server, llm)


def _encoder(llm: RunningLlm) -> EmbeddingSettings:
    return EmbeddingSettings(kind="openai", url=llm.url)


def _environment(place: Path, llm: RunningLlm) -> dict[str, str]:
    return {
        **demo_environment(place),
        "ASKWIKI_LLM_URL": llm.url,
        "ASKWIKI_LLM__MODEL": "scripted",
        "ASKWIKI_LLM__PARALLEL": str(PARALLEL),
        "ASKWIKI_EMBEDDING__KIND": "openai",
        "ASKWIKI_EMBEDDING__URL": llm.url,
        "ASKWIKI_RELEVANCE__GROUP": "10",
        "ASKWIKI_SERVER__CHATS": str(CHATS),
        "ASKWIKI_LOG_LEVEL": "WARNING",
    }


def _measure(server: Running, llm: RunningLlm) -> list[dict[str, Any]]:
    _chats(server, 4)  # connections, caches
    before, spent = proc.resident(server.process.pid), proc.processor(server.process.pid)
    llm.reset(**PACE, keep=CHATS * MOST_CALLS)
    crowd = start("chats", url=server.url, key=server.key, count=CHATS, within=COME_WITHIN)
    beside = Beside(server)
    told = seen(crowd)
    beside.stop()
    spent = (proc.processor(server.process.pid) - spent) / CHATS
    most, bodies = llm.counters()["most"], [body for body in llm.bodies() if body]
    llm.reset(**PACE)
    bare = seen(start("bare", url=llm.url, count=CHATS, within=COME_WITHIN, parallel=PARALLEL, bodies=bodies))
    memory = [before, beside.resident, proc.resident(server.process.pid)]
    llm.reset(**PACE)
    stopped = _stop(server, llm)
    memory.append(proc.resident(server.process.pid))
    llm.reset(**QUICK)
    _chats(server, CHATS)
    memory.append(proc.resident(server.process.pid))
    return [
        *_crowd_rows(told, bare, spent, most),
        row("slowest list of models meanwhile", beside.slowest, "s", 5.0, "Open WebUI gives up after 10 s", LOAD),
        *_memory_rows(memory),
        *stopped,
    ]


def _chats(server: Running, count: int) -> Chats:
    told: Chats = seen(start("chats", url=server.url, key=server.key, count=count))
    return told


class Beside:
    """Somebody beside the chats: lists the models, reads the metrics and the memory while they run."""

    def __init__(self, server: Running) -> None:
        self._server = server
        self.resident = 0.0  # MB, most
        self.slowest = 0.0  # seconds, of a list of models
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def metric(self, name: str) -> float:
        page = requests.get(f"{self._server.url}/metrics", headers=self._server.headers, timeout=WAIT_SECONDS).text
        return sum(float(line.rsplit(" ", 1)[1]) for line in page.splitlines() if line.startswith(name))

    def _look(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            began = time.monotonic()
            requests.get(f"{self._server.url}/v1/models", headers=self._server.headers, timeout=WAIT_SECONDS)
            self.slowest = max(self.slowest, time.monotonic() - began)
            self.resident = max(self.resident, proc.resident(self._server.process.pid))


def _until(true: Callable[[], bool], seconds: float = WAIT_SECONDS) -> float:
    """Seconds until it is."""
    began = time.monotonic()
    while not true():
        if time.monotonic() - began > WAIT_SECONDS:
            raise RuntimeError(f"It did not come within {WAIT_SECONDS:.0f} s.")
        time.sleep(0.05)
    return time.monotonic() - began


def _turned_away(server: Running) -> list[tuple[str, float]]:
    """What chats beyond the limit are told, all at once, and after how many seconds."""

    def try_it(number: int) -> tuple[str, float]:
        began = time.monotonic()
        return ask(server, f"Что значит статус {number}?").text, time.monotonic() - began

    with ThreadPoolExecutor(OVER) as pool:
        return list(pool.map(try_it, range(OVER)))


def _stop(server: Running, llm: RunningLlm) -> list[dict[str, Any]]:
    """All chats come at once; when the model is busy with them, all but some press Stop."""
    leaving, beside = CHATS - STAYING, Beside(server)
    cancelled = beside.metric("askwiki_cancelled_total")
    wait = 14.0
    crowd = start("chats", url=server.url, key=server.key, count=CHATS, leave=leaving, leave_after=wait)
    _until(lambda: beside.metric("askwiki_chats") >= CHATS)
    over = _turned_away(server)
    _until(lambda: beside.metric("askwiki_cancelled_total") > cancelled)
    freed = _until(lambda: beside.metric("askwiki_chats") <= STAYING)
    called = llm.counters()["started"]
    told = seen(crowd)
    beside.stop()
    counted = llm.counters()
    stayed = [chat for chat in told if "stopped" not in chat]
    gone = beside.metric("askwiki_cancelled_total") - cancelled
    failed = sum(not chat["text"] or "error" in chat for chat in stayed)
    later = counted["started"] - called
    most = STAYING * 6 + STAYING // 4  # what those who stay may still ask
    first = _share([chat["first_status"] for chat in told if "first_status" in chat], 0.95)
    against = f"{CHATS} chats at once, {leaving} clients close their connection after {wait:.0f} s"
    counters = f"askwiki_cancelled_total + {gone:.0f}, the model saw {counted['gone']} streams closed by us"
    return [
        *_busy_rows(over),
        row("all press Enter at once: first status, p95", first, "s", 1.0, "the same chats, one instant", INSTANT),
        row("Stop under load: until places are free", freed, "s", 2.0, f"{against}; {counters}", LOAD),
        row("Stop under load: chats not counted as stopped", leaving - gone, "chats", 0, against, counters),
        row("Stop under load: calls begun afterwards", later, "calls", most, "those who stay need so many", counters),
        row("Stop under load: calls still open at the end", counted["active"], "calls", 0, against, counters),
        row("Stop under load: of those who stay without answer", failed, "chats", 0, against, "see the log"),
    ]


# --- rows -----------------------------------------------------------------------------------------

LOAD = "server, model and clients share two cores, here with others' work (load in `machine`); the event loop is busy"

INSTANT = (
    f"{LOAD}; {2 * CHATS} requests of 2.4 ms processor time each (two thirds of it FastAPI's and the threads') are a "
    "second of one interpreter, beside the searches of those who came first; next: several server processes"
)


def _share(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _crowd_rows(told: Chats, bare: dict[str, Any], spent: float, most: int) -> list[dict[str, Any]]:
    ours = max(chat["end"] for chat in told)
    failed = sum("error" in chat or not chat["text"] or BUSY in chat["text"] for chat in told)
    first = _share([chat["first_status"] - chat["came"] for chat in told], 0.95)
    took = [chat["end"] - chat["came"] for chat in told]
    stages = {name: _share([chat["seconds"].get(name, 0.0) for chat in told], 0.5) for name in told[0]["seconds"]}
    why = (
        f"{1000 * spent:.0f} ms processor time of the server a chat, so one interpreter takes {1 / spent:.0f} a second "
        f"and {CHATS / COME_WITHIN:.0f} come; next: encoder and store as servers of their own; "
        f"seconds by stage, p50: {stages}"
    )
    calls = "openai library in threads, first come, first served"
    who = f"{CHATS} chats that come within {COME_WITHIN:.0f} s, {PARALLEL} calls at once, log-normal 200 ms"
    return [
        row("many at once: chats that failed", failed, "chats", 0, who, "see the log"),
        row("many at once: first status, p95", first, "s", 1.0, f"{who}; filter and pipe", f"{LOAD}; {why}"),
        row("many at once: slowest chat / the slowest bare", max(took) / max(bare["took"]), "x", 1.15, calls, why),
        row("many at once: all chats / the same calls bare", ours / bare["seconds"], "x", 1.3, calls, why),
        row("many at once: calls of the model at once", most, "calls", PARALLEL, "llm.parallel", "the limit broke"),
    ]


def _busy_rows(over: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    rude = sum(BUSY not in text for text, _ in over)
    waited = _share([seconds for _, seconds in over], 0.95)
    who = f"{OVER} at once more than server.chats, filter and pipe, while {CHATS} run"
    return [
        row("beyond the limit: chats without a polite answer", rude, "chats", 0, who, str(over[0])),
        row("beyond the limit: until it is said, p95", waited, "s", 1.0, who, LOAD),
    ]


def _memory_rows(memory: Sequence[float]) -> list[dict[str, Any]]:
    before, peak, first, second, third = memory
    figures = f"MB before {before:.0f}, at most {peak:.0f}, after crowds {first:.0f}, {second:.0f}, {third:.0f}"
    return [
        row("server memory with all chats / with none", peak / before, "x", 1.5, figures, figures),
        row("server memory after a third crowd / the second", third / second, "x", 1.03, figures, figures),
    ]
