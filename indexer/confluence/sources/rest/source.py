"""Source kind ``rest``: the live wiki, or a folder of what its API answered.

A page's forms are joined: storage format for sources of macros, the rendered view for what storage
only refers to (includes, reports), restrictions of the page and of every ancestor for rights.
"""

from __future__ import annotations

import dataclasses
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path

from lxml import etree
from lxml.etree import _Element

from askwiki.access.rights import not_told
from askwiki.configuration import Configuration
from askwiki.data import Attachment, Clause, Comment, Loss, Page
from askwiki.errors import SourceError, SourceNotWhole
from indexer.confluence.page import convert
from indexer.confluence.parse.adf_json import parse_adf
from indexer.confluence.parse.html_tree import parse_fragment
from indexer.confluence.parse.links import Context, Included, Listed, NoSurroundings, attachment_url
from indexer.confluence.parse.storage import parse_storage
from indexer.confluence.parse.text import clean
from indexer.confluence.rendered.pieces import RenderedMacros
from indexer.confluence.sources.listing import PageIndex
from indexer.confluence.sources.rest.folder import FolderRecords
from indexer.confluence.sources.rest.live import LiveRecords
from indexer.confluence.sources.rest.record import (
    BLOG_POST,
    Record,
    RecordFacts,
    attachments_of,
    base_of,
    bodies_of,
    comments_of,
    file_names,
    has_attachments,
    written_by,
)
from indexer.confluence.sources.rest.records import Records
from indexer.confluence.sources.rest.tree import RestTree
from indexer.sources import PageFailure, PageRef

KEY = re.compile(r"[0-9a-f]{20,}|\d+:[0-9a-f-]{20,}", re.IGNORECASE)  # of an account, not to be shown
MOST_SHOWN = 5  # faults of a source in one sentence
VIEWS = ("export_view", "view", "styled_view", "anonymous_export_view")

logger = logging.getLogger(__name__)


class RestSource(NoSurroundings):
    """Current pages of a wiki (or a part of it) as its API gives them."""

    kind = "rest"

    def __init__(self, path: str, configuration: Configuration, records: Records | None = None) -> None:
        self.name = f"rest:{path}"
        self._base = configuration.settings.wiki.url.rstrip("/")
        self._file_names: tuple[str, dict[str, str]] = ("", {})  # of the page that is being converted
        self._page_files: tuple[str, list[str] | None] = ("", None)  # of the same page; None = not told
        self._archived = configuration.settings.confluence.include_archived
        self._comments = configuration.settings.confluence.comments
        self._blog_posts = configuration.settings.confluence.blog_posts
        local = "://" not in path and Path(path).exists()
        looks_local = local or (
            "=" not in path and ("/" in path or path.endswith((".json", ".zip"))) and "://" not in path
        )
        self._records: Records = records or (FolderRecords(path) if looks_local else LiveRecords(path, configuration))
        self._tree = RestTree(self._records, self._base)
        self._rendered = RenderedMacros(None)
        self._ids: dict[tuple[str, str], str] = {}

    @cached_property
    def _index(self) -> PageIndex:
        self._names()
        return PageIndex(self._records.index.values(), self._readers_of)

    def _readers_of(self, page_id: str) -> tuple[Clause, ...] | None:
        """None when nothing is known, and so of a page that the wiki does not give."""
        listed = self._records.index.get(page_id)
        facts = self._tree.fetch(page_id, listed.content if listed else "")
        return self._tree.readers(facts) if facts else (Clause(),)

    @property
    def losses(self) -> tuple[Loss, ...]:
        return tuple(self._records.losses)

    def expected(self) -> list[PageRef]:
        refs = self._names()
        if self._records.faults:
            raise SourceNotWhole(
                f"{self.name} is not whole ({'; '.join(self._records.faults[:MOST_SHOWN])}), so nothing was changed. "
                "Try again later."
            )
        return refs

    def pages(self) -> Iterator[Page | PageFailure]:
        self._names()
        for key in sorted({*self._records.keys.values()} - {""}):
            self._tree.readers_of_space(key, "")  # a space that does not answer is told before the first page
        yield from self._converted(self._records.all())

    @property
    def live(self) -> bool:
        """Whether the wiki itself is asked, so that it can be asked for changes only."""
        return isinstance(self._records, LiveRecords)

    def changed(self, since: datetime) -> Iterator[Page | PageFailure]:
        """Pages created or edited since then; moves, deletions and restrictions are found by ``pages`` only."""
        if isinstance(self._records, LiveRecords):
            yield from self._converted(self._records.changed(since))

    def confirm_gone(self, page_ids: Sequence[str]) -> None:
        """A live wiki is asked for each: a listing may leave out pages that nothing else shows to be missing."""
        if isinstance(self._records, LiveRecords) and (lost := self._records.still_there(page_ids)):
            raise SourceNotWhole(
                f"{self.name} lists {len(lost)} pages no more that it still has ({', '.join(lost[:MOST_SHOWN])}), "
                "so none was removed. Try again later."
            )

    def readers(self) -> Iterator[tuple[str, tuple[Clause, ...] | None] | PageFailure]:
        """(page id, readers) of every page of the wiki; SourceNotWhole before the first when not all are listed."""
        if not isinstance(self._records, LiveRecords):
            return
        known = [(ref, self._tree.learn(*found) if found else None) for ref, found in self._records.rights()]
        self.expected()
        for ref, facts in known:
            if facts is None:
                continue
            try:
                yield ref.id, self._tree.readers(facts)
            except SourceNotWhole:
                raise
            except SourceError as error:
                yield PageFailure(ref, f"what it depends on cannot be asked for: {error}")

    def _converted(self, records: Iterable[tuple[Record, str] | PageFailure]) -> Iterator[Page | PageFailure]:
        if not self._ids:
            self._names()
        for found in records:
            if isinstance(found, PageFailure):
                yield found
                continue
            record, base = found
            facts = self._learn(record, base)
            ref = PageRef(facts.id, facts.title)
            if facts.fault:
                yield PageFailure(ref, facts.fault)
                continue
            if facts.status not in ("current", "") and not (facts.status == "archived" and self._archived):
                yield PageFailure(ref, facts.status, skipped=True)
                continue
            if facts.kind == BLOG_POST and not self._blog_posts:
                yield PageFailure(ref, "a blog post, left out by confluence.blog_posts", skipped=True)
                continue
            try:
                yield self._page(facts, record)
            except SourceNotWhole:
                raise
            except SourceError as error:
                yield PageFailure(ref, f"what it depends on cannot be asked for: {error}")
            except (etree.LxmlError, ValueError, TypeError, LookupError, RecursionError, MemoryError) as error:
                logger.exception("The page %s could not be converted.", facts.id)
                yield PageFailure(ref, f"cannot be converted: {type(error).__name__}: {error}")

    def _names(self) -> list[PageRef]:
        """All pages, their titles noted for links and includes."""
        refs = self._records.refs()
        for ref in reversed(refs):
            for key in ("", self._records.keys.get(ref.id, "").casefold()):
                self._ids[key, _folded(ref.title)] = ref.id
        return refs

    # --- what the conversion of a page asks ---

    def page_id(self, space: str, title: str) -> str:
        return self._ids.get((space.casefold(), _folded(title)), "")

    def page_title(self, page_id: str) -> str:
        return self._tree.title(page_id)

    def file_name(self, page_id: str, file: str) -> str:
        owner, names = self._file_names
        return names.get(file, "") if owner == page_id else ""

    def user(self, key: str) -> str:
        return self._records.people.get(key) or self._rendered.people.get(key, "")

    def _called(self, person: str) -> str:
        """A name; a mere key, for which nobody knows the name, is none."""
        return self.user(person) or (person if " " in person or not KEY.fullmatch(person) else "")

    def attachment(self, page_id: str, name: str) -> bytes | None:
        return self._records.attachment(page_id, name)

    def included(self, space: str, title: str, within: Context) -> Included | None:
        page_id = self.page_id(space, title)
        found = self._records.one(page_id) if page_id else self._records.titled(space, title)
        outer = self._tree.fetch(within.page_id)
        if not found or not outer:
            return None
        facts = self._learn(*found)
        inner_readers, outer_readers = self._tree.readers(facts), self._tree.readers(outer)
        if not_told(inner_readers) or not set(inner_readers or ()) <= set(outer_readers or ()):
            return None
        return Included(self._body(bodies_of(found[0]))[0], self._context(facts))

    def below(self, page_id: str, within: str) -> Sequence[Listed] | None:
        return self._index.below(page_id, within)

    def chosen(self, wanted: Callable[[Listed], bool], within: str) -> Sequence[Listed] | None:
        return self._index.chosen(wanted, within)

    def files(self, page_id: str) -> Sequence[str] | None:
        return self._page_files[1] if self._page_files[0] == page_id else None

    def visible(self, page_id: str, within: str) -> bool:
        return self._index.visible(page_id, within)

    def rendered(self, macro: _Element) -> _Element | None:
        return self._rendered.find(macro)

    # --- pages ---

    def _page(self, facts: RecordFacts, record: Record) -> Page:
        bodies = bodies_of(record)
        stored = "storage" in bodies or "atlas_doc_format" in bodies
        view = next((bodies[name] for name in VIEWS if name in bodies), "") if stored else ""
        self._file_names = facts.id, file_names(record)
        base = self._base or base_of(facts.url)
        attachments = tuple(
            dataclasses.replace(one, file=self._records.place(facts.id, one.name))
            for one in attachments_of(record, base)
        )
        named = {one.name for one in attachments}
        attachments += tuple(
            Attachment(name, attachment_url(base, facts.id, name), file=self._records.place(facts.id, name))
            for name in self._records.files(facts.id)
            if name not in named
        )
        self._page_files = facts.id, [one.name for one in attachments] if has_attachments(record) else None
        tree, losses = self._body(bodies)
        self._rendered = RenderedMacros(parse_fragment(view) if view else None, tree)
        converted = convert(tree, self._context(facts))
        readers = self._tree.readers(facts)
        if not_told(readers):
            losses += (
                Loss("rights", "readers", detail="restrictions of the page, an ancestor or the space are not known"),
            )
        elif Clause() in (readers or ()):
            losses += (Loss("rights", "readers", detail="a restriction names nobody that can be read"),)
        return Page(
            id=facts.id,
            space=facts.space,
            title=clean(facts.title),
            path=self._tree.path(facts),
            url=facts.url,
            markdown=converted.markdown,
            updated=facts.updated,
            version=facts.version,
            labels=facts.labels,
            readers=readers,
            attachments=attachments,
            losses=losses + converted.losses,
            counts=converted.counts,
            dropped=converted.dropped,
            content="blogpost" if facts.kind == BLOG_POST else "page",
            author=self._called(facts.author),
            editor=self._called(facts.editor),
            owner=self._called(facts.owner),
            comments=tuple(self._said(facts, record)) if self._comments else (),
            state="archived" if facts.status == "archived" else "",
        )

    def _said(self, facts: RecordFacts, record: Record) -> Iterator[Comment]:
        """The comments of a page, those in the answer of the page itself first."""
        for comment in (*comments_of(record), *self._records.comments(facts.id)):
            if comment.get("status", "current") == "current":
                who, when = written_by(comment)
                tree, _ = self._body(bodies_of(comment))
                yield Comment(self._called(who), when, convert(tree, self._context(facts)).markdown)

    def _body(self, bodies: dict[str, str]) -> tuple[_Element, tuple[Loss, ...]]:
        """The form that holds most: storage, then the Cloud editor's, then what the wiki renders."""
        if "storage" in bodies:
            return parse_storage(bodies["storage"])
        if "atlas_doc_format" in bodies:
            try:
                return parse_adf(bodies["atlas_doc_format"]), ()
            except (ValueError, RecursionError, TypeError, AttributeError):
                return etree.Element("body"), (Loss("body", "atlas_doc_format", detail="no document that can be read"),)
        view = next((bodies[name] for name in VIEWS if name in bodies), "")
        losses = (Loss("body", "storage", detail="only a rendered view: sources of macros are lost"),) if view else ()
        return parse_fragment(view), losses

    def _context(self, facts: RecordFacts) -> Context:
        return Context(self._base or base_of(facts.url), facts.id, facts.space, clean(facts.title), facts.url, self)

    def _learn(self, record: Record, base: str) -> RecordFacts:
        facts = self._tree.learn(record, base or self._base)
        self._ids[facts.space.casefold(), _folded(facts.title)] = facts.id
        return facts


def _folded(title: str) -> str:
    return clean(title).strip().casefold()
