"""What a failed call to an OpenAI-compatible server means: for the person, for the server, for a second try."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from askwiki.calls.retry import Backoff, retry_after
from askwiki.errors import ContextOverflow, ModelError
from askwiki.llm.client import TIMEOUT, TRANSPORT, NotJson, Refused
from askwiki.llm.request import refused_option, says_overflow
from askwiki.masking import echoed

FOREIGN = (Refused, NotJson, *TRANSPORT)
PASSING_STATUS = {408, 409, 425, 429, 500, 502, 503, 504}
BACKOFF = Backoff(first=0.5, longest=8.0)
SHOWN_CHARACTERS = 300  # of a server's own message


@dataclass(frozen=True, slots=True)
class Failure:
    """``error`` is for the caller; ``option`` is what the server refused of the request."""

    error: ModelError
    alive: bool = True  # the server did answer
    passing: bool = False  # a second try may succeed
    option: str | None = None
    wait: float | None = None  # seconds the server asks for
    silent: bool = False  # nothing came within the time limit

    def pause(self, tries: int) -> float:
        """Seconds before the next try."""
        return BACKOFF.pause(tries, self.wait)


def read_failure(error: Exception, server: str, sent: Set[str]) -> Failure:
    """``sent`` = the options of the request that failed."""
    text = echoed(str(error), SHOWN_CHARACTERS).rstrip(".")
    if says_overflow(text):
        return Failure(ContextOverflow("The prompt is longer than the language model takes."))
    if isinstance(error, NotJson):
        return Failure(ModelError(f"The answer of {server} is not in the OpenAI form; check llm.url."))
    if isinstance(error, Refused) and error.status:
        return _of_status(error, server, text, sent)
    if isinstance(error, TIMEOUT):
        return Failure(ModelError(f"The language model at {server} did not answer in time."), False, True, silent=True)
    if isinstance(error, TRANSPORT):
        return Failure(ModelError(f"The connection to the language model at {server} failed: {text}."), False, True)
    return Failure(ModelError(f"The language model at {server} failed: {text}."), passing=True)


def _of_status(error: Refused, server: str, text: str, sent: Set[str]) -> Failure:
    status = error.status
    if status in (401, 403):
        return Failure(ModelError(f"The language model at {server} refuses the key; set ASKWIKI_LLM_KEY."))
    option = refused_option(text, sent) if status in (400, 404, 422, 500, 501) else None
    sentence = ModelError(f"The language model at {server} answered {status}: {text}")
    wait = retry_after(error.headers.get("retry-after"))
    return Failure(sentence, status < 500 or option is not None, status in PASSING_STATUS, option, wait)
