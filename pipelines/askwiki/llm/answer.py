"""What a server answers, whole or in a stream, as a ``Reply``: thinking left out, an answer that broke off told."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from askwiki.errors import Cancelled, ModelError
from askwiki.llm.port import Reply
from askwiki.llm.reading import ThinkingFilter, without_thinking

STREAM_CHARACTERS = 400_000  # of one streamed answer; a model that repeats itself is stopped here


def whole_reply(answer: Mapping[str, Any]) -> Reply:
    """Raises ModelError when it is not in the OpenAI form."""
    try:
        choice = answer["choices"][0]
        text = without_thinking(choice["message"]["content"] or "")
    except (KeyError, IndexError, TypeError):
        raise ModelError("The language model's answer is not in the OpenAI form; check llm.url.") from None
    asked, said = _tokens(answer)
    return Reply(text, asked, said, cut=choice.get("finish_reason") == "length")


def _tokens(answer: Mapping[str, Any]) -> tuple[int, int]:
    usage = answer.get("usage") or {}
    return usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0


def streamed_reply(
    chunks: Iterator[Mapping[str, Any]],
    give: Callable[[str], None],
    cancelled: Callable[[], bool],
    deadline: float,
) -> Reply:
    """Hand on the pieces of a stream; thinking of either kind stays here.

    ``deadline`` is on the clock of ``time.monotonic``. Raises ModelError when the stream breaks off or says
    nothing, Cancelled when ``cancelled`` says so.
    """
    thinking, tokens, reason = ThinkingFilter(), (0, 0), None
    pieces: list[str] = []
    length = 0
    for chunk in chunks:
        if cancelled():
            raise Cancelled("The chat was stopped.")
        if chunk.get("usage"):
            tokens = _tokens(chunk)
        for choice in chunk.get("choices") or ():
            reason = choice.get("finish_reason") or reason
            if piece := thinking.feed((choice.get("delta") or {}).get("content") or ""):
                pieces.append(piece)
                length += len(piece)
                give(piece)
        if length > STREAM_CHARACTERS or time.monotonic() > deadline:
            reason = "length"
            break
    if rest := thinking.finish():
        pieces.append(rest)
        give(rest)
    text = "".join(pieces)
    if reason is None:
        raise ModelError("The language model's answer broke off.")
    if not text.strip():
        raise ModelError("The language model answered with nothing.")
    return Reply(text, tokens[0], tokens[1], cut=reason == "length")
