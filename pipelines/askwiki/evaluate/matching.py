"""Does a text hold a gold snippet, and is a page the gold page: white space and markup apart."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from askwiki.data import Chunk, Passage
from askwiki.evaluate.questions import Gold, GoldPlace

_LINK = re.compile(r"(?<!\\)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)")  # the target of [text](target)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_RULES = re.compile(r"(?:(?<=\s)|^)[-+:]+(?=\s|$)")  # list marks and the rule below a table's header
_MARKS = re.compile(r"[*_~`#|>\\\[\]!]")
_SPACE = re.compile(r"\s+")
_EXPORT_FILE = re.compile(r"(?:^|_)(\d+)\.html?$")  # "Title_12345.html": pages of an HTML export
_SLASHES = re.compile(r"(?<!\s)\s*+[/›>]\s*+")


def normalise(text: str) -> str:
    """``text`` without Markdown marks, link targets and white space, in Unicode form C.

    Both sides of a comparison go through it, so what it drops cannot make a snippet be missed.
    """
    text = unicodedata.normalize("NFC", text)
    text = _LINK.sub("]", _BREAK.sub(" ", text)).replace("|", " ")
    return _SPACE.sub("", _MARKS.sub("", _RULES.sub("", text)))


def same_page(page: str, *, page_id: str, title: str, path: Sequence[str]) -> bool:
    """Is ``page`` (an id, a path of titles or the file of an export) the page with these names?"""
    if page == page_id:
        return True
    if (file := _EXPORT_FILE.search(page)) and file[1] == page_id:
        return True
    return _titles(page) == _titles("/".join((*path, title)))


def gold_of(read: Chunk | Passage, gold: Sequence[Gold]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(numbers of the gold entries that the text holds, numbers of those whose page it is of)."""
    text = normalise(read.text)
    snippets, pages = [], []
    for number, entry in enumerate(gold):
        places = [place for place in entry.places if is_of(read, place)]
        if places:
            pages.append(number)
        if any(normalise(place.snippet) in text for place in places):
            snippets.append(number)
    return tuple(snippets), tuple(pages)


def is_of(read: Chunk | Passage, place: GoldPlace) -> bool:
    """Is the chunk or passage of the page that ``place`` names?"""
    return same_page(place.page, page_id=read.page_id, title=read.title, path=read.path)


def _titles(path: str) -> str:
    return _SLASHES.sub("/", unicodedata.normalize("NFC", path).strip().strip("/")).casefold()
