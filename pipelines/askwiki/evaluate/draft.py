"""Questions proposed by the LLM from pages, for a person to correct: a draft is never a question set.

Each drafted line has ``"draft": true``; ``load_questions`` refuses it, so it is not counted before
somebody has read it and taken the mark out.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from typing import Any

from askwiki.data import Page
from askwiki.errors import ModelError
from askwiki.evaluate.matching import normalise
from askwiki.kit import Kit
from askwiki.llm.port import Llm, Message
from askwiki.stages.fence import Fence

log = logging.getLogger(__name__)

LONGEST_PAGE = 24_000  # characters; what is beyond gives no questions
SHORTEST_PAGE = 100  # characters; less holds nothing worth asking
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("kind", "question", "answer", "snippet")},
                "required": ["kind", "question", "answer", "snippet"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["questions"],
    "additionalProperties": False,
}


def draft(pages: Iterable[Page], *, kit: Kit, llm: Llm, per_page: int) -> Iterator[dict[str, Any]]:
    """Lines of a question file; what quotes no text of its page is dropped, for it cannot be checked."""
    for page in pages:
        text = page.markdown[:LONGEST_PAGE]
        if len(text) < SHORTEST_PAGE:
            continue
        try:
            proposed = _propose(page, text, kit, llm, per_page)
        except ModelError as error:
            log.warning("no questions from page %s: %s", page.id, error)
            continue
        kept = [each for each in proposed if (quote := normalise(each["snippet"])) and quote in normalise(text)]
        if len(kept) < len(proposed):
            log.warning("page %s: %d drafts quoted what the page does not say", page.id, len(proposed) - len(kept))
        for number, each in enumerate(kept[:per_page], start=1):
            yield _line(page, number, each)


def to_text(lines: Iterable[dict[str, Any]]) -> Iterator[str]:
    return (json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _propose(page: Page, text: str, kit: Kit, llm: Llm, per_page: int) -> list[dict[str, str]]:
    fence = Fence()
    system, user = kit.prompts.get("draft", kit.settings.language).render(
        count=str(per_page),
        path=" / ".join((*page.path, page.title)),
        page=fence.around(text, "page"),
        mark=fence.mark,
        glossary=kit.glossary.lines(text) or "—",
    )
    reply = llm.decide("answer", [Message("system", system), Message("user", user)], SCHEMA)
    questions: list[dict[str, str]] = reply["questions"]
    return questions


def _line(page: Page, number: int, proposed: dict[str, str]) -> dict[str, Any]:
    return {
        "id": f"draft-{page.id}-{number}",
        "draft": True,
        "kind": proposed["kind"].strip() or "fact",
        "question": proposed["question"].strip(),
        "answer": proposed["answer"].strip(),
        "answerable": True,
        "gold": [{"page": page.id, "heading": "", "snippet": proposed["snippet"].strip()}],
    }
