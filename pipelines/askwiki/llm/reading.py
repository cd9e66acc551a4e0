"""What a model's raw output means: thinking taken out, JSON found in prose and held against a schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from askwiki.errors import ModelError

_OPEN = ("<think>", "<thinking>", "<reasoning>", "<|channel|>analysis<|message|>")
_CLOSE = ("</think>", "</thinking>", "</reasoning>", "<|end|>")
_MARKS = _OPEN + _CLOSE + ("<|channel|>final<|message|>", "<|start|>assistant")
_LONGEST = max(map(len, _MARKS))
_TRIES = 100  # places where an object may begin; each costs as much as what stands after it
_READ_CHARACTERS = 200_000  # of an answer that should be short JSON; more is a model gone wild


class ThinkingFilter:
    """Takes thinking blocks out of streamed text; holds back only what may be the start of a mark.

    ``unopened``: whether the chat template is known to write the opening mark, so that the text begins with thinking.
    """

    def __init__(self, *, unopened: bool | None = None) -> None:
        self._held = ""
        self._plain = unopened is False
        self._thinking = unopened is True
        self._unsure: list[str] | None = [] if unopened else None  # thinking by what others showed, until it is closed
        self._started = False
        self.opened = False  # a mark of its own opened thinking: the template opens none
        self.closed_unopened = False  # the first mark was a closing one: what stood before it was thinking

    @property
    def thought(self) -> bool:
        return self.opened or self.closed_unopened or self._unsure is not None

    def feed(self, piece: str) -> str:
        """The part of the text so far that is certainly answer and has not been given out yet."""
        self._held += piece
        shown = ""
        while True:
            place, mark = _first_mark(self._held)
            if place < 0:
                break
            if not self._thinking:
                shown += self._held[:place]
            if mark in _CLOSE and not (self.opened or self.closed_unopened):
                self.closed_unopened, self._unsure = True, None
                if not self._plain:
                    shown, self._started = "", False
            self.opened = self.opened or (mark in _OPEN and not self.closed_unopened)
            self._thinking = mark in _OPEN or (self._thinking and mark not in _CLOSE)
            self._held = self._held[place + len(mark) :]
        keep = _possible_mark(self._held)
        cut = len(self._held) - keep
        if not self._thinking:
            shown += self._held[:cut]
        elif self._unsure is not None:
            self._unsure.append(self._held[:cut])
        self._held = self._held[cut:]
        return self._trim(shown)

    def finish(self, *, ended: bool = True) -> str:
        """What was held back, when the text is over; ``ended``: by the model itself, not by a limit."""
        rest, self._held = self._held, ""
        if self._unsure is not None and ended:  # this once the template opened nothing
            rest, self._unsure = "".join((*self._unsure, rest)), None
            return self._trim(rest)
        return "" if self._thinking else self._trim(rest)

    def _trim(self, shown: str) -> str:
        """Blank lines that follow a thinking block are not the beginning of an answer."""
        if not self._started:
            shown = shown.lstrip()
            self._started = bool(shown)
        return shown


def without_thinking(text: str) -> str:
    """The whole answer without thinking; a block that only closes was opened by the template."""
    thinking = ThinkingFilter()
    return (thinking.feed(text) + thinking.finish()).strip()


def closes_unopened(text: str) -> bool:
    """Whether the first mark in ``text`` closes thinking that nothing in it opened."""
    return _first_mark(text)[1] in _CLOSE


def _first_mark(text: str) -> tuple[int, str]:
    found = [(place, mark) for mark in _MARKS if (place := text.find(mark)) >= 0]
    return min(found, key=lambda item: (item[0], -len(item[1]))) if found else (-1, "")


def _possible_mark(text: str) -> int:
    """Length of the longest end of ``text`` that a mark may begin with."""
    start = text.rfind("<", max(0, len(text) - _LONGEST))
    if start < 0:
        return 0
    tail = text[start:]
    earlier = text.rfind("<", max(0, len(text) - _LONGEST), start)
    if earlier >= 0 and any(mark.startswith(text[earlier:]) for mark in _MARKS):
        return len(text) - earlier
    return len(tail) if any(mark.startswith(tail) for mark in _MARKS) else 0


def read_json(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The first JSON object in ``text`` that satisfies ``schema``; prose and fences around it are let be."""
    text = text[:_READ_CHARACTERS]
    decoder = json.JSONDecoder(strict=False)
    place = text.find("{")
    for _ in range(_TRIES):
        if place < 0:
            break
        try:
            value, _ = decoder.raw_decode(text, place)
        except (json.JSONDecodeError, RecursionError):
            value = None
        if isinstance(value, dict) and conforms(value, schema):
            return value
        place = text.find("{", place + 1)
    raise ModelError("The language model did not answer with the JSON that was asked for.")


_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


def conforms(value: object, schema: Mapping[str, Any]) -> bool:
    """The part of JSON Schema that our own schemas use: type, enum, properties, required, items."""
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    if kinds and not any(_is_a(value, kind) for kind in kinds):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, dict):
        if any(name not in value for name in schema.get("required", ())):
            return False
        properties = schema.get("properties", {})
        return all(conforms(item, properties[name]) for name, item in value.items() if name in properties)
    if isinstance(value, list):
        return all(conforms(item, schema.get("items", {})) for item in value)
    return True


def _is_a(value: object, kind: str) -> bool:
    if isinstance(value, bool) and kind in ("number", "integer"):
        return False
    return isinstance(value, _TYPES[kind])
