"""The sentences a person reads when something cannot be done.

Every error that reaches a user, an admin or a command line is one of these; its text says what is
wrong and what to do about it. Foreign exceptions are turned into them at the edge where they occur.
"""

from __future__ import annotations

from typing import Literal

from askwiki.masking import masked


class AskWikiError(Exception):
    """The base: ``str(error)`` is a complete sentence for the person in front of the screen, without secrets."""

    def __str__(self) -> str:
        return masked(super().__str__())


class SettingsError(AskWikiError):
    """A setting, a prompt, the glossary or the groups file is missing, unknown or out of range."""


class SourceError(AskWikiError):
    """An export, a folder or the wiki's API cannot be read at all."""


class SourceNotWhole(SourceError):
    """A part of a source is lost or damaged. What is left of it may open no page and remove none.

    Raised before the first page is given, so that a sync has changed nothing yet.
    """


class PageError(AskWikiError):
    """One page cannot be converted; the rest of the run goes on."""


class StoreError(AskWikiError):
    """The vector store cannot be reached, is locked, or holds something else than expected."""


class StoreMismatch(StoreError):
    """The index was built with other models than the ones in force: a rebuild mends it."""


class ModelError(AskWikiError):
    """A language model, an encoder or a reranker failed or gave something unusable."""


class ContextOverflow(ModelError):
    """The prompt is longer than the model takes; a shorter one may pass."""


class ModelRefuses(ModelError):
    """The model's server will refuse every call for now: the key, the quota or the model's name is wrong."""


class NoWords(ModelError):
    """The model did answer, but with no text for the person."""

    def __init__(self, sentence: str, why: Literal["thought", "withheld", "nothing"] = "nothing") -> None:
        super().__init__(sentence)
        self.why = why  # it only thought | the server's content filter took it | neither is known


class Cancelled(AskWikiError):
    """The person closed the chat or pressed stop; nobody waits for the rest."""
