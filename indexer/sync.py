"""Brings the index to what a source holds: reads, compares, writes what changed, removes what is gone.

Every page is written whole or not at all, its hash last, so a run that was killed is simply repeated:
the next one finds the old hash and does the page again.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from askwiki.access import acl_key, known_readers, unknown_policy
from askwiki.data import Chunk, Clause, Page
from askwiki.errors import PageError
from askwiki.settings import Settings
from askwiki.store.fingerprint import CHUNKER
from askwiki.store.port import Freshness, PageState, Writer
from indexer.ledger import Ledger
from indexer.plan import change_of, embedded_hash, gone, page_hash, refuse_shrinking
from indexer.prepare import Preparation, prepare_page
from indexer.sources import PageFailure, PageRef, Source
from indexer.tally import Tally
from indexer.vectors import Encoders, make_points

TOGETHER = 64  # chunks of changed pages that are embedded together
INCOMPLETE = " incomplete"  # behind the hash of a page that a model could not fully describe: done again next time

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tools:
    """What a sync works with."""

    settings: Settings
    preparation: Preparation
    encoders: Encoders
    writer: Writer


@dataclass(frozen=True, slots=True)
class Rules:
    """What the person asked for. ``digest``: see ``digest.run_digest``, empty = always read everything."""

    limit: int = 0  # pages; 0 = all
    allow_shrink: bool = False
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """A changed page on its way: ready to be embedded and written."""

    state: PageState
    chunks: list[Chunk]
    readers: tuple[Clause, ...]
    payload_only: bool


Progress = Callable[[int, int], None]  # pages done, pages expected


def sync(source: Source, rules: Rules, *, using: Tools, progress: Progress = lambda done, total: None) -> Ledger:
    """The ledger of the run. The caller commits: what is written is not visible before."""
    begun, started = time.monotonic(), _now()
    writer = using.writer
    last = next((run for run in writer.freshness() if run.source == source.name), None)
    if last is not None and rules.digest and rules.digest == last.digest and not rules.limit:
        ledger = Ledger.unchanged_since(last.report)
    else:
        ledger = _run(source, rules, using, progress)
    ledger = dataclasses.replace(ledger, chunks=writer.count(source.name), seconds=time.monotonic() - begun)
    if not rules.limit and ledger.exit_code == 0:
        complete = not using.preparation.desk.tally.counts().get("incomplete")
        digest = rules.digest if complete else ""
        writer.finish(Freshness(source.name, started, ledger.read, ledger.chunks, started, digest, ledger.to_json()))
    logger.info("%s: %d pages read, %d indexed, %.1f s", source.name, ledger.read, ledger.indexed, ledger.seconds)
    return ledger


def _run(source: Source, rules: Rules, using: Tools, progress: Progress) -> Ledger:
    expected = source.expected()
    stored = using.writer.pages(source.name)
    if not rules.allow_shrink:
        names = [ref.id for ref in expected]
        refuse_shrinking(source.name, list(stored), names, using.settings.sync.shrink)
    run = _Run(source, stored, using)
    total = min(len(expected), rules.limit) if rules.limit else len(expected)
    for number, item in enumerate(source.pages(), start=1):
        run.take(item)
        progress(number, total)
        if rules.limit and number >= rules.limit:
            break
    run.write_waiting()
    if not rules.limit:
        run.remove_gone(expected)
    return run.finished(expected, complete=not rules.limit)


class _Run:
    """One pass over a source: the ledger so far, and changed pages waiting to be embedded together."""

    def __init__(self, source: Source, stored: dict[str, str], using: Tools) -> None:
        self._source = source
        self._stored = stored
        self._using = using
        self._recipe = recipe(using.settings)
        self._ledger = Ledger(source=source.name)
        self._arrived: dict[str, bool] = {}  # page id -> left out by rule
        self._waiting: list[Change] = []
        self._hidden = 0  # pages whose readers the source does not say, closed by the settings

    def take(self, item: Page | PageFailure) -> None:
        reference = item.ref.id if isinstance(item, PageFailure) else item.id
        if reference in self._arrived:
            self._ledger = self._ledger.add(collisions=1)
            return
        self._arrived[reference] = isinstance(item, PageFailure) and item.skipped
        if isinstance(item, PageFailure):
            self._ledger = self._ledger.with_failure(item)
            return
        self._ledger = self._ledger.with_page(item)
        readers = known_readers(item.readers, self._source.kind, self._using.settings.access)
        self._hidden += (
            item.readers is None and unknown_policy(self._source.kind, self._using.settings.access) == "closed"
        )
        acl = acl_key(readers)
        mark = page_hash(item, acl, self._recipe)
        if self._stored.get(item.id) == mark:
            self._ledger = self._ledger.add(unchanged=1)
            return
        self._prepare(item, acl, mark, readers)

    def write_waiting(self) -> None:
        """Embed what is new of the waiting pages in one go, then write page by page."""
        new = [chunk for change in self._waiting if not change.payload_only for chunk in change.chunks]
        points = iter(make_points(new, using=self._using.encoders))
        name, writer = self._source.name, self._using.writer
        for change in self._waiting:
            if change.payload_only:
                writer.update_payload(name, change.state, change.chunks, change.readers)
            else:
                writer.replace_page(name, change.state, [next(points) for _ in change.chunks], change.readers)
            self._ledger = self._ledger.add(indexed=1)
        self._waiting = []

    def remove_gone(self, expected: list[PageRef]) -> None:
        skipped = [name for name, left_out in self._arrived.items() if left_out]
        for page_id in gone(self._stored, [ref.id for ref in expected], self._arrived, skipped):
            self._using.writer.remove_page(self._source.name, page_id)
            self._ledger = self._ledger.add(removed=1)

    def finished(self, expected: list[PageRef], *, complete: bool) -> Ledger:
        tally = self._using.preparation.desk.tally
        ledger = dataclasses.replace(self._ledger, expected=len(expected))
        if complete:
            ledger = ledger.with_missing(expected, list(self._arrived))
        for sentence in self._notes():
            ledger = ledger.with_note(sentence)
        return ledger.add(model_calls=tally.model_calls, truncated=tally.counts().get("embedding.truncated", 0))

    def _prepare(self, page: Page, acl: str, mark: str, readers: tuple[Clause, ...]) -> None:
        using = self._using
        own = Tally()  # of this page alone: a model that failed on it must not mark the others
        desk = dataclasses.replace(using.preparation.desk, tally=own)
        try:
            _, chunks = prepare_page(page, acl, using=dataclasses.replace(using.preparation, desk=desk))
        except PageError as error:
            failure = PageFailure(PageRef(page.id, page.title), str(error))
            self._ledger = dataclasses.replace(self._ledger.with_failure(failure), read=self._ledger.read - 1)
            return
        failed = any(name.endswith(".fallback") for name in own.counts())
        for name, number in {**own.counts(), "incomplete": int(failed)}.items():
            using.preparation.desk.tally.add(name, number)
        texts = {chunk.id: embedded_hash(chunk, using.encoders.sparse_path) for chunk in chunks}
        state = PageState(page.id, mark + INCOMPLETE if failed else mark, texts)
        stored = using.writer.page(self._source.name, page.id) if page.id in self._stored else None
        self._waiting.append(Change(state, chunks, readers, change_of(stored, texts) == "payload"))
        if sum(len(change.chunks) for change in self._waiting) >= TOGETHER:
            self.write_waiting()

    def _notes(self) -> Iterator[str]:
        kind = self._source.kind
        if self._hidden:
            groups = self._using.settings.access.unknown_groups or "nobody"
            yield (
                f"{self._hidden} pages do not say who may read them; only {groups} will find them. Give their groups "
                f"in access.unknown_groups, or set access.unknown_{kind} to open if everybody may."
            )
        if collisions := self._using.encoders.sparse.collisions():
            yield f"{collisions} words of the indexed pages share their sparse index with another word."


def recipe(settings: Settings) -> str:
    """What turns the same page into other chunks or contexts."""
    return repr((CHUNKER, settings.chunking, settings.context, bool(settings.llm.url)))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
