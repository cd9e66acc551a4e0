"""What one question carries through the flow: its tools and settings, its clock, what was missing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from askwiki.data import Calibration, Status, Token
from askwiki.errors import Cancelled
from askwiki.kit import Kit
from askwiki.llm.port import Llm
from askwiki.settings import Settings


@dataclass(slots=True)
class QuestionRun:
    """One question under way. The only thing in the flow that changes."""

    kit: Kit
    settings: Settings
    cancel: threading.Event | None
    language: str
    degraded: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    text: str = ""  # of the answer so far
    refused: bool = False  # the model's server refuses every call for now: this question goes on without it
    left_out: int = 0  # fragments that were judged relevant and found no room in the prompt
    calibration: Calibration | None = None  # of the index that was searched
    weak: bool = False  # what was found may not hold the answer
    stopped: Callable[[], bool] = lambda: False  # whether it is the server that ends, not the person who went

    @property
    def llm(self) -> Llm | None:
        """The language model, while it is of use to this question."""
        return None if self.refused else self.kit.llm

    def say(self, name: str, **values: object) -> str:
        return self.kit.texts.say(name, self.language, **values)

    def status(self, step: str, name: str, **values: object) -> Status:
        return Status(self.say(name, **values), step)

    def token(self, text: str) -> Token:
        """A piece of the answer: every one goes through here, so ``text`` is what the chat shows."""
        self.text += text
        return Token(text)

    def missing(self, step: str, name: str, **values: object) -> Status:
        """A part is missing: noted for the answer, and a line in the chat."""
        sentence = self.say(name, **values)
        if sentence not in self.degraded:
            self.degraded.append(sentence)
        return Status(sentence, step, warning=True)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure a stage; nothing of it begins when the person has gone."""
        self.check()
        started = time.perf_counter()
        try:
            yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - started

    def check(self) -> None:
        if self.cancel is not None and self.cancel.is_set():
            raise Cancelled("The chat was stopped.")
