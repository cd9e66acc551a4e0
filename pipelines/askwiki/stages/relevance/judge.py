"""The LLM says 1 or 0 for each candidate, in parallel and within a time limit."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

from askwiki.data import Candidate, Question, Status
from askwiki.language.wording import asks_for_all
from askwiki.llm.port import Llm, Message
from askwiki.settings import RelevanceSettings
from askwiki.stages.fence import Fence
from askwiki.stages.passages.reading import as_read, place_of
from askwiki.stages.relevance.calls import Group, Judging, Untold, Verdicts
from askwiki.stages.relevance.verdicts import read_verdicts
from askwiki.stages.tools import StageTools

logger = logging.getLogger(__name__)


# Waves, chosen by measurement (docs/measurements.md): a third of the tokens, nothing lost of 145 questions.
NEXT = 8  # candidates of the second wave; each further one has twice as many, for each costs a turn
TAIL = 8  # last ones of what was asked, which tell whether the next wave may hold more:
DENSE = 3  # so many of them relevant; fewer are as often a judge's error
ENOUGH = 2  # relevant ones without a dense tail …
FAR = 10  # … or one with nothing among so many: it stands well above the rest


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

    Asked in waves, the best ``settings.first`` first; those that no wave reached are not among the result. Yields
    progress; ``untold`` learns why some have no verdict. Ends when all have answered or the time is up; what has not
    started by then is dropped.
    """
    llm = kit.llm
    if llm is None or not candidates:
        return list(candidates)
    ask = _asker(question, llm, kit, settings, cancel)
    judging = Judging(llm, ask, settings, cancel or object(), cancel, untold or Untold())
    asked: list[Candidate] = []
    size, following = settings.first or len(candidates), NEXT
    while len(asked) < len(candidates) and _more_needed(asked, judging, question):
        wave = candidates[len(asked) : len(asked) + size]
        for done, total in judging.run(wave):
            yield Status(kit.texts.say("checking", question.language, done=done, total=total), "relevance")
        asked += wave
        size, following = following, 2 * following
    judged = [replace(each, verdict=judging.verdicts[each.chunk.id]) for each in asked]
    counts = {name: sum(candidate.verdict == name for candidate in judged) for name in ("yes", "no", "unanswered")}
    logger.info("relevance: %s of %d", counts, len(candidates))
    return sorted(judged, key=lambda candidate: ("yes", "unanswered", "no").index(candidate.verdict or "no"))


def _more_needed(asked: Sequence[Candidate], judging: Judging, question: Question) -> bool:
    if not asked:
        return True
    if judging.over:
        return False
    relevant = [judging.verdicts[each.chunk.id] == "yes" for each in asked]
    if sum(relevant) >= ENOUGH:
        return sum(relevant[-TAIL:]) >= (1 if asks_for_all(question.text) else DENSE)
    return not any(relevant) or any(relevant[-FAR:])


def _asker(
    question: Question, llm: Llm, kit: StageTools, settings: RelevanceSettings, cancel: threading.Event | None
) -> Callable[[Group], Verdicts]:
    """The call for one group. Instruction and question come first, so the server's prefix cache has them."""
    fence = Fence()
    prompt = kit.prompts.get("relevance", question.language)
    known = kit.glossary.found(question.text)
    glossary = "\n".join(term.line() for term in known) or "—"

    def ask(group: Group) -> Verdicts:
        fragments = "\n\n".join(fragment_of(number, each, fence, settings) for number, each in enumerate(group, 1))
        more = [term.line() for term in kit.glossary.found(fragments) if term not in known]
        system, user = prompt.render(
            mark=fence.mark,
            question=question.text,
            glossary=glossary,
            fragments=fragments,
            fragment_glossary="\n".join(more) or "—",
            count=str(len(group)),
        )
        asked = Message("user", user, pattern=f"[01]{{{len(group)}}}")
        reply = llm.complete("relevance", [Message("system", system), asked], cancel=cancel)
        return read_verdicts(reply.text, len(group))

    return ask


def fragment_of(number: int, candidate: Candidate, fence: Fence, settings: RelevanceSettings) -> str:
    chunk = candidate.chunk
    lines = [place_of(chunk)]
    if chunk.updated:
        lines.append(chunk.updated[:10])
    if chunk.context and not chunk.context.startswith(" / ".join((*chunk.path, chunk.title))):
        lines.append(f"{chunk.context}\n")  # one that was made by template says but the place
    text = as_read(chunk.text, chunk.url)[: settings.characters]
    return fence.around("\n".join((*lines, text)), str(number))
