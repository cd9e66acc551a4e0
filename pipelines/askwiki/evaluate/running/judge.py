"""A model grades an answer against its reference: the reason first, then 0, 1 or 2."""

from __future__ import annotations

import logging
from typing import Any

from askwiki.errors import ModelError
from askwiki.evaluate.outcome import Grade, Outcome
from askwiki.evaluate.questions import GoldQuestion
from askwiki.kit import Kit
from askwiki.llm.port import Llm, Message
from askwiki.stages.fence import Fence

log = logging.getLogger(__name__)

GRADES = (0, 1, 2)  # unacceptable, unclear, acceptable
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "grade": {"type": "integer", "enum": list(GRADES)}},
    "required": ["reason", "grade"],
    "additionalProperties": False,
}


def judge(question: GoldQuestion, outcome: Outcome, *, kit: Kit, llm: Llm, judgings: int) -> tuple[Grade, ...]:
    """``judgings`` grades of one answer; every second one reads the answer before the reference.

    A judge that changes its mind with the order of what it reads is not to be relied on: the share of
    such answers is reported. A failed judgement is kept without a grade and is never counted.
    """
    return tuple(_judge_once(question, outcome, kit, llm, answer_first=bool(turn % 2)) for turn in range(judgings))


def _judge_once(question: GoldQuestion, outcome: Outcome, kit: Kit, llm: Llm, answer_first: bool) -> Grade:
    language = kit.settings.language
    reference = question.answer if question.answerable else kit.texts.say("judge_no_reference", language)
    fence = Fence()
    blocks = [fence.around(reference, "reference"), fence.around(outcome.answer, "answer")]
    asked = _asked(question)
    system, user = kit.prompts.get("judge", language).render(
        question=asked,
        material="\n\n".join(reversed(blocks) if answer_first else blocks),
        mark=fence.mark,
        glossary=kit.glossary.lines(f"{asked}\n{reference}") or "—",
    )
    try:
        reply = llm.decide("judge", [Message("system", system), Message("user", user)], SCHEMA)
    except ModelError as error:
        log.warning("question %s was not judged: %s", question.id, error)
        return Grade(None, str(error))
    return Grade(int(reply["grade"]), str(reply["reason"]).strip())


def _asked(question: GoldQuestion) -> str:
    """The question as a reader without the dialogue understands it, else the dialogue before it."""
    if question.standalone or not question.history:
        return question.standalone or question.question
    return "\n".join(f"{turn.role}: {turn.content}" for turn in question.turns)
