"""The doctor's questions to the language models: is it there, JSON by schema, thinking off, context length."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any, Literal

import requests

from askwiki.errors import AskWikiError
from askwiki.llm.context import UNSAID, context_in
from askwiki.llm.factory import make_llm
from askwiki.llm.port import Llm, Message, Role
from askwiki.llm.servers import base_urls
from askwiki.settings import LlmSettings, RoleSettings, Settings

Line = tuple[str, Literal["ok", "warning", "failure"], str, str]
CALL_SECONDS = 10.0
ANSWERING: tuple[Role, ...] = ("condense", "relevance", "answer")  # the roles a question needs
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["answer"],
    "additionalProperties": False,
}
ASKED = [Message("user", 'Is water wet? Answer with JSON: {"answer": "yes"} or {"answer": "no"}.')]
MOST_TOKENS = 200  # of a one-word answer; more means that the model thinks aloud


def probe_llm(settings: Settings) -> Iterator[Line]:
    """One line for the server, one for each model that a question needs, one for the context length."""
    llm = settings.llm
    try:
        client = make_llm(llm)
        if client is None:
            yield "llm", "warning", "No language model is set: answers are extracts.", "Set ASKWIKI_LLM_URL."
            return
        listed = [entry for url in base_urls(llm.url) for entry in _listed(url, llm)]
    except (AskWikiError, requests.RequestException) as error:
        yield (
            "llm",
            "failure",
            f"The language model at {llm.url} cannot be asked: {_short(error)}",
            "Check llm.url, llm.key and that the server runs; without it answers are extracts.",
        )
        return
    yield "llm", "ok", f"{llm.url} lists: {', '.join(str(entry.get('id', '?')) for entry in listed) or 'no model'}.", ""
    yield from _roles(client, llm)
    yield from _context(listed, llm)


def _listed(url: str, settings: LlmSettings) -> list[dict[str, Any]]:
    headers = {"Authorization": f"Bearer {settings.key}"} if settings.key else {}
    answer = requests.get(f"{url}/models", headers=headers, timeout=CALL_SECONDS)
    answer.raise_for_status()
    data = answer.json().get("data", [])
    return [entry for entry in data if isinstance(entry, dict)]


def _roles(client: Llm, settings: LlmSettings) -> Iterator[Line]:
    """Each model once, under the names of the roles it plays."""
    played: dict[str, list[Role]] = {}
    for role in ANSWERING:
        own: RoleSettings = getattr(settings, role)
        played.setdefault(own.model or settings.model or "the first model", []).append(role)
    for model, roles in played.items():
        yield _role(client, f"llm {'/'.join(roles)}", model, roles[0])


def _role(client: Llm, part: str, model: str, role: Role) -> Line:
    started = time.perf_counter()
    try:
        client.decide(role, ASKED, SCHEMA)
        reply = client.complete(role, ASKED)
    except AskWikiError as error:
        return part, "failure", f"{model}: {error}", "Choose another model for these roles, or another server."
    seconds = time.perf_counter() - started
    if reply.completion_tokens > MOST_TOKENS:
        said = f"{model} spent {reply.completion_tokens} tokens on one word: it seems to think aloud."
        return part, "warning", said, "Switch thinking off in the server, or choose a model that does not think."
    return part, "ok", f"{model}: JSON by schema, two short calls in {seconds:.1f} s.", ""


def _context(listed: list[dict[str, Any]], settings: LlmSettings) -> Iterator[Line]:
    """What the server says that the model takes, against what the settings say."""
    model, wanted = settings.answer.model or settings.model, settings.context_tokens
    length = context_in(listed, model)
    name = model or next((entry.get("id") for entry in listed), "the model")
    if not length and not wanted:
        said = f"The server does not say how many tokens {name} takes: {UNSAID} are used."
        yield "llm context", "warning", said, "Set llm.context_tokens to what the model was started with."
    elif length and length < wanted:
        said = f"{name} takes {length} tokens, llm.context_tokens says {wanted}."
        yield "llm context", "failure", said, f"Set llm.context_tokens to {length}, or start the server with more."
    elif length and length < UNSAID:
        said = f"{name} takes {length} tokens: little room is left for sources."
        yield "llm context", "warning", said, f"Start the server with {UNSAID} or more."
    elif length:
        yield "llm context", "ok", f"{name} takes {length} tokens, {wanted or length} are used.", ""


def _short(error: Exception) -> str:
    return str(error) if isinstance(error, AskWikiError) else re.sub(r"\s+", " ", type(error).__name__)
