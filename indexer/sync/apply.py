"""One pass over a source: every page compared with what is stored of it, changed ones written.

Every page is written whole or not at all, its hash last, so a run that was killed is simply repeated:
the next one finds the old hash and does the page again.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

from askwiki.access.rights import acl_key, known_readers, not_told, unknown_policy
from askwiki.data import INSIDE_PAGE, Chunk, Clause, Page, whole_page
from askwiki.store.port import PageState
from indexer.attachments.documents import Fetch, documents_of
from indexer.enrich.asking import CALLS
from indexer.sources import PageFailure, PageRef, PageSource
from indexer.sync.ledger import Ledger
from indexer.sync.ordered_pool import OrderedPool
from indexer.sync.plan import change_of, embedded_hash, gone, page_hash, recipe_of
from indexer.sync.prepare import Prepared, prepared
from indexer.sync.tools import Tools
from indexer.sync.vectors import make_points

TOGETHER = 32  # chunks of changed pages that are embedded together


@dataclass(frozen=True, slots=True)
class PageChange:
    """A changed page on its way: ready to be embedded and written."""

    state: PageState
    chunks: list[Chunk]
    readers: tuple[Clause, ...]
    payload_only: bool


class SyncPass:
    """One pass over a source: the ledger so far, and changed pages waiting to be embedded together."""

    def __init__(self, source: PageSource, stored: dict[str, str], using: Tools) -> None:
        self.stored = stored  # page id -> hash
        self._source = source
        self._named: frozenset[str] = getattr(source, "named", frozenset())
        self._using = using
        self._recipe = recipe_of(using.settings)
        self._ledger = Ledger(source=source.name)
        self._arrived: dict[str, bool] = {}  # page id -> left out by rule
        self._preparing: OrderedPool[Prepared] = OrderedPool(using.settings.llm.parallel if using.desk.llm else 0)
        self._waiting: list[PageChange] = []
        self._before = using.desk.counters.counts()  # of the sources before this one
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
            not_told(item.readers) and unknown_policy(self._source.kind, self._using.settings.access) == "closed"
        )
        acl = acl_key(readers)
        mark = page_hash(item, acl, self._recipe)
        if self.stored.get(item.id) == mark:
            self._ledger = self._ledger.add(unchanged=1)
            self.take_documents(item, changed=False)
            return
        job = partial(prepared, item, acl, mark, readers, using=self._using)
        for ready in self._preparing.put(job):
            self._plan(ready)
        self.take_documents(item)

    def take_documents(self, page: Page, *, changed: bool = True) -> None:
        """The comments and files of a page, each as a page of its own.

        Of a live wiki files are asked for with a page that changed: another edition of one has another address.
        """
        settings = self._using.settings.attachments
        asked: Fetch | None = getattr(self._source, "attachment", None)
        live = settings.fetch and getattr(self._source, "live", False)
        for document in documents_of(page, settings, asked if live and changed else None):
            self.take(document)
        if live and not changed:
            for page_id in self._parts.get(page.id, ()):
                self._arrived.setdefault(page_id, False)

    @cached_property
    def _parts(self) -> dict[str, list[str]]:
        """Page -> the documents that are stored of it."""
        found: dict[str, list[str]] = defaultdict(list)
        for page_id in self.stored:
            if INSIDE_PAGE in page_id:
                found[whole_page(page_id)].append(page_id)
        return found

    def write_all(self) -> None:
        """Wait for what is being prepared, write it."""
        for ready in self._preparing.rest():
            self._plan(ready)
        self._write_waiting()

    def close(self) -> None:
        self._preparing.close()

    def _write_waiting(self) -> None:
        """Embed what is new of the waiting pages in one go, then write page by page."""
        new = [chunk for change in self._waiting if not change.payload_only for chunk in change.chunks]
        points = iter(make_points(new, using=self._using))
        name, writer = self._source.name, self._using.writer
        for change in self._waiting:
            if change.payload_only:
                writer.update_payload(name, change.state, change.chunks, change.readers)
            else:
                writer.replace_page(name, change.state, [next(points) for _ in change.chunks], change.readers)
            self._ledger = self._ledger.add(indexed=1)
        self._waiting = []

    def departed(self, expected: list[PageRef]) -> list[str]:
        """Ids of stored pages that the source does not hold any more.

        A page that the source names without holding it is a failure, and keeps what is stored.
        """
        for page_id in sorted(self._named & self.stored.keys() - self._arrived.keys()):
            self.take(PageFailure(PageRef(page_id, page_id), "the source names the page, but does not hold it"))
        skipped = [name for name, left_out in self._arrived.items() if left_out]
        return gone(self.stored, [ref.id for ref in expected], self._arrived, skipped)

    def remove(self, page_ids: list[str]) -> None:
        for page_id in page_ids:
            self._using.writer.remove_page(self._source.name, page_id)
            self._ledger = self._ledger.add(removed=1)

    def finished(self, expected: list[PageRef], *, complete: bool) -> Ledger:
        ledger = dataclasses.replace(self._ledger, expected=len(expected))
        if complete:
            ledger = ledger.with_missing(expected, list(self._arrived))
        for sentence in self._notes():
            ledger = ledger.with_note(sentence)
        counted = Counter(self._using.desk.counters.counts())
        counted.subtract(self._before)
        calls = sum(number for name, number in counted.items() if name.endswith(CALLS))
        return ledger.add(
            model_calls=calls,
            truncated=counted["embedding.truncated"],
            sparse_collisions=self._using.sparse.collisions(),
        )

    def _plan(self, ready: Prepared) -> None:
        using, page = self._using, ready.page
        if ready.fault:
            failure = PageFailure(PageRef(page.id, page.title), ready.fault)
            self._ledger = dataclasses.replace(self._ledger.with_failure(failure), read=self._ledger.read - 1)
            return
        counts = ready.counters.counts()
        incomplete = any(name.endswith(".fallback") for name in counts)
        for name, number in {**counts, "incomplete": int(incomplete)}.items():
            using.desk.counters.add(name, number)
        texts = {chunk.id: embedded_hash(chunk, using.settings.sparse.path) for chunk in ready.chunks}
        state = PageState(page.id, "" if incomplete else ready.mark, texts)
        stored = using.writer.page(self._source.name, page.id) if page.id in self.stored else None
        self._waiting.append(PageChange(state, ready.chunks, ready.readers, change_of(stored, texts) == "payload"))
        if sum(len(change.chunks) for change in self._waiting) >= TOGETHER:
            self._write_waiting()

    def _notes(self) -> Iterator[str]:
        kind = self._source.kind
        if self._hidden:
            groups = self._using.settings.access.unknown_groups
            yield (
                f"{self._hidden} pages do not say who may read them, so {f'only {groups}' if groups else 'nobody'} "
                "will find them. Name groups that may (ASKWIKI_ACCESS__UNKNOWN_GROUPS=A,B), or open them to everybody "
                f"(ASKWIKI_ACCESS__UNKNOWN_{kind.upper()}=open), and sync again."
            )
