"""Service requests: titles, tags, follow-ups and the like, which Open WebUI asks of the chat's model.

They never touch the search. A title and a merged answer are written by the language model where one is set;
everything else, and both without one, is made here, in the form that Open WebUI reads.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

from askwiki.errors import ModelError
from askwiki.kit import Kit
from askwiki.language.wording import language_of
from askwiki.llm.port import Message
from askwiki.openwebui.events import TASK_MARK
from askwiki.openwebui.merging import BEGINNING, MERGE, merged

Suggest = Callable[[str], Sequence[str]]
logger = logging.getLogger(__name__)

TITLE, TAGS, FOLLOW_UPS, QUERIES = "title_generation", "tags_generation", "follow_up_generation", "query_generation"
TITLE_CHARACTERS = 60
QUESTION_CHARACTERS = 1_000  # of the question that the model names
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"title": {"type": "string"}},
    "required": ["title"],
    "additionalProperties": False,
}

# What each kind of request asks for, to recognise those that come without a mark.
KEYS = {TITLE: '"title"', TAGS: '"tags"', FOLLOW_UPS: '"follow_ups"', QUERIES: '"queries"'}
REPLIES = {
    TAGS: '{"tags": []}',
    QUERIES: '{"queries": []}',
    "autocomplete_generation": '{"text": ""}',
    "emoji_generation": "📖",
}
_FIRST_QUESTION = re.compile(r"^[^\S\n]*+USER:\s*+(.+?)(?=\n[^\S\n]*+(?:ASSISTANT|USER):|\Z)", re.DOTALL | re.MULTILINE)
_MARKS = re.compile(r"!?\[([^\[\]]*+)\]\((?:[^()]++|\([^()]*+\))*+\)|<[^<>]*+>|https?://\S+|[*_`#|<>\[\]]")


def task_by_text(text: str) -> str:
    """The kind of an unmarked service request, ``""`` when this is a person's question."""
    if text.startswith(BEGINNING):
        return MERGE
    if not text.startswith(TASK_MARK):
        return ""
    return next((task for task, key in KEYS.items() if key in text), "unknown")


def service_reply(
    task: str, prompt: str, *, kit: Kit | None, cancel: threading.Event, suggest: Suggest = lambda prompt: ()
) -> str:
    """The answer to a service request; ``prompt`` is Open WebUI's own instruction with the chat in it.

    ``suggest`` gives what to ask next in the dialogue that the instruction quotes.
    """
    if task == MERGE:
        return merged(prompt, kit=kit, cancel=cancel)
    if task == FOLLOW_UPS:
        return json.dumps({"follow_ups": list(suggest(prompt))}, ensure_ascii=False)
    if task != TITLE:
        return REPLIES.get(task, "")
    question = first_question(prompt)
    title = _title_by_model(question, kit, cancel) if kit and kit.llm and question else ""
    return json.dumps({"title": title or plain_title(question)}, ensure_ascii=False)


def first_question(prompt: str) -> str:
    """The first thing the person asked, out of the chat that the instruction quotes."""
    _, found, quoted = prompt.partition("<chat_history>")
    quoted, closed, _ = quoted.partition("</chat_history>")
    asked = _FIRST_QUESTION.search(quoted if found and closed else prompt)
    return asked[1].strip() if asked else ""


def plain_title(text: str) -> str:
    """One line without marks, links or a broken last word, at most ``TITLE_CHARACTERS`` long."""
    line = " ".join(_MARKS.sub(lambda match: match[1] or " ", text[:QUESTION_CHARACTERS]).split()).rstrip(" ?!.,;:")
    if len(line) <= TITLE_CHARACTERS:
        return line
    return line[: TITLE_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"


def _title_by_model(question: str, kit: Kit, cancel: threading.Event) -> str:
    """A title out of the model's reply; none when it fails: the chat can do with the plain one."""
    asked = question[:QUESTION_CHARACTERS]
    system, user = kit.prompts.get("title", language_of(asked)).render(question=asked)
    messages = [Message("system", system), Message("user", user)]
    try:
        reply = kit.llm.decide("condense", messages, SCHEMA, cancel=cancel) if kit.llm else {}
    except ModelError as error:
        logger.warning("the title is made of the question: %s", error)
        return ""
    return plain_title(str(reply.get("title", "")))
