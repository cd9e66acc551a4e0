"""The part of an address after ``#`` that leads to a heading, as the wiki itself makes it."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Confluence's page addresses: /display/KEY/Title, /pages/viewpage.action?pageId=1,
# /spaces/KEY/pages/1/Title, and the short /x/AbCd; not a host of such a name (https://x/AbCd).
_CONFLUENCE = re.compile(r"(?<!:/)/(?:display/|pages/viewpage\.action|spaces/[^/]+/pages/|x/[\w-]+$)")
_CLOUD = re.compile(r"[^/]*//[^/]*\.atlassian\.net(?:[:/]|$)", re.IGNORECASE)
_NOT_IN_ADDRESS = re.compile(r"[^\w.~()!*-]+", re.ASCII)
_NOT_IN_GITHUB = re.compile(r"[^\w\s-]")
_PAGE = re.compile(r"(?:Страница|Page) (\d+)")  # the heading of a page of a file
_BLANK = re.compile(r"\s")


class Anchors:
    """Anchors of one page's headings, given out in page order because repeats are numbered."""

    def __init__(self, title: str, url: str) -> None:
        self._title = title
        address = url.partition("#")[0].partition("?")[0]
        self._cloud = _CLOUD.match(address) is not None
        self._confluence = _CONFLUENCE.search(address) is not None
        self._seen: dict[str, int] = {}

    def next(self, heading: str) -> str:
        """The anchor of the page's next heading (plain text), not yet encoded for an address."""
        if self._cloud:
            anchor, separator = "-".join(heading.split()), "."
        elif self._confluence:
            anchor, separator = confluence_anchor(self._title, heading), "."
        else:
            anchor, separator = github_anchor(heading), "-"
        repeats = self._seen.get(anchor, 0)
        self._seen[anchor] = repeats + 1
        return f"{anchor}{separator}{repeats}" if repeats else anchor


def confluence_anchor(title: str, heading: str) -> str:
    """``PageTitle-Heading`` without blanks; ``id-`` in front unless a Latin letter comes first."""
    anchor = "".join(f"{title}-{heading}".split())
    return anchor if anchor[0].isascii() and anchor[0].isalpha() else f"id-{anchor}"


def github_anchor(heading: str) -> str:
    """Lower case, blanks to hyphens, punctuation left out (Markdown folders)."""
    return _BLANK.sub("-", _NOT_IN_GITHUB.sub("", heading.lower()).strip())


def page_of_file(url: str, headings: Sequence[str]) -> str:
    """The address of a PDF at its page, as browsers understand it; other files open at their beginning."""
    named = _PAGE.fullmatch(headings[0]) if headings and url.partition("?")[0].lower().endswith(".pdf") else None
    return f"{url.partition('#')[0]}#page={named[1]}" if named else url


def with_anchor(url: str, anchor: str) -> str:
    """The address of a heading; an unknown page address stays empty."""
    if not url or not anchor:
        return url
    encoded = _NOT_IN_ADDRESS.sub(lambda run: "%" + run[0].encode("utf-8", "replace").hex("%").upper(), anchor)
    return f"{url.partition('#')[0]}#{encoded}"
