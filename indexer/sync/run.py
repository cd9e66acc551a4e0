"""What ``sync``, ``rebuild`` and ``schedule`` share: the tools, several sources in a row, one commit."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from askwiki.configuration import Configuration
from askwiki.encoders.factory import make_embedder, make_sparse
from askwiki.store import open_writer
from askwiki.store.fingerprint import fingerprint_of
from indexer.enrich.cache import Cache
from indexer.sources import PageSource
from indexer.sync.apply import SyncTools
from indexer.sync.digest import run_digest
from indexer.sync.ledger import Ledger
from indexer.sync.prepare import make_preparation
from indexer.sync.sync import Progress, Rules, sync
from indexer.sync.vectors import Encoders


@contextmanager
def open_tools(configuration: Configuration, *, rebuild: bool = False) -> Iterator[tuple[SyncTools, dict[str, object]]]:
    """The tools of a run and the fingerprint in force; everything is closed afterwards."""
    settings = configuration.settings
    embedder, sparse = make_embedder(settings.embedding), make_sparse(settings.sparse)
    fingerprint = fingerprint_of(embedder, sparse, settings.chunking)
    writer = open_writer(settings.store, fingerprint, rebuild=rebuild)
    cache = Cache(Path(settings.sync.cache))
    try:
        preparation = make_preparation(configuration, embedder)
        encoders = Encoders(
            embedder, sparse, settings.sparse.path, settings.chunking.sub_chunks, cache, preparation.desk.counters
        )
        yield SyncTools(settings, preparation, encoders, writer), fingerprint
        preparation.desk.cache.close()
    finally:
        writer.close()
        cache.close()


def run_sources(
    sources: Sequence[PageSource],
    rules: Rules,
    configuration: Configuration,
    *,
    rebuild: bool = False,
    progress: Progress = lambda done, total: None,
) -> list[Ledger]:
    """Sync the sources one after another, then make all of it visible in one step.

    An index built anew from a source that gave no page would lose what the old one holds of it: the old one stays.
    """
    ledgers = []
    with open_tools(configuration, rebuild=rebuild) as (tools, fingerprint):
        for source in sources:
            own = dataclasses.replace(rules, digest=run_digest(source.name, fingerprint, configuration))
            ledgers.append(sync(source, own, using=tools, progress=progress))
        if not (rebuild and any(ledger.exit_code > 1 for ledger in ledgers)):
            tools.writer.commit()
    return ledgers
