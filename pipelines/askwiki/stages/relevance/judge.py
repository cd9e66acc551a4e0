"""The LLM says 1 or 0 for each candidate, in parallel and within a time limit."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

from askwiki.data import Candidate, Question, Status
from askwiki.llm.port import Llm, Message
from askwiki.settings import RelevanceSettings
from askwiki.stages.fence import Fence, one_line
from askwiki.stages.relevance.calls import Group, Judging, Untold, Verdicts
from askwiki.stages.relevance.verdicts import read_verdicts
from askwiki.stages.tools import StageTools

logger = logging.getLogger(__name__)


def judge(
    candidates: Sequence[Candidate],
    question: Question,
    *,
    kit: StageTools,
    settings: RelevanceSettings,
    cancel: threading.Event | None = None,
    untold: Untold | None = None,
) -> Generator[Status, None, list[Candidate]]:
    """Candidates with their verdicts: "yes" first, then "unanswered", then "no", each in their old order.

    Yields progress; ``untold`` learns why some have no verdict. Ends when all have answered or the time is up; what
    has not started by then is dropped.
    """
    llm = kit.llm
    if llm is None or not candidates:
        return list(candidates)
    ask = _asker(question, llm, kit, settings, cancel)
    judging = Judging(llm, ask, settings, cancel or object(), cancel, untold or Untold())
    for done, total in judging.run(candidates):
        yield Status(kit.texts.say("checking", question.language, done=done, total=total), "relevance")
    judged = [replace(each, verdict=judging.verdicts[each.chunk.id]) for each in candidates]
    counts = {name: sum(candidate.verdict == name for candidate in judged) for name in ("yes", "no", "unanswered")}
    logger.info("relevance: %s", counts)
    return sorted(judged, key=lambda candidate: ("yes", "unanswered", "no").index(candidate.verdict or "no"))


def _asker(
    question: Question, llm: Llm, kit: StageTools, settings: RelevanceSettings, cancel: threading.Event | None
) -> Callable[[Group], Verdicts]:
    """The call for one group. Instruction and question come first, so the server's prefix cache has them."""
    fence = Fence()
    prompt = kit.prompts.get("relevance", question.language)
    glossary = kit.glossary.lines(question.text) or "—"

    def ask(group: Group) -> Verdicts:
        system, user = prompt.render(
            mark=fence.mark,
            question=question.text,
            glossary=glossary,
            fragments="\n\n".join(_fragment(number, each, fence, settings) for number, each in enumerate(group, 1)),
            count=str(len(group)),
        )
        asked = Message("user", user, pattern=f"[01]{{{len(group)}}}")
        reply = llm.complete("relevance", [Message("system", system), asked], cancel=cancel)
        return read_verdicts(reply.text, len(group))

    return ask


def _fragment(number: int, candidate: Candidate, fence: Fence, settings: RelevanceSettings) -> str:
    chunk = candidate.chunk
    place = one_line(" / ".join((*chunk.path, chunk.title, *chunk.headings)))
    context = f"{chunk.context}\n\n" if chunk.context else ""
    return fence.around(f"{place}\n{context}{chunk.text[: settings.characters]}", str(number))
