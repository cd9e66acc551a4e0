"""Where the thoughts of a page end, whoever says so: between the cutter and the chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from askwiki.data import Page
from askwiki.markdown.plain_text import PlainPage
from indexer.chunking.packer import Size, pack_runs
from indexer.chunking.token_limit import Ruler, length_of


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


def filled(start: int, thoughts: Sequence[Thought], room: int, plain: PlainPage, ruler: Ruler) -> Iterator[Thought]:
    """The thoughts from ``start`` on, neighbours of one kind in one as long as they have ``room`` tokens."""
    stretches = list(pairwise([start, *(thought.end for thought in thoughts)]))
    counted = ruler.measure([plain.of(stretch) for stretch in stretches])
    sizes = [
        length_of(tokens - ruler.special, end - begin) for tokens, (begin, end) in zip(counted, stretches, strict=True)
    ]
    for first, after in pack_runs([thought.screen for thought in thoughts], sizes, Size(room, room)):
        yield Thought(thoughts[after - 1].end, thoughts[first].screen)
