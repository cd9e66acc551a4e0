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


def context_of(entry: Mapping[str, Any]) -> int:
    """Of an entry in the list of models; 0 = it does not say."""
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
    wanted = model or next((str(entry["id"]) for entry in entries), "")
    return next((context_of(entry) for entry in entries if entry["id"] == wanted), 0)
