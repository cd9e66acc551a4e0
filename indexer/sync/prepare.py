"""A page made ready for the store: diagrams recovered, cut into chunks, every chunk described.

``sync`` and ``show`` both come through here, so that what is shown is what is indexed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from askwiki.configuration import Configuration
from askwiki.data import Chunk, Page
from askwiki.encoders.factory import make_embedder
from askwiki.encoders.port import Embedder
from askwiki.language.glossary import load_glossary
from askwiki.llm.factory import make_llm
from askwiki.prompts import load_prompts
from askwiki.settings import Settings
from indexer.chunking.chunks import chunk_page
from indexer.chunking.token_limit import Count
from indexer.enrich.asking import Desk
from indexer.enrich.cache import Cache
from indexer.enrich.context import describe
from indexer.enrich.counters import Counters
from indexer.enrich.cut import cut_by_meaning
from indexer.enrich.vision import recover_diagrams
from indexer.sources import read_attachment


@dataclass(frozen=True, slots=True)
class Preparation:
    """The tools of ``prepare_page``: the embedder for its token counts, the desk for the models."""

    settings: Settings
    embedder: Embedder
    desk: Desk

    @property
    def count(self) -> Count:
        return self.embedder.count

    @property
    def limit(self) -> int:
        """Tokens that an embedded text may have: counts are not exact at borders, hence the margin."""
        return self.embedder.limit - self.settings.embedding.margin


def make_preparation(configuration: Configuration, embedder: Embedder | None = None) -> Preparation:
    """Everything as the settings say; an embedder that is already loaded is used."""
    settings, folder = configuration.settings, configuration.folder
    desk = Desk(
        llm=make_llm(settings.llm),
        prompts=load_prompts(folder / "prompts"),
        glossary=load_glossary(folder / "glossary.yaml"),
        cache=Cache(Path(settings.sync.cache) if settings.llm.url else None),  # rules need no cache
        counters=Counters(),
    )
    return Preparation(settings, embedder or make_embedder(settings.embedding), desk)


def prepare_page(page: Page, acl: str, *, using: Preparation) -> tuple[Page, list[Chunk]]:
    """The page as it is indexed (recovered diagrams in its Markdown) and its chunks with contexts."""
    settings = using.settings
    if using.desk.llm and settings.context.vision:
        page = recover_diagrams(page, desk=using.desk, read=read_attachment)
    cutter = partial(cut_by_meaning, desk=using.desk) if using.desk.llm and settings.chunking.llm_cut else None
    chunks = chunk_page(page, count=using.count, limit=using.limit, settings=settings.chunking, acl=acl, cutter=cutter)
    described = describe(page, chunks, desk=using.desk, settings=settings.context, count=using.count, limit=using.limit)
    return page, described
