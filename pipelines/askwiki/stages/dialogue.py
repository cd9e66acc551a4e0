"""The dialogue as it was meant: the chat's own additions taken out, long ones cut by one stated rule.

The rule: the last ``condense.turns`` messages, and of those, newest first, as many whole messages as
fit into ``condense.characters``; the question itself is kept up to ``condense.question_characters``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from askwiki.data import Turn
from askwiki.language import en, ru
from askwiki.markdown.fences import code_blocks
from askwiki.settings import CondenseSettings

# Open WebUI puts an attached document before the question, as a task of its own with the document in it.
_TASK, _CONTEXT_END, _QUERY, _QUERY_END = "### Task:", "</context>", "<user_query>", "</user_query>"
_FOLDED = re.compile(r"<details\b.*?(?:</details>|\Z)|<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
# What our answers end with: a heading line and the numbered list of links (``stages.sources``).
_SOURCE_LIST = re.compile(
    rf"(?:\A|\n)[ \t\u00a0]*\*\*(?:{'|'.join((*ru.SOURCE_TITLES, *en.SOURCE_TITLES))})"  # **Источники …
    r"[^\n]*\*\*[^\S\n]*+\n"  # … (просмотрены при ответе)**
    r"(?:\s*+(?:\d++\.|-) [^\n]*+(?:\n|\Z))++\s*+\Z"  # 1. [Лимиты](https://…), - [Лимиты](https://…)
)
UNSUPPORTED = "⁽?⁾"  # behind a sentence that no passage bears out, explained at the answer's end
_EXPLAINED = re.compile(rf"\n[ \t]*+\*{re.escape(UNSUPPORTED)} [^\n]*\*[ \t]*(?=\n|\Z)")
_MARKER = re.compile(r"[ \u00a0]?(?:\[\d{1,3}(?:\s*[,;]\s*\d{1,3})*\](?!\())+")
_SPAN = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)  # of code inside a line, or from one to another


def clean(turns: Sequence[Turn], characters: int | None = None) -> tuple[Turn, ...]:
    """Messages of the person and of ours, without what the chat or we added; empty ones left out.

    Of a message of the person ``characters`` are kept (None = all): what comes after this reads it with patterns.
    """
    said = [_clean(turn, characters) for turn in turns if turn.role in ("user", "assistant")]
    return tuple(turn for turn in said if turn.content)


def is_button(text: str) -> bool:
    """Whether the message is one of the chat's buttons ("Add details"), not words of the person."""
    return text.strip().rstrip(".!").lower() in ru.BUTTONS | en.BUTTONS


def split(turns: Sequence[Turn]) -> tuple[tuple[Turn, ...], str, str]:
    """(the dialogue before the question, the question, the wish of a button or ""), of cleaned turns.

    An answer at the end is one that the chat wants continued: it belongs to what was said before.
    """
    place = _last_user(turns, len(turns))
    if place < 0:
        return tuple(turns), "", ""
    question, wish = turns[place].content, ""
    if is_button(question) and (earlier := _last_user(turns, place)) >= 0:
        wish, place, after = question, earlier, turns[earlier + 1 :]
        question = turns[place].content
    else:
        after = turns[place + 1 :]
    return (*turns[:place], *(turn for turn in after if turn.role == "assistant")), question, wish


def recent(turns: Sequence[Turn], settings: CondenseSettings) -> tuple[Turn, ...]:
    """The end of the dialogue that is read, by the rule above; one overlong message is cut, not dropped."""
    kept: list[Turn] = []
    left = settings.characters
    for turn in reversed(turns[-settings.turns :] if settings.turns else ()):
        if left <= 0:
            break
        if len(turn.content) > left:
            turn = replace(turn, content=turn.content[: max(0, left - 1)] + "…")
        kept.append(turn)
        left -= len(turn.content)
    return tuple(reversed(kept))


def source_list(answer: str) -> str:
    """The list of links that an answer of ours ends with, empty when it has none."""
    match = _SOURCE_LIST.search(answer)
    return match.group() if match else ""


def last_sources(turns: Sequence[Turn]) -> str:
    """The list of links of our last answer, as the chat has it; empty when there is none."""
    return next((source_list(turn.content) for turn in reversed(turns) if turn.role == "assistant"), "")


def without_markers(text: str) -> str:
    """An answer of ours without its ``[1]`` marks; code is left alone."""
    parts, at = [], 0
    for start, end in (*code_blocks(text), (len(text), len(text))):
        parts += [_unmarked(text[at:start]), text[start:end]]
        at = end
    return "".join(parts)


def _unmarked(text: str) -> str:
    parts = _SPAN.split(text)
    return "".join(part if number % 2 else _MARKER.sub("", part) for number, part in enumerate(parts))


def _clean(turn: Turn, characters: int | None) -> Turn:
    text = turn.content
    if turn.role == "assistant":
        text = _EXPLAINED.sub("", _SOURCE_LIST.sub("", _FOLDED.sub("", text)))
        text = without_markers(text).replace(f" {UNSUPPORTED}", "")
    else:
        text = typed(text)[:characters]
    return replace(turn, content=text.strip())


def typed(text: str) -> str:
    """What the person typed: behind the chat's task for an attached document, or between its marks."""
    before, found, rest = text.rpartition(_CONTEXT_END)
    if not found or not before.lstrip().startswith(_TASK):
        return text.strip()
    _, opened, query = text.partition(_QUERY)
    query, closed, _ = query.partition(_QUERY_END)
    return (query if opened and closed else rest).strip()


def _last_user(turns: Sequence[Turn], before: int) -> int:
    return next((place for place in range(before - 1, -1, -1) if turns[place].role == "user"), -1)
