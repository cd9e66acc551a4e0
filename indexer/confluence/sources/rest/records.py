"""Where the JSON of pages comes from: what the live wiki and a folder of its answers have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from askwiki.data import Loss
from indexer.confluence.parse.links import Listed
from indexer.confluence.sources.rest.record import Record
from indexer.sources import PageFailure, PageRef


class Records(Protocol):
    """Pages as JSON. ``people`` = display names by user key or login."""

    losses: list[Loss]
    faults: list[str]  # why it is not whole; what ``refs`` found
    people: dict[str, str]
    keys: dict[str, str]  # page id -> space key
    index: dict[str, Listed]  # what is known of each page before it is read, filled by ``refs``

    def refs(self) -> list[PageRef]: ...

    def all(self) -> Iterator[tuple[Record, str] | PageFailure]:
        """(page, base address) one after another."""
        ...

    def one(self, page_id: str) -> tuple[Record, str] | None:
        """SourceError when it cannot be said whether there is such a page; so do ``titled`` and ``space``."""
        ...

    def container(self, kind: str, identity: str) -> tuple[Record, str] | None:
        """A folder, whiteboard, database or embedded address in the tree of pages; errors as of ``one``."""
        ...

    def titled(self, space: str, title: str) -> tuple[Record, str] | None:
        """A page that is not among ``refs``, for an include."""
        ...

    def space(self, key: str, identity: str) -> Record: ...

    def comments(self, page_id: str) -> list[Record]:
        """Comments that are kept apart from their page."""
        ...

    def files(self, page_id: str) -> list[str]:
        """Names of the files of a page that are on this machine."""
        ...

    def place(self, page_id: str, name: str) -> str:
        """Where a file is on this machine, "" when it is not there."""
        ...

    def attachment(self, page_id: str, name: str) -> bytes | None: ...


def listed(answer: Any) -> list[Any]:
    if isinstance(answer, list):
        return answer
    if isinstance(answer, dict):
        results = answer.get("results")
        return results if isinstance(results, list) else [answer]
    return []
