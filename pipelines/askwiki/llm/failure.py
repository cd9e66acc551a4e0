"""What a failed call to an OpenAI-compatible server means: for the person, for the server, for a second try."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time

from askwiki.errors import ContextOverflow, ModelError
from askwiki.llm.client import TIMEOUT, TRANSPORT, NotJson, Refused
from askwiki.llm.request import refused_option, says_overflow
from askwiki.masking import echoed

FOREIGN = (Refused, NotJson, *TRANSPORT)
PASSING_STATUS = {408, 409, 425, 429, 500, 502, 503, 504}
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0  # seconds between tries, doubled each time
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
        if self.wait is not None:
            return self.wait
        return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (tries - 1))


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
    return Failure(sentence, status < 500 or option is not None, status in PASSING_STATUS, option, _wait(error))


def _wait(error: Refused) -> float | None:
    """Seconds of a Retry-After header, given as a number or as a date."""
    value = error.headers.get("retry-after")
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time())
        except ValueError:
            return None
