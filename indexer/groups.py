"""Which sections are read together: a short child with its parent, a bare heading with what follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from askwiki.data import Kind, Section
from askwiki.settings import ChunkingSettings
from indexer.sections import same_title


class Group(NamedTuple):
    """Consecutive sections that become one chunk, or several parts when they are long."""

    sections: tuple[Section, ...]
    tokens: int

    @property
    def spoken(self) -> tuple[Section, ...]:
        """The sections that say something; a bare heading in front is only the way to them."""
        return tuple(section for section in self.sections if not is_bare(section)) or self.sections

    @property
    def headings(self) -> tuple[str, ...]:
        """The breadcrumb that all of it shares."""
        shared = self.spoken[0].headings
        for section in self.spoken[1:]:
            pairs = zip(shared, section.headings, strict=False)
            same = next((number for number, (one, other) in enumerate(pairs) if one != other), None)
            shared = shared[: min(len(shared), len(section.headings)) if same is None else same]
        return shared

    @property
    def kind(self) -> Kind:
        if len(self.spoken) > 1:
            return "merged"
        depth = len(self.spoken[0].headings)
        return "note" if depth == 0 else "section" if depth == 1 else "subsection"


def group_sections(
    sections: Sequence[Section], tokens: Sequence[int], settings: ChunkingSettings, title: str = ""
) -> list[Group]:
    """All sections in order, in groups; ``tokens`` is the length of each section.

    Top-level sections are never joined, nor is the text above the first heading: they are thoughts of
    their own, and a chunk that holds several would change its id with every insertion between them.
    A heading that repeats the page's ``title`` is the page itself: what is below it is top-level.
    """
    groups: list[Group] = []
    for section, length in zip(sections, tokens, strict=True):
        if groups and _belongs(groups[-1], section, length, settings, title):
            before = groups.pop()
            groups.append(Group((*before.sections, section), before.tokens + length))
        else:
            groups.append(Group((section,), length))
    return groups


def _belongs(group: Group, section: Section, length: int, settings: ChunkingSettings, title: str) -> bool:
    root, way = group.sections[0].headings, section.headings
    below = 1 <= len(root) < len(way) and way[: len(root)] == root
    if below and all(is_bare(one) for one in group.sections):
        return True  # whatever its length: a heading alone says nothing
    top = 1 if way and same_title(way[0], title) else 0
    if len(way) - top < 2 or group.tokens + length > settings.tokens:
        return False
    short = length < settings.merge_below
    if below:
        return len(root) > top and (short or group.tokens < settings.merge_below)
    sibling = way[: len(root) - 1] == root[:-1]
    return sibling and short and group.tokens < settings.tokens // 2


def is_bare(section: Section) -> bool:
    """A heading with no text of its own."""
    lines = section.markdown.strip().splitlines()
    if not section.level or not lines:
        return False
    return len(lines) == 1 or (len(lines) == 2 and not lines[1].strip("=- \t"))
