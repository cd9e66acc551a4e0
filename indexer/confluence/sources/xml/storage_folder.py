"""Source kind ``xml`` over files that each hold one body in storage format, without ``entities.xml`` around them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from askwiki.configuration import Configuration
from askwiki.data import Loss, Page
from indexer.confluence.page import convert
from indexer.confluence.parse.html_tree import decode
from indexer.confluence.parse.links import Context
from indexer.confluence.parse.storage import parse_storage
from indexer.confluence.sources.archive import Archive, open_archive
from indexer.confluence.sources.html_export import HtmlExport
from indexer.confluence.sources.xml.export import FILE, XmlExport
from indexer.sources import PageFailure, PageRef, PageSource, not_whole

DESCRIPTOR = "exportDescriptor.properties"  # beside entities.xml in every export
JOINED = "+html:"
WHAT = "the XML export of a space, or a folder of bodies in storage format"


def open_xml(path: str, configuration: Configuration) -> PageSource:
    """The export when there is an ``entities.xml``, else the bodies in the folder or zip.

    ``xml:A.zip+html:B.zip`` joins both exports of a space: sources, labels and rights from the first,
    reports, includes and names of people as the second shows them.
    """
    stored, joined, viewed = path.partition(JOINED)
    if joined:
        return XmlExport(stored, configuration, HtmlExport(viewed, configuration), name=path)
    place = Path(path)
    if place.is_file() and place.suffix.lower() != ".zip":
        return XmlExport(path, configuration)
    archive = open_archive(path, what=WHAT)
    names = [name for name in archive.names if name.lower().endswith(".xml")]
    described = any(posixpath.basename(name) == DESCRIPTOR for name in archive.names)
    if described and not any(posixpath.basename(name) == FILE for name in archive.names):
        raise not_whole(path, [f"it holds {DESCRIPTOR}, but not {FILE}"])
    if names and not any(posixpath.basename(name) == FILE for name in names):
        return StorageFolder(path, archive, names, configuration)
    return XmlExport(path, configuration, archive=archive)


class StorageFolder:
    """Every ``.xml`` is a page; its id is its path, its title the file's name. Readers are unknown."""

    kind = "xml"

    def __init__(self, path: str, archive: Archive, names: list[str], configuration: Configuration) -> None:
        self.name = f"xml:{path}"
        self.losses = archive.losses
        self._archive = archive
        self._names = names
        self._base = configuration.settings.wiki.url.rstrip("/")

    def expected(self) -> list[PageRef]:
        return [PageRef(name, _title(name)) for name in self._names]

    def pages(self) -> Iterator[Page | PageFailure]:
        for name in self._names:
            try:
                yield self._page(name)
            except (etree.LxmlError, OSError, ValueError, RecursionError) as error:
                yield PageFailure(PageRef(name, _title(name)), f"cannot be converted: {type(error).__name__}: {error}")

    def _page(self, name: str) -> Page:
        text, broken = decode(self._archive.read(name))
        lost = (Loss("encoding", name, broken, "characters that could not be decoded"),) if broken else ()
        tree, mended = parse_storage(text)
        converted = convert(tree, Context(self._base, title=_title(name)))
        return Page(
            id=name,
            space="",
            title=_title(name),
            path=tuple(posixpath.dirname(name).split("/")) if "/" in name else (),
            url="",
            markdown=converted.markdown,
            losses=(*lost, *mended, *converted.losses),
            counts=converted.counts,
            dropped=converted.dropped,
        )


def _title(name: str) -> str:
    return posixpath.splitext(posixpath.basename(name))[0]
