"""Which pages a listing of the wiki would name, out of the source itself: by parent, by label, by kind.

A page is named only where everybody who may read the listing may read that page too, as the wiki itself does it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from askwiki.data import Clause
from indexer.confluence.parse.links import Listed

LAST = 1 << 31  # pages without a position come behind those that have one
Readers = Callable[[str], tuple[Clause, ...] | None]


class PageIndex:
    """The pages of a source by what listings choose them by; ``readers`` is asked only for those chosen."""

    def __init__(self, pages: Iterable[Listed], readers: Readers) -> None:
        self._pages = list(pages)
        self._readers = readers
        self._below: dict[str, list[Listed]] = defaultdict(list)
        for page in self._pages:
            if page.parent:
                self._below[page.parent].append(page)
        for pages_below in self._below.values():
            pages_below.sort(key=lambda page: LAST if page.position is None else page.position)

    def below(self, page_id: str, within: str) -> list[Listed]:
        """The pages right below a page, in the order of the tree."""
        return [page for page in self._below.get(page_id, ()) if self.visible(page.id, within)]

    def chosen(self, wanted: Callable[[Listed], bool], within: str) -> list[Listed]:
        return [page for page in self._pages if wanted(page) and self.visible(page.id, within)]

    def visible(self, page_id: str, within: str) -> bool:
        """Whether everybody who may read the page ``within`` may read this one."""
        if page_id == within:
            return True
        inner, outer = self._readers(page_id), self._readers(within)
        if inner is None or outer is None:
            return inner is outer  # opened or closed together, by one setting
        return set(inner) <= set(outer)
