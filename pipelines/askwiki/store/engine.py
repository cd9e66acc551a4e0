"""The few things both engines can do, as data; ``records`` builds the port on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from askwiki.data import Vectors
from askwiki.store.port import Leg


@dataclass(frozen=True, slots=True)
class Where:
    """A filter: every named field holds one of its values; none of the points has a spared id."""

    fields: Mapping[str, Sequence[str]]
    spared: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One point. Page and access records have no vectors."""

    id: str
    payload: Mapping[str, Any]
    vectors: Vectors | None = None


@dataclass(frozen=True, slots=True)
class Upsert:
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Overwrite:
    """The whole payload of one existing point; its vectors stay."""

    id: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Delete:
    where: Where


Operation = Upsert | Overwrite | Delete


@dataclass(frozen=True, slots=True)
class Scroll:
    """Which points to read and how much of them; no fields = the whole payload."""

    where: Where
    fields: Sequence[str] = field(default=())
    vectors: bool = False


class Engine(Protocol):
    """One collection or shard. Errors are StoreError."""

    def write(self, operations: Sequence[Operation]) -> None:
        """In this order; returns when all of it is durable."""
        ...

    def find(self, legs: Sequence[Leg], where: Where) -> list[list[tuple[str, float]]]:
        """For each leg, in one call, the ids of the nearest chunks with their scores."""
        ...

    def scroll(self, scroll: Scroll) -> Iterator[Row]: ...

    def count(self, where: Where) -> int: ...
