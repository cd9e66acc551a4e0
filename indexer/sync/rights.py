"""Who may read each page, compared with a live wiki without reading its pages: quick enough for a clock of its own."""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Protocol, runtime_checkable

from askwiki.access.rights import NOBODY, acl_key, known_readers
from askwiki.configuration import Configuration
from askwiki.data import INSIDE_PAGE, Clause, whole_page
from askwiki.errors import SourceError
from askwiki.settings import Settings
from askwiki.store import open_reader, open_writer
from askwiki.store.port import Writer
from indexer.sources import PageFailure, PageSource
from indexer.sync.ledger import Ledger
from indexer.sync.plan import refuse_shrinking

logger = logging.getLogger(__name__)


@runtime_checkable
class RightsSource(PageSource, Protocol):
    """A source that can say who may read its pages without giving them, while ``live``."""

    @property
    def live(self) -> bool: ...

    def readers(self) -> Iterator[tuple[str, tuple[Clause, ...] | None] | PageFailure]:
        """(page id, readers) of every page. SourceNotWhole, before the first, when it cannot name them all."""
        ...


def compare_rights(source: RightsSource, *, writer: Writer, settings: Settings) -> Ledger:
    """Give every indexed page the readers that the wiki names now; the caller commits.

    A page that the wiki does not list any more is closed at once; removing it is for the full comparison.
    A page that could not be asked for stays as it is, and is told.
    """
    begun, started = time.monotonic(), datetime.now(UTC)
    writer.claim(source.name)
    last = next((run for run in writer.freshness() if run.source == source.name), None)
    stored = writer.access(source.name)
    ledger, told = Ledger(source=source.name), dict[str, tuple[Clause, ...]]()
    for item in source.readers():
        if isinstance(item, PageFailure):
            ledger = ledger.with_failure(item)
            continue
        told[item[0]] = known_readers(item[1], source.kind, settings.access)
    left_alone = {failure.ref.id for failure in ledger.failures}
    pages = sum(INSIDE_PAGE not in page_id for page_id in stored)
    refuse_shrinking(source.name, pages, len(told) + len(left_alone), settings.sync.shrink)
    for page_id, key in stored.items():
        readers = told.get(whole_page(page_id), NOBODY)
        if whole_page(page_id) not in left_alone and acl_key(readers) != key:
            writer.update_access(source.name, page_id, acl_key(readers), readers)
            ledger = ledger.add(indexed=1)
    if last is not None and not ledger.failed:
        writer.finish(dataclasses.replace(last, rights=started.isoformat(timespec="seconds")))
    logger.info("%s: rights of %d pages compared, %d changed", source.name, len(told), ledger.indexed)
    return ledger.add(
        expected=len(told) + len(left_alone),
        read=len(told),
        unchanged=len(stored) - ledger.indexed - len(left_alone & set(stored)),
        chunks=writer.count(source.name),
        seconds=time.monotonic() - begun,
    )


def run_rights(sources: list[RightsSource], configuration: Configuration) -> list[Ledger]:
    """Over an index that is there. No model is loaded: what is written does not depend on one.

    SourceError at the end, when the others are done and visible, for wikis that could not be asked.
    """
    settings = configuration.settings
    reader = open_reader(settings.store)
    try:
        fingerprint = reader.fingerprint()
    finally:
        reader.close()
    if not fingerprint or not sources:
        return []
    ledgers: list[Ledger] = []
    broken: list[str] = []
    writer = open_writer(settings.store, fingerprint)
    try:
        for source in sources:
            try:
                ledgers.append(compare_rights(source, writer=writer, settings=settings))
            except SourceError as error:
                broken.append(f"Page rights could not be compared: {error}")
        writer.commit()
    finally:
        writer.close()
    if broken:
        raise SourceError(" ".join(broken))
    return ledgers
