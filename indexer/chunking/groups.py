"""Which sections are read together: children with their parent and their neighbours, while they fit.

Measured on a Russian wiki, joining up to the encoder's limit finds more answers first than a chunk a
section (see the table of chunk sizes in the README); what is read at last is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from askwiki.data import Kind, Section
from askwiki.settings import ChunkingSettings


class Group(NamedTuple):
    """Consecutive sections that become one chunk, or several parts when they are long."""

    first: int  # ordinals of the first and the last section
    last: int
    tokens: float
    room: int
    screen: bool
    bare: bool  # only headings so far
    sections: int  # that say something
    headings: tuple[str, ...]  # the breadcrumb that all of it shares
    place: tuple[str, ...]  # the breadcrumb of the first section that says something
    anchor: str  # of that section

    @property
    def kind(self) -> Kind:
        if self.sections > 1:
            return "merged"
        depth = len(self.headings)
        return "note" if depth == 0 else "section" if depth == 1 else "subsection"


def group_of(section: Section, *, tokens: float, room: int, screen: bool) -> Group:
    """A section alone: its length, the tokens that a chunk with its path has left, whether it tells of a screen."""
    number, way, bare = section.ordinal, section.headings, _is_bare(section)
    return Group(number, number, tokens, room, screen, bare, not bare, way, way, section.anchor)


def group_sections(sections: Sequence[Group], settings: ChunkingSettings) -> list[Group]:
    """All sections in order, in groups.

    What is joined shares a heading: text under no heading stays alone, and so do top-level sections,
    which are thoughts of their own. A description of a screen is not joined to an explanation, because
    questions ask for the one or the other.
    """
    groups: list[Group] = []
    at = 0
    while at < len(sections):
        end = _subtree_end(sections, at)
        groups += _build(sections, at, end, settings)
        at = end
    return groups


def _subtree_end(sections: Sequence[Group], at: int) -> int:
    depth = len(sections[at].headings)
    end = at + 1
    while depth and end < len(sections) and len(sections[end].headings) > depth:
        end += 1
    return end


def _build(sections: Sequence[Group], at: int, end: int, settings: ChunkingSettings) -> list[Group]:
    """The groups of one subtree: its own text, then those of its children, joined while they fit."""
    groups = [sections[at]]
    child = at + 1
    while child < end:
        after = _subtree_end(sections, child)
        groups += _build(sections, child, after, settings)
        child = after
    return list(_joined(groups, settings)) if len(groups) > 1 else groups


def _joined(groups: Sequence[Group], settings: ChunkingSettings) -> Iterator[Group]:
    current = groups[0]
    for group in groups[1:]:
        if current.bare or group.bare or _fit(current, group, settings):
            current = _together(current, group)
        else:
            yield current
            current = group
    yield current


def _fit(one: Group, other: Group, settings: ChunkingSettings) -> bool:
    short = min(one.tokens, other.tokens) < settings.merge_below
    return short and one.screen == other.screen and one.tokens + other.tokens <= min(one.room, other.room)


def _together(one: Group, other: Group) -> Group:
    """A bare heading is only the way to what follows it; otherwise they share what their headings share."""
    first = other if one.bare else one
    headings = other.headings if one.bare else one.headings if other.bare else _shared(one.headings, other.headings)
    return Group(
        one.first,
        other.last,
        one.tokens + other.tokens,
        min(one.room, other.room),
        other.screen if one.bare else one.screen,
        one.bare and other.bare,
        one.sections + other.sections,
        headings,
        first.place,
        first.anchor,
    )


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    pairs = enumerate(zip(one, other, strict=False))
    end = next((number for number, (left, right) in pairs if left != right), min(len(one), len(other)))
    return one[:end]


def _is_bare(section: Section) -> bool:
    """A heading with no text of its own."""
    return section.level > 0 and not section.markdown.strip().partition("\n")[2].strip("=- \t\r\n")
