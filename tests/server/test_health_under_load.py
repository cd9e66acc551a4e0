"""`/health` answers while the server reads the worst message: an orchestrator would end it otherwise."""

from __future__ import annotations

import threading
import time

import pytest
import requests

from tests.support.running import PERSON, Running, await_idle, complete, inlet

LENGTH = 240_000  # characters; what held the interpreter for 38 s
LONGEST = 5.0  # seconds of one call of /health, on a busy machine
WORST = {
    "blanks": "Как " + " " * LENGTH + "x",
    "lines": "Как\n" + "\n" * LENGTH + "x",
    "marks of a document": "### Task:" + "<user_query>" * (LENGTH // 12),
    "attachments": "<attached_files>" * (LENGTH // 16),
    "hyphens": "-Я" * (LENGTH // 2),
}


@pytest.mark.parametrize("name", WORST)
def test_health_answers_while_the_worst_message_is_read(served: Running, name: str) -> None:
    messages = [{"role": "user", "content": WORST[name]}]
    over, longest = threading.Event(), [0.0]

    def look() -> None:
        while not over.is_set():
            started = time.monotonic()
            assert requests.get(f"{served.url}/health", timeout=120).status_code == 200
            longest[0] = max(longest[0], time.monotonic() - started)
            time.sleep(0.05)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        body = inlet(served, messages)
        with complete(served, {**body, "user": PERSON, "stream": False}) as answer:
            assert answer.status_code == 200
    finally:
        over.set()
        looking.join()
    assert longest[0] < LONGEST
    await_idle(served)
