"""Source kind ``xml``: the XML space export (zip, folder or ``entities.xml`` itself).

The only form of export that holds sources of macros, labels and view restrictions together.
"""

from __future__ import annotations

import mimetypes
import posixpath
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from lxml import etree
from lxml.etree import _Element

from askwiki.access.rights import not_told
from askwiki.configuration import Configuration
from askwiki.data import Attachment, Comment, Loss, Page
from askwiki.errors import SourceError
from indexer.confluence.page import convert
from indexer.confluence.parse.dates import iso_stamp
from indexer.confluence.parse.links import Context, Included, Listed, NoSurroundings, attachment_url, page_url
from indexer.confluence.parse.storage import parse_storage
from indexer.confluence.parse.text import clean
from indexer.confluence.parse.wiki_markup import parse_wiki_markup
from indexer.confluence.rendered.pieces import RenderedMacros
from indexer.confluence.sources.archive import UNREADABLE, Archive, open_archive
from indexer.confluence.sources.html_export import HtmlExport
from indexer.confluence.sources.listing import LAST, PageIndex
from indexer.confluence.sources.xml.faults import CONTAINERS
from indexer.confluence.sources.xml.rights import ExportRights
from indexer.confluence.sources.xml.space import MACHINE, MARKUP, CommentFacts, FileFacts, PageFacts, Space, read_space
from indexer.confluence.sources.xml.whole import lost
from indexer.sources import PageFailure, PageRef, not_whole

FILE = "entities.xml"
ALIVE = ("current", "archived")  # states of pages
GONE = ("deleted", "trashed", "draft", "historical")


class XmlExport(NoSurroundings):
    """Current pages of an XML export in the order of the page tree."""

    kind = "xml"

    def __init__(
        self, path: str, configuration: Configuration, view: HtmlExport | None = None, name: str = "",
        archive: Archive | None = None,
    ) -> None:  # fmt: skip
        """``view`` = the HTML export of the same space, for what only rendering shows; ``archive`` = opened already."""
        self.name = f"xml:{name or path}"
        self._view = view
        self._rendered = RenderedMacros(None)
        self._base = configuration.settings.wiki.url.rstrip("/")
        self._archived = configuration.settings.confluence.include_archived
        self._blog_posts = configuration.settings.confluence.blog_posts
        what = "the XML export of a space (a zip, a folder or entities.xml)"
        self._archive = archive or open_archive(path, what=what, single=lambda file: file.suffix.lower() == ".xml")
        entities = _entities_name(self._archive.names, path, what)
        self._root = posixpath.dirname(entities)
        try:
            with self._archive.open(entities) as file:
                self._space: Space = read_space(file, comments=configuration.settings.confluence.comments)
        except UNREADABLE as error:
            raise not_whole(path, [f"{entities} cannot be read to its end ({error})"]) from error
        if faults := list(lost(self._space)):
            raise not_whole(path, faults)
        self.named = frozenset(self._space.named - self._space.contents)
        self._rights = ExportRights(self._space)
        self.losses = (*self._archive.losses, *(Loss("markup", FILE, detail=fault) for fault in self._space.faults))
        self._order = self._tree()
        self._by_title = {self._title_key(self._key(page), page.title): page.id for page in reversed(self._order)}
        self._comments: dict[str, list[CommentFacts]] = defaultdict(list)
        for comment in self._space.comments:
            self._comments[comment.page].append(comment)
        self._files: dict[str, list[FileFacts]] = defaultdict(list)
        for file_facts in self._space.files:
            self._files[file_facts.owner].append(file_facts)

    def expected(self) -> list[PageRef]:
        return [PageRef(page.id, page.title) for page in self._order if self._rule(page) is None]

    def pages(self) -> Iterator[Page | PageFailure]:
        for page in self._order:
            ref = PageRef(page.id, page.title)
            if reason := self._rule(page):
                yield PageFailure(ref, reason, skipped=True)
                continue
            if reason := self._fault(page):
                yield PageFailure(ref, reason)
                continue
            try:
                yield self._page(page)
            except (etree.LxmlError, ValueError, RecursionError, MemoryError, OSError) as error:
                yield PageFailure(ref, f"cannot be converted: {type(error).__name__}: {error}")

    # --- what the conversion of a page asks ---

    def page_id(self, space: str, title: str) -> str:
        return self._by_title.get(self._title_key(space, title), "")

    def page_title(self, page_id: str) -> str:
        page = self._space.pages.get(page_id)
        return page.title if page else ""

    def user(self, key: str) -> str:
        login, _, full = self._space.users.get(key, (key, "", ""))
        known = key in self._space.users or key.lower() in self._space.people
        named = full or self._space.people.get(login.lower(), ("", ""))[1] or self._rendered.people.get(login, "")
        named = named or self._space.owners.get(login.lower(), "")
        return named or (login if known else "")

    def attachment(self, page_id: str, name: str) -> bytes | None:
        wanted = unicodedata.normalize("NFC", name)
        for file in self._files.get(page_id, ()):
            place = self._entry(file)
            if unicodedata.normalize("NFC", file.name) == wanted and place in self._archive.names:
                return self._archive.read(place)
        return None

    def included(self, space: str, title: str, within: Context) -> Included | None:
        page_id = self.page_id(space, title)
        inner, outer = (self._rights.readers(identity) if identity else None for identity in (page_id, within.page_id))
        if not_told(inner) or not_told(outer) or not set(inner or ()) <= set(outer or ()):
            return None
        page = self._space.pages[page_id]
        body, kind = self._space.body(page_id)
        tree = parse_wiki_markup(body) if kind == MARKUP else parse_storage(body)[0]
        return Included(tree, self._context(page))

    def below(self, page_id: str, within: str) -> Sequence[Listed] | None:
        return self._index.below(page_id, within)

    def chosen(self, wanted: Callable[[Listed], bool], within: str) -> Sequence[Listed] | None:
        return self._index.chosen(wanted, within)

    def files(self, page_id: str) -> Sequence[str] | None:
        return [clean(file.name) for file in self._files.get(page_id, ())]

    def visible(self, page_id: str, within: str) -> bool:
        return page_id in self._space.pages and self._index.visible(page_id, within)

    @cached_property
    def _index(self) -> PageIndex:
        shown = (page for page in self._order if self._rule(page) is None)
        return PageIndex((self._listed(page) for page in shown), self._rights.readers)

    def _listed(self, page: PageFacts) -> Listed:
        return Listed(
            id=page.id,
            title=page.title,
            space=self._key(page),
            parent=page.parent,
            labels=self._labels(page.id),
            content="blogpost" if page.kind == "BlogPost" else "page",
            updated=page.updated,
            position=page.position,
            url=self._url(page.id),
        )

    def rendered(self, macro: _Element) -> _Element | None:
        return self._rendered.find(macro)

    # --- pages ---

    def _page(self, page: PageFacts) -> Page:
        body, kind = self._space.body(page.id)
        losses: tuple[Loss, ...] = ()
        if kind == MACHINE:
            losses, body = (Loss("body", page.title, detail="in a machine's own form, not converted"),), ""
        if kind == MARKUP or (not kind and not _has_tags(body)):
            tree = parse_wiki_markup(body)
        else:
            tree, broken = parse_storage(body)
            losses += broken
        self._rendered = RenderedMacros(self._view.body_of(page.id) if self._view else None, tree)
        converted = convert(tree, self._context(page))
        return Page(
            id=page.id,
            space=self._key(page),
            title=clean(page.title),
            path=self._path(page),
            url=self._url(page.id),
            markdown=converted.markdown,
            updated=iso_stamp(page.updated),
            version=page.version,
            labels=self._labels(page.id),
            readers=self._rights.readers(page.id),
            attachments=tuple(self._attachment(file) for file in self._files.get(page.id, ())),
            losses=(*losses, *self._rights.losses(page.id), *converted.losses),
            counts=converted.counts,
            dropped=converted.dropped,
            content="blogpost" if page.kind == "BlogPost" else "page",
            author=self.user(page.author),
            editor=self.user(page.editor),
            owner=self.user(page.owner),
            comments=tuple(self._said(page)),
            state="archived" if page.status == "archived" or page.space in self._space.archived else "",
        )

    def _said(self, page: PageFacts) -> Iterator[Comment]:
        for comment in self._comments.get(page.id, ()):
            body, kind = self._space.body(comment.id)
            tree = parse_wiki_markup(body) if kind == MARKUP else parse_storage(body)[0]
            text = convert(tree, self._context(page)).markdown
            yield Comment(self.user(comment.author), iso_stamp(comment.updated), text)

    def _context(self, page: PageFacts) -> Context:
        return Context(self._base, page.id, self._key(page), clean(page.title), self._url(page.id), self)

    def _url(self, page_id: str) -> str:
        return page_url(self._base, page_id) if self._base else ""

    def _key(self, page: PageFacts) -> str:
        return self._space.names.get(page.space, ("", ""))[0]

    def _path(self, page: PageFacts) -> tuple[str, ...]:
        """Titles of the ancestors that are here, root first; a circle is cut."""
        titles: list[str] = []
        seen = {page.id}
        above = self._space.pages.get(page.parent)
        while above is not None and above.id not in seen:
            seen.add(above.id)
            titles.append(clean(above.title))
            above = self._space.pages.get(above.parent)
        return tuple(reversed(titles))

    def _labels(self, page_id: str) -> tuple[str, ...]:
        """Global labels; ``my`` and ``team`` ones are private marks."""
        found = (self._space.labels.get(label, ("", "")) for label in self._space.labellings.get(page_id, ()))
        return tuple(dict.fromkeys(name for name, namespace in found if name and namespace in ("global", "")))

    def _attachment(self, file: FileFacts) -> Attachment:
        kind = file.media_type or self._space.media_types.get(file.id, "") or mimetypes.guess_type(file.name)[0] or ""
        url = attachment_url(self._base, file.owner, file.name) if self._base else ""
        return Attachment(clean(file.name), url, kind, self._archive.place(self._entry(file)))

    def _entry(self, file: FileFacts) -> str:
        return posixpath.join(self._root, "attachments", file.owner, file.id, file.version)

    def _rule(self, page: PageFacts) -> str | None:
        """Why a page is left out by rule, None when it is not."""
        if page.kind == "BlogPost" and not self._blog_posts:
            return "a blog post, left out by confluence.blog_posts"
        archived = page.status == "archived" or page.space in self._space.archived
        return "archived" if archived and not self._archived else None

    def _fault(self, page: PageFacts) -> str:
        """Why a page must not replace what is known of it, "" when it may."""
        if page.status not in ALIVE:
            return f"has the state {page.status!r}, which is not known"
        return "" if self._space.has_body(page.id) else "the export names its text, but does not hold it"

    def _tree(self) -> list[PageFacts]:
        """Current (and archived) pages, depth first; the home page leads, positions before titles."""
        alive = {page.id: page for page in self._space.pages.values() if page.status not in GONE}
        children: dict[str, list[PageFacts]] = defaultdict(list)
        for page in alive.values():
            children[page.parent if page.parent in alive else ""].append(page)
        for group in children.values():
            group.sort(
                key=lambda page: (
                    page.id not in self._space.homes,
                    LAST if page.position is None else page.position,
                    page.title,
                )
            )
        order: list[PageFacts] = []
        waiting = list(reversed(children[""]))
        while waiting:
            page = waiting.pop()
            order.append(page)
            waiting += reversed(children.get(page.id, []))
        circular = alive.keys() - {page.id for page in order}
        order += sorted((alive[identity] for identity in circular), key=lambda page: page.title)
        return [page for page in order if page.kind not in CONTAINERS]

    def _title_key(self, space: str, title: str) -> tuple[str, str]:
        return space.casefold(), clean(title).strip().casefold()


def _has_tags(body: str) -> bool:
    return "</" in body or "/>" in body


def _entities_name(names: list[str], path: str, what: str) -> str:
    found = [name for name in names if posixpath.basename(name) == FILE]
    if not found and Path(path).is_file() and len(names) == 1 and names[0].lower().endswith(".xml"):
        found = names
    if not found:
        raise SourceError(f"{path} holds no {FILE}; give the path of {what}.")
    return min(found, key=lambda name: name.count("/"))
