"""The forms of Open WebUI: its messages in, its events and texts out. Knows nothing of search or models.

Shapes as observed with Open WebUI 0.12: a status is appended and shimmers until it is ``done``; sources need
string ids that are no URLs and come before the text; a piece of text that begins with ``data:`` would
be taken for a raw event; without streaming everything that is yielded is glued into the text.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from askwiki.data import Answer, Event, Source, Status, Token, Turn

Item = str | dict[str, Any]

RAW_EVENT = "data:"
TASK_MARK = "### Task:"
TASK_HEADER = "x-task"
ROLES = {"user", "assistant", "system"}
_ATTACHED, _ATTACHED_END = "<attached_files>", "</attached_files>"
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def text_of(content: object) -> str:
    """The words of a message: a text, or the text parts of a list with pictures and attachments."""
    if isinstance(content, str):
        text = content
    elif isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        typed = [(part, _without_attachments(part)) for part in parts if isinstance(part, str)]
        text = "\n".join(rest for part, rest in typed if rest.strip() or not part.strip())
    else:
        text = ""
    return _SURROGATES.sub("�", _without_attachments(text)).strip()


def _without_attachments(text: str) -> str:
    """Without what the chat puts into a message of its own accord, and the blanks before it."""
    kept, place = "", 0
    while (start := text.find(_ATTACHED, place)) >= 0 and (end := text.find(_ATTACHED_END, start)) >= 0:
        kept += text[place:start].rstrip()
        place = end + len(_ATTACHED_END)
    return kept + text[place:]


def turns_of(messages: object) -> tuple[Turn, ...]:
    """The dialogue as the chat sends it."""
    turns = []
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict) and message.get("role") in ROLES:
            turns.append(Turn(message["role"], text_of(message.get("content"))))
    return tuple(turns)


def holds_files(messages: object) -> bool:
    """Whether the person attached a file or a picture to the last message, in any of the forms of the chat."""
    users = (
        [each for each in messages if isinstance(each, dict) and each.get("role") == "user"]
        if isinstance(messages, list)
        else []
    )
    content = users[-1].get("content") if users else None
    if isinstance(content, str):
        return _without_attachments(content) != content
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return any(part.get("type") != "text" or _ATTACHED in str(part.get("text")) for part in parts)


def last_words(turns: Sequence[Turn]) -> str:
    """What the person said last."""
    return next((turn.content for turn in reversed(turns) if turn.role == "user"), "")


def status(text: str) -> dict[str, Any]:
    return {"event": {"type": "status", "data": {"description": text, "done": True}}}


def source(item: Source) -> dict[str, Any]:
    """One numbered source; its share of relevance is shown only when it is one (0 to 1)."""
    name = item.title or item.id
    metadata = {"source": item.id, "name": name, "updated": item.updated}
    data: dict[str, Any] = {
        "source": {"id": item.id, "name": name, "url": item.url},
        "document": [item.text or name],
        "metadata": [metadata],
    }
    return {"event": {"type": "source", "data": data}}


def failure(sentence: str) -> dict[str, Any]:
    """A red box in the chat, kept with the message."""
    return {"error": {"message": sentence}}


def usage(answer: Answer, request_id: str) -> dict[str, Any]:
    """What the chat keeps beside the answer: ratings exports carry it, so the log's id goes here."""
    prompt, completion = answer.tokens.get("prompt", 0), answer.tokens.get("completion", 0)
    ours: dict[str, Any] = {
        "request": request_id,
        "refused": answer.refused,
        "seconds": {stage: round(seconds, 3) for stage, seconds in answer.timings.items()},
    }
    if answer.settings:
        ours["settings"] = answer.settings
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return {"choices": [], "usage": {**counts, "askwiki": ours}}


def pieces(text: str) -> Iterator[str]:
    """The text as items that the Pipelines server takes for text."""
    if text.startswith(RAW_EVENT):
        yield text[0]
        text = text[1:]
    if text:
        yield text


def whole_answer(text: str, model: str, request_id: str, *, stream: bool) -> tuple[bytes, str]:
    """A complete answer of the model, in OpenAI's form, for a chat that is not let in: body and content type."""
    kind = "chat.completion.chunk" if stream else "chat.completion"
    head = {"id": request_id, "object": kind, "created": int(time.time()), "model": model}
    if not stream:
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return json.dumps({**head, "choices": [choice]}).encode(), "application/json"
    piece = {**head, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    end = {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    lines = map(json.dumps, (piece, end))
    return "".join(f"data: {line}\n\n" for line in (*lines, "[DONE]")).encode(), "text/event-stream"


def items(events: Iterable[Event], *, stream: bool, request_id: str) -> Iterator[Item]:
    """What the chat shows of a question: progress, sources, text."""
    return _streamed(events, request_id) if stream else _whole(events)


def _streamed(events: Iterable[Event], request_id: str) -> Iterator[Item]:
    """Every line of progress is sent as done: a chat that is stopped gets nothing more from us, and a line left open
    would shimmer for ever, after a reload too. That work goes on shows by the next line and the button that stops it.
    """
    written = False
    for event in events:
        if isinstance(event, Token):
            written = written or bool(event.text)
            yield from pieces(event.text)
        elif isinstance(event, Status):
            yield status(event.text)
        elif isinstance(event, Source):
            yield source(event)
        elif isinstance(event, Answer):
            if not written:
                yield from pieces(event.text)
            yield usage(event, request_id)


def _whole(events: Iterable[Event]) -> Iterator[Item]:
    """Only text; what the person should know (rights, a part that is down) stands below it, once."""
    notes, text = [], ""
    for event in events:
        if isinstance(event, Token):
            text += event.text
            yield from pieces(event.text)
        elif isinstance(event, Status) and event.warning and event.text not in notes:
            notes.append(event.text)
        elif isinstance(event, Answer):
            if not text:
                text = event.text
                yield from pieces(text)
            yield from (f"\n\n*{note}*" for note in notes if note not in text)
