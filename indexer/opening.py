"""The table of source kinds: ``open_source("html:export.zip", configuration)`` gives a source."""

from __future__ import annotations

from collections.abc import Callable

from askwiki.configuration import Configuration
from askwiki.errors import SourceError
from indexer.sources import PageSource


def open_source(spec: str, configuration: Configuration) -> PageSource:
    """The source that "KIND:PATH" names; SourceError says what is wrong with it."""
    kind, colon, path = spec.partition(":")
    makers = _makers()
    if not colon or kind not in makers:
        allowed = ", ".join(f"{name}:PATH" for name in makers)
        raise SourceError(f"{spec!r} is no source. A source is one of {allowed}.")
    if not path:
        raise SourceError(f"{spec!r} names no path; write it behind the colon, for example {kind}:export.zip.")
    return makers[kind](path, configuration)


def _makers() -> dict[str, Callable[[str, Configuration], PageSource]]:
    """Kind -> what opens it; imported only when a source is opened."""
    from indexer.backstage.catalog import BackstageCatalog
    from indexer.confluence.sources.html_export import HtmlExport
    from indexer.confluence.sources.rest.source import RestSource
    from indexer.confluence.sources.xml.storage_folder import open_xml
    from indexer.markdown.folder import MarkdownFolder

    return {
        "html": HtmlExport,
        "xml": open_xml,
        "rest": RestSource,
        "markdown": MarkdownFolder,
        "backstage": BackstageCatalog,
    }
