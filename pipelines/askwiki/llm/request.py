"""What is sent to an OpenAI-compatible server.

Servers differ in the options they know. A request starts with all of them; what a server refuses is remembered
(``refusals``) and left out from then on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from askwiki.llm.port import Message
from askwiki.settings import RoleSettings

_DIGITS = re.compile(r"\[01\]\{(\d+)\}")


def request(
    role: RoleSettings,
    messages: Sequence[Message],
    *,
    model: str,
    refused: Set[str],
    thinking: bool,
    schema: Mapping[str, Any] | None = None,
    stream: bool = False,
) -> tuple[dict[str, Any], frozenset[str]]:
    """(body of the request, the options of ``refusals.OPTIONS`` in it)."""
    options: dict[str, dict[str, Any]] = {
        "temperature": {"temperature": role.temperature},
        "system": {},
    }
    length = next((name for name in ("max_tokens", "max_completion_tokens") if name not in refused), None)
    if length:
        options[length] = {length: role.max_tokens}
    if not thinking:
        options["thinking"] = {"chat_template_kwargs": {"enable_thinking": False}}
    if stream:
        options["stream"] = {"stream": True}
        if "stream" not in refused:
            options["usage"] = {"stream_options": {"include_usage": True}}
    if schema is not None:
        form = next((form for form in ("json_schema", "json_object") if form not in refused), None)
        if form is not None:
            options[form] = {"response_format": _response_format(form, schema)}
        if form != "json_schema":
            messages = [*messages[:-1], _with_schema(messages[-1], schema)]
    else:
        options |= _held_to(messages[-1].pattern, refused)
    if "system" in refused:
        messages = _without_system(messages)
    body: dict[str, Any] = {"model": model, "messages": [_as_dict(message) for message in messages]}
    sent = options.keys() - refused
    for option in sent:
        body |= options[option]
    return body, frozenset(sent)


def _held_to(pattern: str, refused: Set[str]) -> dict[str, dict[str, Any]]:
    """How the families of servers are told to write nothing but ``pattern``: each lets the others' fields be.

    A server that refuses both is given a schema: that is the only form the public services know.
    """
    digits = _DIGITS.fullmatch(pattern)
    if digits is None:
        return {}
    if {"regex", "grammar"} <= refused:
        text = {"type": "string", "pattern": f"^{pattern}$"}
        schema = {"type": "object", "properties": {"verdicts": text}, "required": ["verdicts"]}
        exact = {**schema, "additionalProperties": False}
        return {"json_schema": {"response_format": _response_format("json_schema", exact)}}
    return {
        # vLLM, vLLM before 0.11, SGLang
        "regex": {"structured_outputs": {"regex": pattern}, "guided_regex": pattern, "regex": pattern},
        "grammar": {"grammar": f"root ::= {' '.join(['[01]'] * int(digits[1]))}"},  # llama.cpp
    }


def _response_format(form: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if form == "json_object":
        return {"type": "json_object"}
    strict = set(schema.get("required", ())) >= set(schema.get("properties", ()))  # as OpenAI wants it of a strict one
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(schema), "strict": strict}}


def _with_schema(message: Message, schema: Mapping[str, Any]) -> Message:
    words = f"{message.content}\n\nAnswer with one JSON object and nothing else. Its schema:\n{json.dumps(schema)}"
    return replace(message, content=words)


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """For chat templates that know no system role: its text goes before the first user message."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    first, *others = [message for message in messages if message.role != "system"]
    return [replace(first, content=f"{system}\n\n{first.content}"), *others] if system else [first, *others]


def _as_dict(message: Message) -> dict[str, Any]:
    if not message.images:
        return {"role": message.role, "content": message.content}
    pictures = [{"type": "image_url", "image_url": {"url": image}} for image in message.images]
    return {"role": message.role, "content": [{"type": "text", "text": message.content}, *pictures]}
