"""What a server answers, whole or in a stream, as a ``Reply``: thinking left out, an answer that broke off told."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from askwiki.errors import Cancelled, ModelError, NoWords
from askwiki.llm.content import said_in
from askwiki.llm.port import Reply
from askwiki.llm.reading import ThinkingFilter, closes_unopened, without_thinking

STREAM_CHARACTERS = 400_000  # of one streamed answer; a model that repeats itself is stopped here
# The beginning of an answer whose model is not known yet: it may be thinking that the template opened.
HELD_CHARACTERS, HELD_SECONDS = 2_000, 3.0
WITHHELD = "content_filter"
NOT_OPENAI = "The language model's answer is not in the OpenAI form; check llm.url."


def whole_reply(answer: Mapping[str, Any]) -> Reply:
    """Raises ModelError when it is not in the OpenAI form."""
    choice = next(iter(_choices(answer)), None)
    if choice is None or not isinstance(choice.get("message", choice.get("text")), dict | str):
        raise ModelError(NOT_OPENAI)
    said = list(said_in(choice))
    text = "".join(piece.text for piece in said if not piece.thinking)
    reason, (asked, answered) = choice.get("finish_reason"), _tokens(answer)
    plain = False if text.strip() and reason == "stop" else None
    return Reply(
        without_thinking(text),
        asked,
        answered,
        cut=reason == "length",
        withheld=reason == WITHHELD,
        unopened=True if closes_unopened(text) else plain,
    )


def streamed_reply(
    chunks: Iterator[Mapping[str, Any]],
    give: Callable[[str], None],
    cancelled: Callable[[], bool],
    deadline: float,
    *,
    unopened: bool | None = None,
) -> Reply:
    """Hand on the pieces of a stream; thinking of either kind stays here.

    ``deadline`` is on the clock of ``time.monotonic``; ``unopened`` is what earlier replies of this model showed.
    Raises ModelError when the stream breaks off or says nothing, Cancelled when ``cancelled`` says so.
    """
    reader = _Reader(give, unopened)
    try:
        for chunk in chunks:
            if cancelled():
                raise Cancelled("The chat was stopped.")
            reader.take(chunk)
            if reader.length > STREAM_CHARACTERS or time.monotonic() > deadline:
                reader.reason = "length"
                break
        return reader.finish()
    finally:
        if not cancelled():
            reader.release()  # of a stream that broke off, what came before stands


class _Reader:
    """One stream: what of it has been given out, what is held back, how it ended."""

    def __init__(self, give: Callable[[str], None], unopened: bool | None) -> None:
        self._give = give
        self._filter = ThinkingFilter(unopened=unopened)
        self._given: list[str] = []
        self._held: list[str] = []
        self._holds = unopened is None  # until it shows whether this is thinking
        self._until = time.monotonic() + HELD_SECONDS
        self._tokens = (0, 0)
        self._thought = False
        self.length = 0
        self.reason: str | None = None

    def take(self, chunk: Mapping[str, Any]) -> None:
        if chunk.get("usage"):
            self._tokens = _tokens(chunk)
        for choice in _choices(chunk):
            whole = "stop" if "message" in choice else None  # a server that knows no streams
            self.reason = choice.get("finish_reason") or self.reason or whole
            for piece in said_in(choice):
                if piece.thinking:
                    self._thought = True
                    self.release()  # the server takes thinking out itself
                else:
                    self._hear(piece.text)

    def _hear(self, text: str) -> None:
        self.length += len(text)
        shown = self._filter.feed(text)
        if self._holds and self._filter.closed_unopened:
            self._held.clear()
            self._holds = False
        if self._filter.opened:
            self.release()
        if shown and self._holds:
            self._held.append(shown)
            if self.length > HELD_CHARACTERS or time.monotonic() > self._until:
                self.release()
        elif shown:
            self._put(shown)

    def _put(self, piece: str) -> None:
        self._given.append(piece)
        self._give(piece)

    def release(self) -> None:
        """Give out what was held: nothing shows that it is thinking."""
        self._holds = False
        held, self._held = self._held, []
        for piece in held:
            self._put(piece)

    def finish(self) -> Reply:
        rest = self._filter.finish(ended=self.reason == "stop")
        self.release()
        if rest:
            self._put(rest)
        text = "".join(self._given)
        if self.reason is None:
            raise ModelError("The language model's answer broke off.")
        if not text.strip():
            raise self._nothing()
        unopened = self._filter.closed_unopened or (False if self.reason == "stop" else None)
        return Reply(
            text, *self._tokens, cut=self.reason == "length", withheld=self.reason == WITHHELD, unopened=unopened
        )

    def _nothing(self) -> NoWords:
        if self.reason == WITHHELD:
            return NoWords("The content filter of the language model's server withheld the answer.", "withheld")
        if self._thought or self._filter.thought:
            return NoWords("The language model only thought and answered with nothing.", "thought")
        return NoWords("The language model answered with nothing.")


def _choices(answer: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    choices = answer.get("choices")
    return [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []


def _tokens(answer: Mapping[str, Any]) -> tuple[int, int]:
    usage = answer.get("usage")
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")] if isinstance(usage, dict) else []
    asked, said = [count if isinstance(count, int) else 0 for count in counts] or (0, 0)
    return asked, said
