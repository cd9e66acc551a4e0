"""What a sync has to do: which pages changed, which chunks, which pages are gone, and whether to dare it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from askwiki.data import Chunk, Page
from askwiki.errors import SourceError
from askwiki.settings import Settings
from askwiki.store.fingerprint import CHUNKER
from askwiki.store.port import PageState
from indexer.chunking.chunks import whole_text
from indexer.chunking.embedded import sparse_text
from indexer.enrich.cache import content_key

Change = Literal["replace", "payload"]

FACTS = ("content", "author", "editor", "owner", "state")
FEW = 2  # pages that may always go: in a small wiki one deleted page is a large share


def page_hash(page: Page, acl: str, recipe: str) -> str:
    """Of everything of a page that reaches the index, and of how it gets there (``recipe``)."""
    pictures = [(item.name, item.url, item.media_type) for item in page.attachments]
    place = (page.id, page.space, page.title, page.path, page.url, page.updated, page.labels, pictures)
    # Only what is said: a page of which nothing of it is known keeps the hash that it had before these were read.
    said = [(name, value) for name in FACTS if (value := getattr(page, name)) not in ("", "page")]
    return content_key(recipe, acl, repr((*place, *said)), page.markdown)


def recipe_of(settings: Settings) -> str:
    """What turns the same page into other chunks or contexts."""
    return repr((CHUNKER, settings.chunking, settings.context, bool(settings.llm.url)))


def embedded_hash(chunk: Chunk, sparse_path: bool) -> str:
    """Of all that the texts of the encoders are made from."""
    return content_key(whole_text(chunk), chunk.context, sparse_text(chunk, sparse_path))


def change_of(stored: PageState | None, chunks: Mapping[str, str]) -> Change:
    """``payload`` when the same chunks hold the same texts: place, labels, readers or dates changed."""
    return "payload" if stored is not None and stored.chunks == chunks else "replace"


def gone(
    stored: Collection[str], expected: Collection[str], arrived: Collection[str], skipped: Collection[str]
) -> list[str]:
    """Ids of stored pages that the source does not hold any more, or leaves out by rule.

    A page that failed to convert, or that the source names but did not give, keeps what is stored.
    """
    stay = (set(expected) | set(arrived)) - set(skipped)
    return sorted(set(stored) - stay)


def refuse_shrinking(source: str, stored: int, expected: int, share: float) -> None:
    """SourceError when the source holds so many pages fewer that it looks like a broken export."""
    lost = stored - expected
    if lost <= 0:
        return
    if not expected or (lost > FEW and lost > share * stored):
        raise SourceError(
            f"{source} holds {expected} pages where the index has {stored} of it. That looks like a broken "
            f"export, so nothing was changed (sync.shrink allows {share:.0%} fewer). "
            "If the pages are really gone, run again with --allow-shrink."
        )
