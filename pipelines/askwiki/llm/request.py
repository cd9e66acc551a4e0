"""What is sent to an OpenAI-compatible server, and what its refusals mean.

Servers differ in the options they know. A request starts with all of them; a server that refuses one
is remembered and asked without it from then on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from askwiki.llm.port import Message
from askwiki.settings import RoleSettings

# Option -> what the text of a refusal (HTTP 400, 404, 422, 500, 501) says of it. In the order of giving up.
OPTIONS = {
    "thinking": re.compile(r"chat_template_kwargs|enable_thinking", re.IGNORECASE),
    "max_tokens": re.compile(r"max_completion_tokens", re.IGNORECASE),
    "usage": re.compile(r"stream_options|include_usage", re.IGNORECASE),
    "json_schema": re.compile(r"json_?schema|response_format|grammar|guided|schema", re.IGNORECASE),
    "json_object": re.compile(r"json_?object|response_format|grammar|json", re.IGNORECASE),
    "temperature": re.compile(r"temperature", re.IGNORECASE),
    "system": re.compile(r"system (role|message)", re.IGNORECASE),
}
_UNKNOWN_FIELD = re.compile(r"extra (fields|inputs)|unknown (field|parameter|argument)|unrecognized", re.IGNORECASE)

# llama.cpp, vLLM (two generations), SGLang, TGI, OpenAI
_OVERFLOW = re.compile(
    r"exceed_context_size|exceeds? the available context"  # llama.cpp: "request exceeds the available context size"
    r"|context_length_exceeded|maximum context length"  # OpenAI: "This model's maximum context length is 8192 tokens"
    r"|longer than the maximum model length"  # vLLM: "The decoder prompt is longer than the maximum model length"
    r"|exceeds? the model'?s? maximum"  # "The input exceeds the model's maximum"
    r"|context (size|window|length)"  # "larger than the context window"
    r"|prompt is too long"  # "prompt is too long: 9000 tokens > 8192"
    r"|must be <= \d+"  # "`inputs` tokens must be <= 4096"
    r"|input is too (long|large)",  # "input is too large to process"
    re.IGNORECASE,
)


def says_overflow(text: str) -> bool:
    """Whether a refusal says that the prompt does not fit into the model's context."""
    return bool(_OVERFLOW.search(text))


def refused_option(text: str, sent: Set[str]) -> str | None:
    """The option that a refusal with this text is about, out of those that were sent."""
    for option, pattern in OPTIONS.items():
        if option in sent and pattern.search(text):
            return option
    return "thinking" if "thinking" in sent and _UNKNOWN_FIELD.search(text) else None


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
    """(body of the request, the options of ``OPTIONS`` in it)."""
    options: dict[str, dict[str, Any]] = {
        "max_tokens": {"max_tokens": role.max_tokens},
        "temperature": {"temperature": role.temperature},
        "system": {},
    }
    if not thinking:
        options["thinking"] = {"chat_template_kwargs": {"enable_thinking": False}}
    if stream:
        options["usage"] = {"stream_options": {"include_usage": True}}
    if schema is not None:
        form = next((form for form in ("json_schema", "json_object") if form not in refused), None)
        if form is not None:
            options[form] = {"response_format": _response_format(form, schema)}
        if form != "json_schema":
            messages = [*messages[:-1], _with_schema(messages[-1], schema)]
    if "system" in refused:
        messages = _without_system(messages)
    body: dict[str, Any] = {"model": model, "messages": [_as_dict(message) for message in messages]}
    if stream:
        body["stream"] = True
    sent = options.keys() - refused
    for option in sent:
        body |= options[option]
    if "max_tokens" in refused:
        body["max_completion_tokens"] = role.max_tokens
    return body, frozenset(sent)


def _response_format(form: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if form == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(schema), "strict": True}}


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
