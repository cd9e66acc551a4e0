"""The LLM says 1 or 0 for each candidate, in parallel and within a time limit."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace

from askwiki.data import Candidate, Question, Status, Verdict
from askwiki.errors import AskWikiError, Cancelled
from askwiki.language import en, ru
from askwiki.llm.port import Llm, Message
from askwiki.settings import RelevanceSettings
from askwiki.stages.fence import Fence, one_line
from askwiki.stages.tools import StageTools

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.25  # between two looks at the clock and at the person who may have gone
STATUS_SECONDS = 1.0  # between two lines of progress: the chat keeps every line
_DIGIT = re.compile(r"(?<!\d)[01](?!\d)")
_WORDS: dict[str, Verdict] = {
    **dict.fromkeys((*ru.YES, *en.YES), "yes"),
    **dict.fromkeys((*ru.NO, *en.NO), "no"),
}
_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)


@dataclass(slots=True)
class _Call:
    """One call for a group of candidates; ``started`` is set by the thread that makes it."""

    group: tuple[Candidate, ...]
    verdicts: tuple[Verdict, ...] | None = None
    future: Future[tuple[Verdict, ...]] | None = None
    started: float | None = None
    error: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)


def judge(
    candidates: Sequence[Candidate],
    question: Question,
    *,
    kit: StageTools,
    settings: RelevanceSettings,
    cancel: threading.Event | None = None,
) -> Generator[Status, None, list[Candidate]]:
    """Candidates with their verdicts: "yes" first, then "unanswered", then "no", each in their old order.

    Yields progress. Ends when all have answered or the time is up; what has not started by then is dropped.
    """
    llm = kit.llm
    if llm is None or not candidates:
        return list(candidates)
    ask = _asker(question, llm, kit, settings, cancel)
    size = max(1, settings.group)
    calls = [_Call(tuple(candidates[place : place + size])) for place in range(0, len(candidates), size)]
    owner = cancel or object()
    for call in calls:
        call.future = llm.submit(owner, _timed(call, ask))
    try:
        yield from _watch(calls, len(candidates), question, kit, settings, cancel)
    finally:
        for call in calls:
            if call.future is not None:
                call.future.cancel()
    judged = [
        replace(candidate, verdict=verdict)
        for call in calls
        for candidate, verdict in zip(call.group, call.verdicts or _unanswered(call), strict=True)
    ]
    counts = {name: sum(candidate.verdict == name for candidate in judged) for name in ("yes", "no", "unanswered")}
    logger.info("relevance: %s", counts)
    return sorted(judged, key=lambda candidate: ("yes", "unanswered", "no").index(candidate.verdict or "no"))


def _unanswered(call: _Call) -> tuple[Verdict, ...]:
    nothing: Verdict = "unanswered"
    return (nothing,) * len(call.group)


def _timed(
    call: _Call, ask: Callable[[tuple[Candidate, ...]], tuple[Verdict, ...]]
) -> Callable[[], tuple[Verdict, ...]]:
    def run() -> tuple[Verdict, ...]:
        call.started = time.monotonic()
        return ask(call.group)

    return run


def _watch(
    calls: Sequence[_Call],
    total: int,
    question: Question,
    kit: StageTools,
    settings: RelevanceSettings,
    cancel: threading.Event | None,
) -> Generator[Status, None, None]:
    """Collect the answers as they come; a call over its own limit is not waited for any more."""
    end = time.monotonic() + settings.total_timeout
    shown = time.monotonic()
    open_calls = {call.future: call for call in calls if call.future is not None}
    checked = 0
    while open_calls:
        if cancel is not None and cancel.is_set():
            raise Cancelled("The chat was stopped.")
        left = end - time.monotonic()
        done, _ = wait(open_calls, timeout=min(LOOK_SECONDS, max(left, 0.0)), return_when=FIRST_COMPLETED)
        for future in done:
            call = open_calls.pop(future)
            call.verdicts = _result(future)
            checked += len(call.group)
        if left <= 0:  # what came before that counts, however late it is looked at
            return
        late = [future for future, call in open_calls.items() if _over(call, settings.call_timeout)]
        for future in late:
            checked += len(open_calls.pop(future).group)
        if open_calls and time.monotonic() - shown >= STATUS_SECONDS:
            shown = time.monotonic()
            text = kit.texts.say("checking", question.language, done=checked, total=total)
            yield Status(text, "relevance")


def _over(call: _Call, limit: float) -> bool:
    return call.started is not None and time.monotonic() - call.started > limit


def _result(future: Future[tuple[Verdict, ...]]) -> tuple[Verdict, ...] | None:
    try:
        return future.result()
    except Cancelled:
        return None
    except AskWikiError as error:
        logger.warning("relevance: no verdict: %s", error)
        return None


def _asker(
    question: Question, llm: Llm, kit: StageTools, settings: RelevanceSettings, cancel: threading.Event | None
) -> Callable[[tuple[Candidate, ...]], tuple[Verdict, ...]]:
    """The call for one group. Instruction and question come first, so the server's prefix cache has them."""
    fence = Fence()
    prompt = kit.prompts.get("relevance", question.language)
    glossary = kit.glossary.lines(question.text) or "—"

    def ask(group: tuple[Candidate, ...]) -> tuple[Verdict, ...]:
        system, user = prompt.render(
            mark=fence.mark,
            question=question.text,
            glossary=glossary,
            fragments="\n\n".join(_fragment(number, each, fence, settings) for number, each in enumerate(group, 1)),
            count=str(len(group)),
        )
        reply = llm.complete("relevance", [Message("system", system), Message("user", user)], cancel=cancel)
        return read_verdicts(reply.text, len(group))

    return ask


def read_verdicts(text: str, count: int) -> tuple[Verdict, ...]:
    """One verdict for each of ``count`` fragments out of "1", "0110", "1: 1\\n2: 0", "да"; else "unanswered"."""
    bare = re.sub(r"\s", "", text.strip().strip("`\"'.[]"))
    if re.fullmatch(rf"(?:[01][,;]?){{{count}}}", bare):
        return tuple("yes" if digit == "1" else "no" for digit in bare if digit in "01")
    if count == 1:
        digits, words = _DIGIT.findall(text), _WORD.findall(text)
        if len(set(digits)) == 1:
            return ("yes",) if digits[0] == "1" else ("no",)
        if len({word.lower() for word in words}) == 1 and not digits:
            return (_WORDS[words[0].lower()],)
        return ("unanswered",)
    said = dict(re.findall(r"(?m)^\D{0,3}(\d{1,3})\s*[:.)=—-]+\s*([01])\b", text))
    return tuple(
        "unanswered" if (digit := said.get(str(number))) is None else "yes" if digit == "1" else "no"
        for number in range(1, count + 1)
    )


def _fragment(number: int, candidate: Candidate, fence: Fence, settings: RelevanceSettings) -> str:
    chunk = candidate.chunk
    place = one_line(" / ".join((*chunk.path, chunk.title, *chunk.headings)))
    context = f"{chunk.context}\n\n" if chunk.context else ""
    return fence.around(f"{place}\n{context}{chunk.text[: settings.characters]}", str(number))
