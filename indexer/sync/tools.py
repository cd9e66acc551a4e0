"""What every step of a run works with, made once from the settings and closed at its end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from askwiki.configuration import Configuration
from askwiki.encoders.factory import make_embedder, make_sparse
from askwiki.encoders.port import Embedder, SparseEncoder
from askwiki.errors import StoreMismatch
from askwiki.language.glossary import load_glossary
from askwiki.llm.factory import make_llm
from askwiki.prompts import load_prompts
from askwiki.settings import Settings
from askwiki.store import open_writer
from askwiki.store.fingerprint import fingerprint_of
from askwiki.store.port import Writer
from indexer.enrich.asking import Counters, Desk
from indexer.enrich.cache import Cache

WITHOUT = "The index has no contexts of chunks; to have the language model write them run: python -m indexer rebuild"
LEFT = "The index has contexts of chunks, and no language model is set to write them: new chunks have none"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tools:
    """``desk`` is all that the steps of ``enrich`` see: they know neither vectors nor a store."""

    settings: Settings
    desk: Desk
    embedder: Embedder
    sparse: SparseEncoder
    vectors: Cache  # dense ones by content; the desk's own cache is on disk only where a model answers
    writer: Writer


@contextmanager
def open_tools(configuration: Configuration, *, rebuild: bool = False) -> Iterator[tuple[Tools, dict[str, object]]]:
    """The tools of a run and the fingerprint in force; everything is closed afterwards."""
    settings = configuration.settings
    embedder, sparse = make_embedder(settings.embedding), make_sparse(settings.sparse)
    writer, fingerprint, contexts = open_as_it_is(
        lambda fingerprint: open_writer(settings.store, fingerprint, rebuild=rebuild),
        lambda contexts: fingerprint_of(embedder, sparse, settings.chunking, contexts=contexts),
        writes_contexts(settings),
    )
    settings = with_contexts(settings, contexts)
    vectors = Cache(Path(settings.sync.cache))
    try:
        desk = make_desk(configuration)
        yield Tools(settings, desk, embedder, sparse, vectors, writer), fingerprint
        desk.cache.close()
    finally:
        writer.close()
        vectors.close()


def writes_contexts(settings: Settings) -> bool:
    """Whether a model describes the chunks of an index that is made with these settings."""
    return bool(settings.llm.url) and settings.context.llm


def open_as_it_is(
    opened: Callable[[Mapping[str, Any]], Writer], fingerprint: Callable[[bool], dict[str, Any]], wanted: bool
) -> tuple[Writer, dict[str, Any], bool]:
    """The writer, the fingerprint, whether chunks have contexts; ``wanted``: whether a new index would have them.

    An index that is there goes on as it is: a language model that was set, or taken away, stops no run.
    """
    try:
        return opened(fingerprint(wanted)), fingerprint(wanted), wanted
    except StoreMismatch as mismatch:
        try:
            writer = opened(fingerprint(not wanted))
        except StoreMismatch:
            raise mismatch from None
    logger.warning(WITHOUT if wanted else LEFT)
    return writer, fingerprint(not wanted), not wanted


def with_contexts(settings: Settings, contexts: bool) -> Settings:
    """No context is written for an index that has no place for it."""
    return replace(settings, context=replace(settings.context, llm=settings.context.llm and contexts))


def make_desk(configuration: Configuration) -> Desk:
    settings, folder = configuration.settings, configuration.folder
    return Desk(
        llm=make_llm(settings.llm),
        prompts=load_prompts(folder / "prompts", settings.wiki.domain),
        glossary=load_glossary(folder / "glossary.yaml"),
        cache=Cache(Path(settings.sync.cache) if settings.llm.url else None),  # rules need no cache
        counters=Counters(),
    )
