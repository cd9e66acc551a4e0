"""How long a wiki that does not answer is waited for: of one request, and of all requests of a run."""

from __future__ import annotations

from collections.abc import Callable

from askwiki.calls.retry import Backoff
from askwiki.errors import SourceError

TRIES = 6  # of one request
WARY_TRIES = 2  # of a request after one that failed for good, until one is answered again
LONGEST_WAIT = 300.0  # seconds that a Retry-After may ask for
BACKOFF = Backoff(first=1.0, longest=LONGEST_WAIT, longest_asked=LONGEST_WAIT)
LONGEST_WARY_WAIT = 5.0
PATIENCE = 600.0  # seconds of waits of one request together
LOOK = 3  # requests that failed for good in a row, after which the wiki is asked whether it is there at all
MOST_FAILED = 30  # such requests in a row, after which it is left alone although it is there


class Waits:
    """The waits between the tries of one request. ``used``: tries so far."""

    def __init__(self, *, tries: int) -> None:
        self.used = 0
        self._tries = tries
        self._waited = 0.0

    def next(self, asked: float | None) -> float | None:
        """Seconds to wait before the next try (``asked``: by the server), None when it is to be given up."""
        self.used += 1
        wait = BACKOFF.pause(self.used, asked)
        if self._tries == WARY_TRIES:
            wait = min(wait, LONGEST_WARY_WAIT)
        self._waited += wait
        return wait if self.used < self._tries and self._waited <= PATIENCE else None


class Outage:
    """Tells a wiki that is down from single things of it that are broken.

    Without it a wiki that goes down in the middle of a run would cost six tries for each of its pages.
    """

    def __init__(self) -> None:
        self._failed = 0  # requests in a row
        self._sentence = ""

    @property
    def down(self) -> bool:
        return bool(self._sentence)

    @property
    def tries(self) -> int:
        return WARY_TRIES if self._failed else TRIES

    def refuse(self) -> None:
        """SourceError when the wiki is down: it stays so for the rest of the run."""
        if self._sentence:
            raise SourceError(f"{self._sentence} It is not asked any more in this run; what is in stays in.")

    def answered(self) -> None:
        self._failed = 0

    def failed(self, sentence: str, answers: Callable[[], bool]) -> None:
        """A request failed for good. ``answers``: whether the wiki answers anything at all."""
        self._failed += 1
        if self._failed >= MOST_FAILED or (self._failed % LOOK == 0 and not answers()):
            self._sentence = sentence
