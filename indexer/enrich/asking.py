"""What the indexer asks of language models: from the cache first, in parallel, failures counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from askwiki.errors import Cancelled, ModelError
from askwiki.language.glossary import Glossary
from askwiki.llm.port import Llm, Role
from askwiki.prompts import Prompts
from indexer.enrich.cache import Cache
from indexer.enrich.counters import Counters

RUN = "indexing"  # owner of all calls in the pool: one run, however many pages it has


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
