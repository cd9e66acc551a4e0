"""The neighbours of a candidate in its page: the parts of its section, for lists its page; how the page begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from askwiki.data import Candidate, Chunk, Rights
from askwiki.store.port import Reader

STEPS = 2  # neighbours on each side: a row of a long list must not bring the whole list
WIDE_STEPS = 12  # where the whole list is asked for
Pages = Mapping[str, Sequence[Chunk]]


def siblings_of(candidates: Sequence[Candidate], rights: Rights, reader: Reader, *, whole: bool = False) -> Pages:
    """All chunks of every page that has a split section among the candidates; ``whole``: of every page."""
    pages = dict.fromkeys(each.chunk.page_id for each in candidates if whole or each.chunk.parts > 1)
    return reader.chunks_of(pages, rights) if pages else {}


def neighbours(chunk: Chunk, pages: Pages, step: int, *, whole: bool = False) -> Iterator[Chunk]:
    """The parts of the same section ``step`` away: the next one, then the one before; ``whole``: of the same page."""
    family = {each.ordinal: each for each in pages.get(chunk.page_id, ()) if whole or _one_section(each, chunk)}
    for ordinal in (chunk.ordinal + step, chunk.ordinal - step):
        if ordinal in family:
            yield family[ordinal]


def beginning(chunk: Chunk, pages: Pages) -> Chunk | None:
    """What the page of a split section begins with."""
    return min(pages.get(chunk.page_id, ()), key=lambda each: each.ordinal, default=None)


def _one_section(one: Chunk, other: Chunk) -> bool:
    return (
        one.headings == other.headings
        and one.parts == other.parts
        and one.ordinal - one.part == other.ordinal - other.part
    )
