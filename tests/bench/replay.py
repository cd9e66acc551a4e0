"""A call that our client made, made again by the openai library alone: the yardstick's side."""

from __future__ import annotations

from typing import Any

import openai

KNOWN = ("model", "messages", "stream")


def replay(client: openai.OpenAI, body: dict[str, Any]) -> Any:
    """The library's answer (an iterator where the body asks for a stream); every other field goes as it came."""
    known = {name: body[name] for name in KNOWN if name in body}
    extra = {name: value for name, value in body.items() if name not in KNOWN}
    return client.chat.completions.create(**known, extra_body=extra)
