"""
title: askwiki
description: The company wiki in the chat, without a connection to a Pipelines server in the admin panel.
required_open_webui_version: 0.6.0
"""

# The whole file is what ``askwiki provision --as function`` gives to Open WebUI, and runs inside of it: it imports
# nothing of askwiki. It asks our server what the connection would ask: the filter first, then the pipe, and hands on
# every item as it comes.

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import aiohttp
from pydantic import BaseModel, Field

FILTER, PIPE = "wiki_condense", "wiki_answer"
LONGEST_LINE = 4_000_000  # bytes of one event: a source carries a passage


class Pipe:
    """Open WebUI's form of a model made by code: https://docs.openwebui.com/features/plugin/functions/pipe."""

    class Valves(BaseModel):
        url: str = Field(default="http://pipelines:9099", description="Address of the askwiki server.")
        key: str = Field(default="", description="Its PIPELINES_API_KEY.", json_schema_extra={"format": "password"})

    def __init__(self) -> None:
        self.valves = self.Valves()

    async def pipe(
        self,
        body: dict[str, Any],
        __user__: dict[str, Any],
        __metadata__: dict[str, Any] | None = None,
        __task__: str | None = None,
    ) -> AsyncIterator[str | dict[str, Any]]:
        """The items of one answer: texts and events. What goes wrong is a sentence in the chat."""
        person = {name: str(__user__.get(name) or "") for name in ("id", "name", "email", "role")}
        groups = await _groups(person["id"])
        headers = {"Authorization": f"Bearer {self.valves.key}", **_headers(groups)}
        metadata = {**(__metadata__ or {})}
        ours = {**body, "model": PIPE, "metadata": {"task": __task__ or metadata.get("task")}}
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10)
        root = self.valves.url.rstrip("/")
        try:
            async with aiohttp.ClientSession(headers=headers, timeout=timeout, read_bufsize=LONGEST_LINE) as session:
                asked = {"body": ours, "user": person}
                async with session.post(f"{root}/{FILTER}/filter/inlet", json=asked) as answer:
                    if answer.status == 200:
                        ours = await answer.json()
                ours = {name: value for name, value in ours.items() if name != "metadata"} | {"user": person}
                async with session.post(f"{root}/chat/completions", json=ours) as answer:
                    if answer.status != 200:
                        yield await _refusal(answer)
                    elif ours.get("stream"):
                        async for item in _items(answer):
                            yield item
                    else:
                        whole = await answer.json()
                        yield str(whole["choices"][0]["message"]["content"])
        except (aiohttp.ClientError, TimeoutError) as error:
            yield f"Ассистент не отвечает ({type(error).__name__}). The assistant does not answer at {root}."


async def _items(answer: aiohttp.ClientResponse) -> AsyncIterator[str | dict[str, Any]]:
    """What the server streams, taken out of its lines: texts as texts, all else as it is."""
    async for raw in answer.content:
        line = raw.decode("utf-8", "replace").strip()
        if not line.startswith("data:") or line == "data: [DONE]":
            continue
        try:
            item = json.loads(line.removeprefix("data:"))
        except ValueError:
            continue
        choices = item.get("choices") or [{}]
        text = choices[0].get("delta", {}).get("content")
        if isinstance(text, str):
            if text:
                yield text
        elif "choices" not in item or item.get("usage"):
            yield item


async def _refusal(answer: aiohttp.ClientResponse) -> str:
    try:
        return str((await answer.json())["detail"])
    except (ValueError, KeyError, TypeError, aiohttp.ContentTypeError):
        return f"Ассистент отказал: {answer.status}. The assistant refused: {answer.status}."


def _headers(groups: list[Any]) -> dict[str, str]:
    """Names and ids of the groups in the form in which a connection's templates give them."""
    names, ids = (",".join(str(getattr(group, part)).strip() for group in groups) for part in ("name", "id"))
    return {"X-User-Groups": quote(names, safe=", "), "X-User-Group-Ids": ids}


async def _groups(person: str) -> list[Any]:
    """The person's groups as Open WebUI knows them; none where this release keeps them elsewhere: that only closes."""
    try:
        from open_webui.models.groups import Groups  # type: ignore[import-not-found]  # runs inside of it
    except ImportError:
        return []
    try:
        return list(await Groups.get_groups_by_member_id(person, include_inherited=True))
    except TypeError:  # older: a plain function without inherited groups
        found: Any = Groups.get_groups_by_member_id(person)
        return list(await found if hasattr(found, "__await__") else found)
