"""The button "Merge responses": several answers to one question made one, by the model where there is one.

The numbers of each answer are its own, so the merged one has none; the pages that any of them names stay below it.
"""

from __future__ import annotations

import logging
import re
import threading

from askwiki.data import Turn
from askwiki.errors import ModelError
from askwiki.kit import Kit
from askwiki.language.wording import language_of
from askwiki.llm.port import Message
from askwiki.stages.citations.checked_stream import SentenceGate
from askwiki.stages.dialogue import clean, source_list
from askwiki.stages.fence import Fence

MERGE = "moa_response_generation"
BEGINNING = "You have been provided with a set of responses"  # of Open WebUI's own instruction
ANSWER_CHARACTERS = 12_000  # of one answer that the model reads
_QUOTE = '"""'  # around each answer
_ITEM = re.compile(r"\s*(?:\d{1,3}\.|-) (.+)")

logger = logging.getLogger(__name__)


def merged(prompt: str, *, kit: Kit | None, cancel: threading.Event) -> str:
    """One answer out of those that ``prompt``, Open WebUI's instruction, holds; without a model the fullest of them."""
    answers = [answer.strip() for answer in prompt.split(_QUOTE)[1::2] if answer.strip()]
    if not answers:
        return ""
    fullest = max(answers, key=lambda answer: (bool(source_list(answer)), len(answer)))
    if kit is None or kit.llm is None or len(answers) == 1:
        return fullest
    question = prompt.partition(_QUOTE)[0].partition('"')[2].rpartition('"')[0].strip()
    language = language_of(question or fullest)
    fence = Fence()
    written = "\n\n".join(fence.around(_text(answer), str(place)) for place, answer in enumerate(answers, 1))
    system, user = kit.prompts.get("merge", language).render(question=question, answers=written, mark=fence.mark)
    try:
        reply = kit.llm.complete("answer", [Message("system", system), Message("user", user)], cancel=cancel)
    except ModelError as error:
        logger.warning("the fullest answer stands for the merged one: %s", error)
        return fullest
    gate = SentenceGate(
        {}, hosts=frozenset(), least_share=0.0, broken_diagram=kit.texts.say("diagram_broken", language)
    )
    text = (gate.feed(reply.text) + gate.finish()).strip()
    return f"{text}{_pages(answers, kit, language)}" if text else fullest


def _text(answer: str) -> str:
    """Without marks, list of links and folded parts."""
    return "\n".join(turn.content for turn in clean([Turn("assistant", answer)]))[:ANSWER_CHARACTERS]


def _pages(answers: list[str], kit: Kit, language: str) -> str:
    lines = [line for answer in answers for line in source_list(answer).splitlines()]
    items = dict.fromkeys(found[1].strip() for line in lines if (found := _ITEM.match(line)))
    if not items:
        return ""
    listed = "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1))
    return f"\n\n**{kit.texts.say('sources_title', language)}**\n\n{listed}"
