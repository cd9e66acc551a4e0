"""The calls of one question for verdicts: begun together, collected as they come, given up when the time is over."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Hashable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field

from askwiki.data import Candidate, Verdict
from askwiki.errors import AskWikiError, Cancelled, ContextOverflow, ModelRefuses
from askwiki.llm.port import Llm
from askwiki.settings import RelevanceSettings

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.25  # between two looks at the clock and at the person who may have gone
STATUS_SECONDS = 1.0  # between two lines of progress: the chat keeps every line
Group = tuple[Candidate, ...]
Verdicts = tuple[Verdict, ...]


@dataclass(slots=True)
class Untold:
    """Why candidates stayed without a verdict, and how many."""

    late: int = 0  # the time was up
    unread: int = 0  # a reply came and was no verdict
    failed: int = 0  # the call failed
    refused: bool = False  # every call fails for now: key, quota or model


@dataclass(slots=True)
class _Call:
    """One call for a group; ``started`` is set by the thread that makes it."""

    group: Group
    future: Future[Verdicts] | None = None
    started: float | None = None


@dataclass(slots=True)
class Judging:
    """Asks for groups of candidates and keeps what was said of each; what was not read of a group is asked alone."""

    llm: Llm
    ask: Callable[[Group], Verdicts]
    settings: RelevanceSettings
    owner: Hashable
    cancel: threading.Event | None
    untold: Untold
    verdicts: dict[str, Verdict] = field(default_factory=dict)  # chunk id -> verdict
    asked: int = 0
    _calls: list[_Call] = field(default_factory=list)
    _begun: float = field(default_factory=time.monotonic)
    _shown: float = field(default_factory=time.monotonic)
    _told: tuple[int, int] = (0, 0)  # done, of how many: said again only when it has changed

    def run(self, candidates: Sequence[Candidate]) -> Generator[tuple[int, int], None, None]:
        """Judge these; yields (how many are done, of how many) now and then."""
        size = max(1, self.settings.group)
        self.asked += len(candidates)
        self._calls = []
        for place in range(0, len(candidates), size):
            self._begin(tuple(candidates[place : place + size]))
        try:
            yield from self._watch()
        finally:
            for call in self._calls:
                if call.future is not None:
                    call.future.cancel()

    @property
    def over(self) -> bool:
        """Whether there is no more time, or no use in asking."""
        return self._left() <= 0 or self.untold.refused

    def _left(self) -> float:
        return self._begun + self.settings.total_timeout - time.monotonic()

    def _begin(self, group: Group) -> _Call:
        call = _Call(group)

        def work() -> Verdicts:
            call.started = time.monotonic()
            return self.ask(group)

        call.future = self.llm.submit(self.owner, work)
        self._calls.append(call)
        return call

    def _watch(self) -> Generator[tuple[int, int], None, None]:
        """A call over its own limit is not waited for any more."""
        waiting = {call.future: call for call in self._calls if call.future is not None}
        while waiting:
            if self.cancel is not None and self.cancel.is_set():
                raise Cancelled("The chat was stopped.")
            left = self._left()
            done, _ = wait(waiting, timeout=min(LOOK_SECONDS, max(left, 0.0)), return_when=FIRST_COMPLETED)
            again = [call for future in done for call in self._heard(waiting.pop(future))]
            waiting |= {call.future: call for call in again if call.future is not None}
            late = [(future, call) for future, call in waiting.items() if left <= 0 or self._over(call)]
            for future, call in late:
                waiting.pop(future)
                self._leave(call.group)
                self.untold.late += len(call.group)
            now = (len(self.verdicts), self.asked)
            if waiting and now != self._told and time.monotonic() - self._shown >= STATUS_SECONDS:
                self._shown, self._told = time.monotonic(), now
                yield now

    def _over(self, call: _Call) -> bool:
        return call.started is not None and time.monotonic() - call.started > self.settings.call_timeout

    def _heard(self, call: _Call) -> list[_Call]:
        """Keep what the call said; the calls that ask again for what it did not say."""
        assert call.future is not None
        try:
            said = call.future.result()
        except Cancelled:
            self._leave(call.group)
            return []
        except ContextOverflow as error:
            middle = len(call.group) // 2
            if not middle:
                return self._fail(call, error)
            return [self._begin(half) for half in (call.group[:middle], call.group[middle:])]
        except AskWikiError as error:
            return self._fail(call, error)
        pairs = list(zip(call.group, said, strict=True))
        self.verdicts |= {each.chunk.id: verdict for each, verdict in pairs if verdict != "unanswered"}
        unread = tuple(each for each, verdict in pairs if verdict == "unanswered")
        if len(call.group) > 1:
            return [self._begin((each,)) for each in unread]
        self.untold.unread += len(unread)
        self._leave(unread)
        return []

    def _fail(self, call: _Call, error: AskWikiError) -> list[_Call]:
        logger.warning("relevance: no verdict: %s", error)
        self.untold.refused = self.untold.refused or isinstance(error, ModelRefuses)
        self.untold.failed += len(call.group)
        self._leave(call.group)
        return []

    def _leave(self, group: Group) -> None:
        self.verdicts |= dict.fromkeys((each.chunk.id for each in group), "unanswered")
