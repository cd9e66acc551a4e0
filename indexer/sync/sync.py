"""Brings the index to what a source holds: everything, only what changed since, or nothing to do at all."""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol, runtime_checkable

from askwiki.data import INSIDE_PAGE, Page
from askwiki.store.port import Freshness
from indexer.sources import PageFailure, PageSource
from indexer.sync.apply import SyncPass
from indexer.sync.ledger import Ledger
from indexer.sync.plan import refuse_shrinking
from indexer.sync.tools import Tools

OVERLAP = timedelta(minutes=10)  # asked for again: clocks differ, and some wikis search by whole minutes

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rules:
    """What was asked for. ``digest``: see ``digest.run_digest``, empty = always read everything."""

    limit: int = 0  # pages; 0 = all
    allow_shrink: bool = False
    digest: str = ""
    between: float = 0.0  # seconds between full comparisons of a live source; 0 = always compare fully


@runtime_checkable
class LiveSource(PageSource, Protocol):
    """A source that can be asked only for what changed, while ``live``."""

    @property
    def live(self) -> bool: ...

    def changed(self, since: datetime) -> Iterator[Page | PageFailure]:
        """Pages created or edited since then. Moves, deletions and restrictions need not be among them."""
        ...


@runtime_checkable
class AskableSource(PageSource, Protocol):
    """A source that can be asked for a single page."""

    def confirm_gone(self, page_ids: Sequence[str]) -> None:
        """SourceNotWhole when one of these, which its listing does not name, is there all the same."""
        ...


Progress = Callable[[int, int], None]  # pages done, pages expected


def sync(source: PageSource, rules: Rules, *, using: Tools, progress: Progress = lambda done, total: None) -> Ledger:
    """The ledger of the run. The caller commits: what is written is not visible before."""
    begun, started = time.monotonic(), datetime.now(UTC)
    using.writer.claim(source.name)
    last = next((run for run in using.writer.freshness() if run.source == source.name), None)
    since = _since(source, last, rules, started)
    if last is not None and rules.digest and rules.digest == last.digest and not rules.limit:
        ledger = Ledger.unchanged_since(last.report)
    elif isinstance(source, LiveSource) and since is not None:
        ledger = _changes(source, since, using, progress)
    else:
        ledger = _everything(source, rules, using, progress)
    chunks = using.writer.count(source.name)
    ledger = dataclasses.replace(ledger, chunks=chunks, seconds=time.monotonic() - begun)
    if not rules.limit and ledger.exit_code == 0:
        using.writer.finish(_remembered(ledger, started, last if since else None, rules.digest, using))
    logger.info("%s: %d pages read, %d indexed, %.1f s", source.name, ledger.read, ledger.indexed, ledger.seconds)
    return ledger


def _everything(source: PageSource, rules: Rules, using: Tools, progress: Progress) -> Ledger:
    """Compare all pages of the source with all that is stored of it."""
    expected = source.expected()
    with closing(SyncPass(source, using.writer.pages(source.name), using)) as run:
        if not rules.allow_shrink:
            stored = sum(INSIDE_PAGE not in page_id for page_id in run.stored)
            refuse_shrinking(source.name, stored, len(expected), using.settings.sync.shrink)
        total = min(len(expected), rules.limit or len(expected))
        for number, item in enumerate(source.pages(), start=1):
            run.take(item)
            progress(number, total)
            if number == rules.limit:
                break
        run.write_all()
        if not rules.limit:
            departed = run.departed(expected)
            if isinstance(source, AskableSource):
                source.confirm_gone(departed)
            run.remove(departed)
        return run.finished(expected, complete=not rules.limit)


def _changes(source: LiveSource, since: datetime, using: Tools, progress: Progress) -> Ledger:
    """Only what the source says has changed; nothing is removed."""
    with closing(SyncPass(source, using.writer.pages(source.name), using)) as run:
        for number, item in enumerate(source.changed(since), start=1):
            run.take(item)
            progress(number, number)
        run.write_all()
        ledger = run.finished([], complete=False)
    return ledger.add(expected=ledger.read + ledger.failed).with_note(
        f"Only pages changed since {_written(since)} were asked for."
    )


def _since(source: PageSource, last: Freshness | None, rules: Rules, now: datetime) -> datetime | None:
    """From when on a live source is asked for changes, None when a full comparison is due."""
    if last is None or not last.reconciled or not isinstance(source, LiveSource) or not source.live:
        return None
    try:
        compared, begun = (datetime.fromisoformat(moment) for moment in (last.reconciled, last.started))
        ahead = max(compared, begun) > now  # stamped by a clock that was wrong: nothing can be said of what came since
    except (ValueError, TypeError):
        return None
    return begun - OVERLAP if not ahead and now < compared + timedelta(seconds=rules.between) else None


def _remembered(ledger: Ledger, started: datetime, last: Freshness | None, digest: str, using: Tools) -> Freshness:
    """``last`` is the run before when only changes were asked for."""
    incomplete = using.desk.counters.counts().get("incomplete")
    return Freshness(
        source=ledger.source,
        started=_written(started),
        pages=len(using.writer.pages(ledger.source)),
        chunks=ledger.chunks,
        reconciled=last.reconciled if last else _written(started),
        rights=last.rights if last else _written(started),
        digest="" if incomplete else digest,
        report=ledger.to_json(),
    )


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
