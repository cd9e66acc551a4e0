"""How a question of the file is put to the flow, and with which settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from askwiki import flow
from askwiki.data import Identity
from askwiki.errors import StoreError
from askwiki.evaluate.observe import searched
from askwiki.evaluate.outcome import Outcome
from askwiki.evaluate.questions import GoldQuestion
from askwiki.kit import Kit
from askwiki.settings import Settings

Ask = Callable[[GoldQuestion, Outcome], Outcome]

# What decides about answers at question time; secrets are in none of these sections.
SECTIONS = ("condense", "search", "rerank", "relevance", "passages", "answer", "sources")


def settings_in_force(kit: Kit, settings: Settings) -> dict[str, Any]:
    """The index's fingerprint and the settings of the question's way, as the report states them."""
    fingerprint = kit.reader.fingerprint()
    if not fingerprint:
        raise StoreError("The index is empty: run `python -m indexer sync --source KIND:PATH` first.")
    models = {role: getattr(settings.llm, role).model for role in ("condense", "relevance", "answer", "judge")}
    chosen = {section: asdict(getattr(settings, section)) for section in SECTIONS}
    llm = {"model": settings.llm.model, **models} if kit.llm else None
    return {**fingerprint, "language": settings.language, "llm": llm, **chosen}


def searcher(kit: Kit, identity: Identity, settings: Settings) -> Ask:
    """Condensing and search only: no answer is written."""

    def ask(question: GoldQuestion, outcome: Outcome) -> Outcome:
        started = time.perf_counter()
        trace = flow.retrieve(question.turns, identity, kit=kit, settings=settings)
        total = time.perf_counter() - started
        return replace(
            outcome,
            asked=trace.question.text,
            stages=searched(trace, question.gold),
            seconds=_seconds(trace.timings, total),
        )

    return ask


def _seconds(timings: Mapping[str, float], total: float) -> dict[str, float]:
    return {**timings, "total": total}
