"""The language model that the settings name."""

from __future__ import annotations

from askwiki.llm.port import Llm
from askwiki.settings import LlmSettings


def make_llm(settings: LlmSettings) -> Llm | None:
    """The LLM that the settings name, None when they name none. Nothing is called yet."""
    if not settings.url.strip():
        return None
    from askwiki.llm.adapter import OpenAiLlm  # pulls in the HTTP client: a second that `--help` need not wait

    return OpenAiLlm(settings)
