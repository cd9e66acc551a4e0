"""Language models behind one small Protocol; ``adapter`` speaks to servers, ``factory`` makes it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

Role = Literal["condense", "relevance", "answer", "context", "cut", "vision", "judge"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Message:
    """One message to the model; ``images`` are data URLs or addresses of pictures.

    ``pattern`` of the last one: what the answer looks like, ``[01]{12}``; servers that can are held to it.
    """

    role: str
    content: str
    images: tuple[str, ...] = ()
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, thinking taken out, and the tokens the server counted (0 = unknown).

    ``unopened``: thinking stood before the text whose opening mark the chat template wrote; None = it does not show.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cut: bool = False  # the length limit ended it, not the model
    withheld: bool = False  # the server's content filter ended it
    unopened: bool | None = field(default=None, compare=False)


class Llm(Protocol):
    """Every call names its role; model, temperature, length and time limit come from settings.

    All raise ``ModelError`` (``ContextOverflow`` when the prompt is too long, ``Cancelled`` when
    ``cancel`` was set). Calls made through ``submit`` share one bounded pool of the process.
    """

    def complete(self, role: Role, messages: Sequence[Message], *, cancel: threading.Event | None = None) -> Reply: ...

    def decide(
        self,
        role: Role,
        messages: Sequence[Message],
        schema: dict[str, Any],
        *,
        cancel: threading.Event | None = None,
    ) -> dict[str, Any]:
        """JSON that satisfies ``schema``; prose around it is tolerated, anything else raises."""
        ...

    def stream(
        self, role: Role, messages: Sequence[Message], *, cancel: threading.Event | None = None
    ) -> Generator[str, None, Reply]:
        """The answer's text in pieces, thinking taken out; closing the generator ends the call.

        Its return value (``reply = yield from …``) is the whole reply with its tokens.
        """
        ...

    def context(self, role: Role) -> int:
        """Tokens of prompt and answer together, as the settings or else the server says; never raises."""
        ...

    def submit(self, owner: Hashable, call: Callable[[], T]) -> Future[T]:
        """Run ``call`` in the shared pool, fairly between owners (one owner = one chat or run)."""
        ...
