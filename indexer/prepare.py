"""A page made ready for the store: diagrams recovered, cut into chunks, every chunk described.

``sync`` and ``show`` both come through here, so that what is shown is what is indexed.
"""

from __future__ import annotations

from dataclasses import dataclass

from askwiki.data import Chunk, Page
from askwiki.settings import Settings
from indexer.asking import Desk
from indexer.chunks import chunk_page
from indexer.context import describe
from indexer.fit import Count


@dataclass(frozen=True, slots=True)
class Preparation:
    """``count`` and ``limit`` of the embedder: tokens of texts, and how many one may have."""

    settings: Settings
    count: Count
    limit: int  # the safety margin already taken off
    desk: Desk


def prepare_page(page: Page, acl: str, *, using: Preparation) -> tuple[Page, list[Chunk]]:
    """The page as it is indexed (recovered diagrams in its Markdown) and its chunks with contexts."""
    settings = using.settings
    chunks = chunk_page(page, count=using.count, limit=using.limit, settings=settings.chunking, acl=acl)
    described = describe(page, chunks, desk=using.desk, settings=settings.context, count=using.count, limit=using.limit)
    return page, described
