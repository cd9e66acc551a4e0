"""Source kind ``html``: the HTML space export (zip or folder), Confluence rendered by other exporters,
and plain folders of ``.html``.

With Confluence's own index its tree says which pages there are; without one every ``.html`` file is
a page. Readers are unknown in all of them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

from lxml.etree import _Element

from askwiki.configuration import Configuration
from askwiki.data import Attachment, Comment, Loss, Page
from askwiki.errors import SourceError
from indexer.confluence.page import convert
from indexer.confluence.parse.html_page import HEAD, Index, SiteName, identify, read_html_page, read_index, site_name
from indexer.confluence.parse.html_tree import decode, has_end, is_piece
from indexer.confluence.parse.links import Context, NoSurroundings, attachment_url, page_url
from indexer.confluence.parse.targets import file_page_id
from indexer.confluence.sources.archive import open_archive
from indexer.sources import PageFailure, PageRef, not_whole

BASE_URL = re.compile(rb"data-base-url=[\"'](https?://[^\"']+)[\"']")
ENDINGS = (".html", ".htm")


@dataclass(frozen=True, slots=True)
class Entry:
    """A page before it is read: its file, its id and what the index says of it."""

    file: str
    ref: PageRef
    path: tuple[str, ...] | None
    index: Index | None


class HtmlExport(NoSurroundings):
    """Pages of an HTML export in the order of its tree."""

    kind = "html"

    def __init__(self, path: str, configuration: Configuration) -> None:
        self.name = f"html:{path}"
        self._comments = configuration.settings.confluence.comments
        self._given_base = configuration.settings.wiki.url.rstrip("/")
        what = "the HTML export of a space (a zip or a folder)"
        self._archive = open_archive(path, what=what, single=lambda file: file.suffix.lower() in ENDINGS)
        self._files = [name for name in self._archive.names if name.lower().endswith(ENDINGS)]
        if not self._files:
            raise SourceError(f"{path} holds no .html file; give the path of {what}.")
        self.losses = self._archive.losses
        self._indexes: dict[str, Index] = {}  # folder -> what its index says
        self._entries = self._find()
        self._cut = self._without_end()
        if faults := list(self._faults()):
            raise not_whole(path, faults)
        self._ids = {entry.file: entry.ref.id for entry in self._entries}
        self._titles = {entry.ref.id: entry.ref.title for entry in self._entries}
        self._folder = ""
        self._file_names: dict[str, dict[str, str]] = {}

    def expected(self) -> list[PageRef]:
        return [entry.ref for entry in self._entries]

    def pages(self) -> Iterator[Page | PageFailure]:
        there = set(self._files)
        for entry in self._entries:
            if entry.file not in there:
                yield PageFailure(entry.ref, f"the index names the file {entry.file}, which the export does not hold")
                continue
            if entry.file in self._cut:
                yield PageFailure(entry.ref, f"{entry.file} breaks off before </html>, which the other files have")
                continue
            try:
                yield self._page(entry)
            except (OSError, ValueError, RecursionError, MemoryError) as error:
                yield PageFailure(entry.ref, f"{entry.file} cannot be read: {type(error).__name__}: {error}")

    def body_of(self, page_id: str) -> _Element | None:
        """The rendered body of a page, for a source that has the same page in another form."""
        for entry in self._entries:
            if entry.ref.id == page_id and entry.file in self._files:
                return read_html_page(self._archive.read(entry.file), entry.file).body
        return None

    def page_of(self, href: str) -> str:
        return self._ids.get(posixpath.normpath(posixpath.join(self._folder, href)), "")

    def file_name(self, page_id: str, file: str) -> str:
        """From the list of attachments below the page that has the file, this one or another."""
        if page_id not in self._file_names:
            place = next((entry.file for entry in self._entries if entry.ref.id == page_id), "")
            there = place in self._files
            read = read_html_page(self._archive.read(place), place) if there else None
            self._file_names[page_id] = _file_names(read.attachments) if read else {}
        return self._file_names[page_id].get(file, "")

    def page_title(self, page_id: str) -> str:
        return self._titles.get(page_id, "")

    def visible(self, page_id: str, within: str) -> bool:
        """Readers are unknown of all of them alike."""
        return page_id in self._titles

    @cached_property
    def _site(self) -> SiteName:
        """What an exporter of sites puts before every title; an index of Confluence says it itself."""
        return site_name([self._archive.read(file)[:HEAD] for file in self._files])

    @cached_property
    def _base(self) -> str:
        """The address in the settings, else the one that pictures of some page mention."""
        if self._given_base:
            return self._given_base
        for file in self._files:
            if found := BASE_URL.search(self._archive.read(file)):
                return found[1].decode("ascii", "replace").rstrip("/")
        return ""

    def _page(self, entry: Entry) -> Page:
        index = entry.index
        site = SiteName() if index else self._site
        read = read_html_page(self._archive.read(entry.file), entry.file, index.space_name if index else "", site)
        self._folder = posixpath.dirname(entry.file)
        self._file_names = {entry.ref.id: _file_names(read.attachments)}
        base = self._base
        numbered = entry.ref.id.isdigit()
        url = page_url(base, entry.ref.id) if base and numbered else ""
        space = index.space if index else read.space
        context = Context(base, entry.ref.id if numbered else "", space, read.title, url, self)
        converted = convert(read.body, context)
        encoding = (
            (Loss("encoding", entry.file, read.broken, "characters that could not be decoded"),) if read.broken else ()
        )
        return Page(
            id=entry.ref.id,
            space=space,
            title=read.title,
            path=read.path or entry.path or (),
            url=url,
            markdown=converted.markdown,
            updated=read.updated,
            labels=read.labels,
            readers=None,
            attachments=tuple(self._attachment(file, entry, base) for file in read.attachments),
            losses=(*encoding, *converted.losses),
            counts=converted.counts,
            dropped=converted.dropped,
            comments=tuple(Comment(author, day, convert(body, context).markdown) for author, day, body in read.comments)
            if self._comments
            else (),
            author=read.author,
            editor=read.editor,
        )

    def _attachment(self, found: Attachment, entry: Entry, base: str) -> Attachment:
        inside = unquote(found.url.partition("?")[0])
        place = self._archive.place(posixpath.normpath(posixpath.join(posixpath.dirname(entry.file), inside)))
        url = attachment_url(base, entry.ref.id, found.name) if entry.ref.id.isdigit() else found.url
        return Attachment(found.name, url, found.media_type, place)

    def _find(self) -> list[Entry]:
        """The tree of each index, then files beside it that no index names."""
        entries: dict[str, Entry] = {}
        taken: set[str] = set()
        covered = self._indexes
        for file in self._files:
            if _is_index(file) and (index := read_index(self._archive.read(file))):
                covered[posixpath.dirname(file)] = index
                for target, title, path in index.entries:
                    page = posixpath.normpath(posixpath.join(posixpath.dirname(file), target))
                    if page not in entries and page != file and "://" not in target:
                        entries[page] = Entry(page, PageRef(self._id(page, taken), title), path, index)
        for file in self._files:
            folder = posixpath.dirname(file)
            if file in entries or (folder in covered and _is_index(file)):
                continue
            title = "" if file_page_id(file) else posixpath.splitext(posixpath.basename(file))[0]
            ref = PageRef(self._id(file, taken), title or file)
            entries[file] = Entry(file, ref, None, covered.get(folder))
        return list(entries.values())

    def _without_end(self) -> frozenset[str]:
        """Files that break off: those of a Confluence index without ``</html>``, others when most have it."""
        missing = [file for file in self._files if not has_end(self._archive.read(file))]
        named = {entry.file for entry in self._entries if entry.index}
        others = [file for file in missing if _is_index(file) or not is_piece(self._archive.read(file))]
        return frozenset([*named.intersection(missing), *(others if 2 * len(missing) <= len(self._files) else ())])

    def _faults(self) -> Iterator[str]:
        """An index of Confluence names all pages; its files, and any index, have their end."""
        for entry in self._entries:
            if entry.index and entry.file not in self._files and entry.file.lower().endswith(ENDINGS):
                yield f"the index names the page {entry.file}, which is not there"
        for file in self._cut:
            if posixpath.dirname(file) in self._indexes or _is_index(file):
                yield f"the file {file} breaks off before </html>"

    def _id(self, file: str, taken: set[str]) -> str:
        """Confluence's id; the file name where there is none or another page already has it."""
        found = file_page_id(file)
        if not found and file in self._files:
            found = identify(file, decode(self._archive.read(file))[0])
        identity = found if found and found not in taken else file
        taken.add(identity)
        return identity


def _is_index(file: str) -> bool:
    return posixpath.basename(file).lower() == "index.html"


def _file_names(attachments: tuple[Attachment, ...]) -> dict[str, str]:
    """Last step of the file's path -> the name that people know."""
    return {posixpath.basename(one.url.partition("?")[0]): one.name for one in attachments if one.url}
