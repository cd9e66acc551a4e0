"""The text of a message in whatever form a server writes it, thinking told apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_TEXT_FIELDS = ("text", "content", "value", "output_text", "refusal")
_THINKING_FIELDS = ("reasoning_content", "reasoning", "thinking")
_DEEPEST = 4  # parts inside parts; more is no answer


class Said(NamedTuple):
    text: str
    thinking: bool = False


def said_in(choice: object) -> Iterator[Said]:
    """What one choice of an answer, or of a chunk of it, says: its ``delta``, ``message`` or own ``text``.

    Unknown forms say nothing: who reads asks in the end whether anything was said.
    """
    if not isinstance(choice, dict):
        return
    for name in ("delta", "message", "text"):
        if choice.get(name):
            yield from _message(choice[name])
            return


def _message(message: object) -> Iterator[Said]:
    if not isinstance(message, dict):
        yield from _parts(message, thinking=False, depth=0)
        return
    for name in _THINKING_FIELDS:
        yield from _parts(message.get(name), thinking=True, depth=0)
    spoken = message.get("content") or message.get("refusal")
    yield from _parts(spoken, thinking=False, depth=0)


def _parts(value: object, *, thinking: bool, depth: int) -> Iterator[Said]:
    """A string, a list of parts, or a part: ``{"type": "thinking", "thinking": [{"type": "text", "text": …}]}``."""
    if isinstance(value, str):
        if value:
            yield Said(value, thinking)
    elif depth < _DEEPEST and isinstance(value, list):
        for part in value:
            yield from _parts(part, thinking=thinking, depth=depth + 1)
    elif depth < _DEEPEST and isinstance(value, dict):
        kind = str(value.get("type", ""))
        thinks = thinking or "think" in kind or "reason" in kind
        names = (*_THINKING_FIELDS, "summary", *_TEXT_FIELDS) if thinks else _TEXT_FIELDS
        for name in names:
            if value.get(name):
                yield from _parts(value[name], thinking=thinks, depth=depth + 1)
                return
