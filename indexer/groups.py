"""Which sections are read together: a short child with its parent, a bare heading with what follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from askwiki.data import Kind, Section
from askwiki.settings import ChunkingSettings
from indexer.sections import same_title


class Group(NamedTuple):
    """Consecutive sections that become one chunk, or several parts when they are long."""

    first: int  # ordinals of the first and the last section
    last: int
    tokens: int
    kind: Kind
    headings: tuple[str, ...]  # the breadcrumb that all of it shares
    place: tuple[str, ...]  # the breadcrumb of the first section that says something
    anchor: str  # of that section


def group_sections(
    sections: Sequence[Section], tokens: Sequence[int], settings: ChunkingSettings, title: str = ""
) -> list[Group]:
    """All sections in order, in groups; ``tokens`` is the length of each section.

    Top-level sections are never joined, nor is the text above the first heading: they are thoughts of
    their own, and a chunk that holds several would change its id with every insertion between them.
    A heading that repeats the page's ``title`` is the page itself: what is below it is top-level.
    """
    groups: list[_Open] = []
    for section, length in zip(sections, tokens, strict=True):
        if groups and groups[-1].takes(section, length, settings, title):
            groups[-1].add(section, length)
        else:
            groups.append(_Open(section, length))
    return [group.closed() for group in groups]


class _Open:
    """A group that may still grow."""

    def __init__(self, section: Section, length: int) -> None:
        self.root = section.headings
        self.first = self.last = section.ordinal
        self.tokens = length
        self.bare = is_bare(section)  # so far only headings
        self.spoken = [section]  # what says something; bare headings in front are only the way to it

    def takes(self, section: Section, length: int, settings: ChunkingSettings, title: str) -> bool:
        root, way = self.root, section.headings
        below = 1 <= len(root) < len(way) and way[: len(root)] == root
        if below and self.bare:
            return True  # whatever its length: a heading alone says nothing
        if len(way) < 2 or self.tokens + length > settings.tokens:
            return False
        top = 1 if same_title(way[0], title) else 0
        if len(way) - top < 2:
            return False
        short = length < settings.merge_below
        if below:
            return len(root) > top and (short or self.tokens < settings.merge_below)
        sibling = way[: len(root) - 1] == root[:-1]
        return sibling and short and self.tokens < settings.tokens // 2

    def add(self, section: Section, length: int) -> None:
        self.last = section.ordinal
        self.tokens += length
        if self.bare:
            self.spoken = [section]
            self.bare = is_bare(section)
        elif not is_bare(section):
            self.spoken.append(section)

    def closed(self) -> Group:
        first, *others = self.spoken
        headings = first.headings
        for other in others:
            headings = _shared(headings, other.headings)
        depth = len(headings)
        kind: Kind = "merged" if others else "note" if not depth else "section" if depth == 1 else "subsection"
        return Group(self.first, self.last, self.tokens, kind, headings, first.headings, first.anchor)


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    pairs = enumerate(zip(one, other, strict=False))
    end = next((number for number, (left, right) in pairs if left != right), min(len(one), len(other)))
    return one[:end]


def is_bare(section: Section) -> bool:
    """A heading with no text of its own."""
    return section.level > 0 and not section.markdown.strip().partition("\n")[2].strip("=- \t\r\n")
