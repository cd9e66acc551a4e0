"""Where the thoughts of a page end, whoever says so: the records between the cutter and the chunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from askwiki.data import Page


class PageSpan(NamedTuple):
    """A stretch of the page's Markdown that may hold several thoughts."""

    start: int
    end: int
    headings: tuple[str, ...]


class Thought(NamedTuple):
    """A thought ends at ``end`` of the page's Markdown; ``screen``: the model calls it one of a screen."""

    end: int
    screen: bool = False


Cutter = Callable[[Page, Sequence[PageSpan]], list[list[Thought]]]
