"""Pages that relevant fragments link to: what a chain of questions asks for stands there, far down in the search."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Sequence
from urllib.parse import unquote, urlsplit

from askwiki.data import Candidate, Chunk, Rights, whole_page
from askwiki.stages.passages.reading import own_links
from askwiki.stages.passages.spans import text_of
from askwiki.stages.refusal import share_of
from askwiki.store.port import Reader

MOST_PAGES = 20  # that are read; a page of links names hundreds
MOST_CHUNKS = 4  # of them that are judged
_PAGE_ID = re.compile(  # Confluence's own addresses, server and Cloud
    r"[?&]pageId=(\d+)"
    r"|/(?:pages/(?:edit-v2/)?|blog/\d{4}/\d{2}/\d{2}/)(\d+)(?=[/?#]|\Z)"
)


def linked_candidates(
    text: str, relevant: Sequence[Candidate], known: Collection[str], rights: Rights, reader: Reader
) -> list[Candidate]:
    """Chunks of the linked pages that say most of ``text``, none of the ``known`` ids. Raises ``StoreError``."""
    here = {each.chunk.page_id for each in relevant}
    pages = dict.fromkeys(page for each in relevant for page in linked_pages(each.chunk) if page not in here)
    if not pages:
        return []
    found = reader.chunks_of(list(pages)[:MOST_PAGES], rights)
    shares = [
        (share_of(text, text_of(chunk)), chunk)
        for chunks in found.values()
        for chunk in chunks
        if chunk.id not in known
    ]
    best = sorted(shares, key=lambda each: (-each[0], each[1].id))[:MOST_CHUNKS]
    return [Candidate(chunk, 0.0) for share, chunk in best if share > 0]


def linked_pages(chunk: Chunk) -> list[str]:
    """Ids of pages, in the order of the links; those that no page has are among them.

    A Confluence address holds the id. In a folder of Markdown, where the id is the path, a link is relative to it.
    """
    ids = []
    for target in own_links(chunk.text, chunk.url):
        path = unquote(urlsplit(target).path)
        if numbered := _PAGE_ID.search(target):
            ids.append(numbered[1] or numbered[2])
        elif path and not path.startswith("/") and not urlsplit(target).scheme:
            ids.append(posixpath.normpath(posixpath.join(posixpath.dirname(whole_page(chunk.page_id)), path)))
    return list(dict.fromkeys(ids))
