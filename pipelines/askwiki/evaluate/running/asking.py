"""How a question of the file is put to the flow, and with which settings."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from askwiki.configuration import open_values
from askwiki.data import Answer, Identity, Token
from askwiki.errors import ModelError, StoreError
from askwiki.evaluate.outcome import Outcome
from askwiki.evaluate.questions import GoldQuestion
from askwiki.evaluate.running.observe import answered, searched
from askwiki.flow import ask as flow
from askwiki.kit import Kit
from askwiki.settings import Settings

Ask = Callable[[GoldQuestion, Outcome], Outcome]

DIGEST_LENGTH = 16  # hexadecimal digits; enough to tell one run's settings from another's

# What decides about answers at question time.
SECTIONS = ("condense", "search", "rerank", "relevance", "passages", "answer", "sources")
ANSWERING_ROLES = ("condense", "relevance", "answer")
MEASURING_PROMPTS = {"judge.md", "draft.md"}  # they decide nothing about an answer


def digest(question: GoldQuestion, settings: Mapping[str, Any]) -> str:
    """What makes two outcomes interchangeable: the question's line and all settings in force."""
    text = json.dumps([asdict(replace(question, line=0)), settings], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def settings_in_force(kit: Kit, settings: Settings) -> dict[str, Any]:
    """The index's fingerprint, what it holds, and all that decides at question time."""
    fingerprint = kit.reader.fingerprint()
    if not fingerprint:
        raise StoreError("The index is empty: run `python -m indexer sync --source KIND:PATH` first.")
    models = {role: getattr(settings.llm, role).model or settings.llm.model for role in ANSWERING_ROLES}
    return {
        **fingerprint,
        "chunks": kit.reader.count(),
        "language": settings.language,
        "llm": {"models": models, "words": _words(kit.configuration.folder)} if kit.llm else None,
        **{section: _section(section, settings) for section in SECTIONS},
    }


def _section(section: str, settings: Settings) -> dict[str, Any]:
    """One section without its secrets."""
    begin = f"{section}."
    return {name.removeprefix(begin): value for name, value in open_values(settings).items() if name.startswith(begin)}


def searcher(kit: Kit, identity: Identity, settings: Settings) -> Ask:
    """Condensing and search only: no answer is written."""

    def ask(question: GoldQuestion, outcome: Outcome) -> Outcome:
        started = time.perf_counter()
        trace = flow.retrieve(question.turns, identity, kit=kit, settings=settings)
        total = time.perf_counter() - started
        outcome = searched(outcome, trace, question.gold)
        return replace(outcome, seconds={**outcome.seconds, "total": total})

    return ask


def answerer(kit: Kit, identity: Identity, settings: Settings) -> Ask:
    """The whole flow; also measured: seconds until the first word and until the end."""

    def ask(question: GoldQuestion, outcome: Outcome) -> Outcome:
        started = time.perf_counter()
        first: dict[str, float] = {}
        answer: Answer | None = None
        for event in flow.ask(question.turns, identity, kit=kit, settings=settings):
            if isinstance(event, Token):
                first.setdefault("first_word", time.perf_counter() - started)
            elif isinstance(event, Answer):
                answer = event
        if answer is None:
            raise ModelError("The flow ended without an answer.")
        outcome = answered(outcome, answer, question, settings.sources.support)
        return replace(outcome, seconds={**outcome.seconds, **first, "total": time.perf_counter() - started})

    return ask


def _words(folder: Path) -> str:
    """Digest of the prompts and the glossary: other words, other answers."""
    prompts = (file for file in folder.glob("prompts/*/*.md") if file.name not in MEASURING_PROMPTS)
    files = sorted((*prompts, *folder.glob("glossary.yaml")))
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(folder)}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:DIGEST_LENGTH]
