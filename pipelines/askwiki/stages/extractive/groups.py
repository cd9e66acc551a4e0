"""What is quoted together: a lead-in with its list, a statement with its exception, each below its headings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from askwiki.stages.extractive.pieces import CONTENT, Piece

LIMIT_CHARACTERS = 600  # a longer paragraph that begins «Если …» is a matter of its own


class Group(NamedTuple):
    """Pieces ``first`` to ``last`` of a passage, and those above it that name what it is about."""

    first: int
    last: int
    headings: tuple[int, ...]  # outermost first, the passage's own
    subheading: int | None

    @property
    def places(self) -> range:
        return range(self.first, self.last + 1)

    @property
    def scope(self) -> tuple[int | None, int | None]:
        """The heading and the bold line that it stands under."""
        return (self.headings[-1] if self.headings else None), self.subheading


def groups_of(pieces: Sequence[Piece]) -> list[Group]:
    """All content of a passage, each piece in exactly one group."""
    groups: list[Group] = []
    headings: list[int] = []
    subheading: int | None = None
    for place, piece in enumerate(pieces):
        if piece.kind == "heading":
            headings = [above for above in headings if pieces[above].level < piece.level] + [place]
            subheading = None
        elif piece.kind == "subheading":
            subheading = place
        elif piece.kind == "gap":  # what stands under which heading after it is not known
            headings, subheading = [], None
        elif piece.kind in CONTENT:
            if groups and groups[-1].last == place - 1 and _bound(pieces[place - 1], piece):
                groups[-1] = groups[-1]._replace(last=place)
            else:
                groups.append(Group(place, place, tuple(headings), subheading))
    return groups


def _bound(before: Piece, piece: Piece) -> bool:
    """Whether one of two neighbours says something else without the other."""
    return before.leads or (piece.limits and len(piece.text) <= LIMIT_CHARACTERS)
