"""What the indexer asks of language models: from the cache first, in parallel, failures counted."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from askwiki.errors import Cancelled, ModelError
from askwiki.language.glossary import Glossary
from askwiki.llm.port import Llm, Role
from askwiki.prompts import Prompts
from indexer.enrich.cache import Cache

CALLS = ".calls"  # the end of every name under which calls of a model are counted
RUN = "indexing"  # owner of all calls in the pool: one run, however many pages it has


class Counters:
    """Counts of a run that several threads add to.

    Names are ``task.what``: ``cut.calls``, ``cut.cached``, ``cut.repaired``, ``cut.fallback``, …
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, name: str, number: int = 1) -> None:
        with self._lock:
            self._counts[name] += number

    def counts(self) -> dict[str, int]:
        with self._lock:
            return {name: number for name, number in sorted(self._counts.items()) if number}


@dataclass(frozen=True, slots=True)
class Desk:
    """The tools of every stage that may ask a model. Without ``llm`` each stage goes by its rule."""

    llm: Llm | None
    prompts: Prompts
    glossary: Glossary
    cache: Cache
    counters: Counters


def ask_all(desk: Desk, role: Role, calls: Mapping[str, Callable[[Llm], str]]) -> dict[str, str]:
    """The answer to each call by its content key; a call that failed or said nothing has none.

    Counted as ``role.cached``, ``role.calls`` and ``role.fallback``. Only answers are kept, so a failed
    call is tried again by the next run.
    """
    known = {key: value.decode() for key, value in desk.cache.get_many(role, list(calls)).items()}
    desk.counters.add(f"{role}.cached", len(known))
    if desk.llm is None:
        return known
    llm = desk.llm
    waiting = {key: llm.submit(RUN, partial(call, llm)) for key, call in calls.items() if key not in known}
    new: dict[str, str] = {}
    for key, future in waiting.items():
        desk.counters.add(f"{role}.calls")
        try:
            answer = future.result()
        except Cancelled:
            raise
        except ModelError:
            answer = ""
        if answer:
            new[key] = answer
    desk.counters.add(f"{role}.fallback", len(waiting) - len(new))
    desk.cache.put_many(role, {key: answer.encode("utf-8", "replace") for key, answer in new.items()})
    return known | new
