"""How many tokens of prompt and answer a model takes, as its server says it in the list of models."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

from askwiki.llm.failure import FOREIGN
from askwiki.llm.servers import LlmServer

logger = logging.getLogger(__name__)

UNSAID = 8192  # what a model is trusted to take whose server does not say it
# vLLM and SGLang; Groq; OpenRouter and Together; Mistral. llama.cpp has its own inside ``meta``.
FIELDS = ("max_model_len", "context_window", "context_length", "max_context_length")
ASKED_SECONDS = 3.0  # for a list that only makes room for more sources
REMEMBERED_SECONDS = 600.0  # a server may be started anew with another length


def context_in(entries: Sequence[Mapping[str, Any]], model: str) -> int:
    """Of ``model`` (empty = the first) in a server's list; 0 = it does not say.

    A server of one model serves it under any name; an adapter takes what the model takes that it is laid upon.
    """
    for _ in entries:  # as many steps as there are models: names may lead in a circle
        named = (entry for entry in entries if not model or model == entry.get("id") or model in _aliases(entry))
        entry = next(named, entries[0] if len(entries) == 1 else {})
        if (said := _said(entry)) or not isinstance(entry.get("parent"), str):
            return said
        model = entry["parent"]
    return 0


def _aliases(entry: Mapping[str, Any]) -> Sequence[Any]:
    aliases = entry.get("aliases")
    return aliases if isinstance(aliases, list) else ()


def _said(entry: Mapping[str, Any]) -> int:
    meta = entry.get("meta")
    said = [entry.get(name) for name in FIELDS] + [meta.get("n_ctx") if isinstance(meta, dict) else None]
    return next((length for length in said if isinstance(length, int) and length > 0), 0)


def least_context(servers: Sequence[LlmServer], model: str) -> int:
    """What every one of the servers takes. ``model`` empty = the first that each lists."""
    return min((_context(server, model) for server in servers), default=UNSAID)


def _context(server: LlmServer, model: str) -> int:
    served, now = server.models[model], time.monotonic()
    if not served.context or now - served.context_read > REMEMBERED_SECONDS:
        served.context, served.context_read = _listed(server, model) or UNSAID, now
    return served.context


def _listed(server: LlmServer, model: str) -> int:
    """0 where the server gives no list: some have none, and the question's own calls say what is down."""
    try:
        entries = server.client.listed(ASKED_SECONDS)
    except FOREIGN as error:
        logger.info("%s gives no list of models: %s", server.name, error)
        return 0
    return context_in(entries, model)
