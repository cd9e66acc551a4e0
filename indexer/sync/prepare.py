"""A page made ready for the store: diagrams recovered, cut into chunks, every chunk described.

``sync`` and ``show`` both come through here, so that what is shown is what is indexed.
"""

from __future__ import annotations

import dataclasses
import logging
from dataclasses import dataclass
from functools import partial

from askwiki.data import Chunk, Clause, Page
from askwiki.encoders.port import Embedder
from askwiki.errors import PageError
from askwiki.settings import Settings
from indexer.chunking.chunks import chunk_page
from indexer.chunking.token_limit import MARGIN, chunk_tokens
from indexer.enrich.asking import Counters, Desk
from indexer.enrich.context import describe
from indexer.enrich.cut import cut_by_meaning
from indexer.enrich.vision import recover_diagrams
from indexer.sources import read_attachment
from indexer.sync.tools import Tools

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A changed page cut and described, or why it could not be. ``counters``: of this page alone."""

    page: Page
    mark: str
    readers: tuple[Clause, ...]
    chunks: list[Chunk]
    counters: Counters
    fault: str = ""


def prepared(page: Page, acl: str, mark: str, readers: tuple[Clause, ...], *, using: Tools) -> Prepared:
    """One page through ``prepare_page``. Whatever is wrong with it, the other pages go on."""
    counters = Counters()
    desk = dataclasses.replace(using.desk, counters=counters)
    try:
        _, chunks = prepare_page(page, acl, settings=using.settings, embedder=using.embedder, desk=desk)
    except PageError as error:
        return Prepared(page, mark, readers, [], counters, str(error))
    except (ValueError, TypeError, LookupError, RecursionError, MemoryError) as error:
        logger.exception("The page %s could not be prepared.", page.id)
        return Prepared(
            page, mark, readers, [], counters, f"cannot be cut into chunks: {type(error).__name__}: {error}"
        )
    return Prepared(page, mark, readers, chunks, counters)


def prepare_page(
    page: Page, acl: str, *, settings: Settings, embedder: Embedder, desk: Desk
) -> tuple[Page, list[Chunk]]:
    """The page as it is indexed (recovered diagrams in its Markdown) and its chunks with contexts.

    The embedder counts tokens, and says how many a text may have.
    """
    count, limit = embedder.count, chunk_tokens(embedder.limit, settings.chunking.tokens)
    if desk.llm and settings.context.vision:
        page = recover_diagrams(page, desk=desk, read=read_attachment)
    cutter = partial(cut_by_meaning, desk=desk) if desk.llm and settings.chunking.llm_cut else None
    chunks = chunk_page(page, count=count, limit=limit, settings=settings.chunking, acl=acl, cutter=cutter)
    most = embedder.limit - MARGIN
    return page, describe(page, chunks, desk=desk, settings=settings.context, count=count, limit=most)
