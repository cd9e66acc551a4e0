"""What a failed call to an OpenAI-compatible server means: for the person, for the server, for a second try."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from askwiki.calls.retry import Backoff, retry_after
from askwiki.errors import ContextOverflow, ModelError, ModelRefuses, NoWords
from askwiki.llm.client import TIMEOUT, TRANSPORT, NotJson, Refused
from askwiki.llm.refusals import lasting, refused_option, says_overflow, says_withheld, stated_context
from askwiki.masking import echoed

FOREIGN = (Refused, NotJson, *TRANSPORT)
PASSING_STATUS = {408, 409, 425, 429, 500, 502, 503, 504}
NOT_ABOUT_OPTIONS = {401, 402, 403, 408, 409, 425, 429, 502, 503, 504}
BACKOFF = Backoff(first=0.5, longest=8.0)
SHOWN_CHARACTERS = 300  # of a server's own message


@dataclass(frozen=True, slots=True)
class Failure:
    """``error`` is for the caller; ``option`` is what the server refused of the request."""

    error: ModelError
    alive: bool = True  # the server did answer
    passing: bool = False  # a second try may succeed
    option: str | None = None
    lasting: bool = False  # the same call will be refused until a person mends it
    wait: float | None = None  # seconds the server asks for
    context: int = 0  # tokens that the model takes, where the server says so of a longer prompt
    silent: bool = False  # nothing came within the time limit

    def pause(self, tries: int) -> float:
        """Seconds before the next try."""
        return BACKOFF.pause(tries, self.wait)


def read_failure(error: Exception, server: str, sent: Set[str]) -> Failure:
    """``sent`` = the options of the request that failed."""
    shown = echoed(str(error), SHOWN_CHARACTERS).rstrip(".")
    if says_overflow(str(error)) or (isinstance(error, Refused) and error.status == 413):
        said = ContextOverflow("The prompt is longer than the language model takes.")
        return Failure(said, context=stated_context(str(error)))
    if isinstance(error, NotJson):  # a page of another kind of server, or of one that is just being mended
        return Failure(ModelError(f"The answer of {server} is not in the OpenAI form; check llm.url."), alive=False)
    if isinstance(error, Refused) and error.status:
        return _of_status(error, server, shown, sent)
    if isinstance(error, TIMEOUT):
        return Failure(ModelError(f"The language model at {server} did not answer in time."), False, True, silent=True)
    if isinstance(error, TRANSPORT):
        return Failure(ModelError(f"The connection to the language model at {server} failed: {shown}."), False, True)
    return Failure(ModelError(f"The language model at {server} failed: {shown}."), passing=True)


def _of_status(error: Refused, server: str, shown: str, sent: Set[str]) -> Failure:
    status, text = error.status, error.text
    answered = f"The language model at {server} answered {status}: {shown}"
    option = refused_option(text, sent) if status not in NOT_ABOUT_OPTIONS else None
    if option is not None:
        return Failure(ModelError(answered), option=option)
    if status < 500 and says_withheld(text):
        return Failure(NoWords(f"The content filter of {server} let the prompt not pass: {shown}", "withheld"))
    why = lasting(status, text) if status < 502 else ""
    if why:
        key = f"The language model at {server} refuses the key; set ASKWIKI_LLM_KEY."
        return Failure(ModelRefuses(key if why == "key" else answered), lasting=True)
    wait = retry_after(error.headers.get("retry-after"))
    return Failure(ModelError(answered), status < 500, status in PASSING_STATUS, wait=wait)
