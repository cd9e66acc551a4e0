"""Where links and pictures of a page lead: addresses of the wiki, safe to stand in Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lxml.etree import _Element

from indexer.confluence.parse.text import escape

# What would end a Markdown link or a table cell; letters of any alphabet stay readable (and cheap in tokens).
UNSAFE = re.compile(r"[\s()<>\[\]|\\`\"{}^]")
NAME_UNSAFE = re.compile(r"[\s()<>\[\]|\\`\"{}^%#?;&+]")
PICTURE_ENDINGS = (".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")
# Of files that nobody draws as a picture.
OTHER_ENDINGS = (
    ".7z", ".avi", ".bpmn", ".csv", ".doc", ".docm", ".docx", ".drawio", ".dwg", ".eml", ".epub", ".gz", ".json",
    ".log", ".md", ".mkv", ".mov", ".mp3", ".mp4", ".mpp", ".msg", ".odp", ".ods", ".odt", ".pdf", ".ppt", ".pptm",
    ".pptx", ".rar", ".rtf", ".sql", ".tar", ".tgz", ".tsv", ".txt", ".vsd", ".vsdx", ".wav", ".webm", ".xls", ".xlsb",
    ".xlsm", ".xlsx", ".xml", ".yaml", ".yml", ".zip",
)  # fmt: skip
# Brackets of a text; what is escaped, code or a picture holds none that count.
BRACKETS = re.compile(r"\\.|`[^`]*`|!\[(?:\\.|[^\[\]\\])*+\]\([^()]*+\)|([\[\]])")


@dataclass(frozen=True, slots=True)
class Included:
    """The body of another page that an include macro brings in, with that page's own place."""

    body: _Element
    context: Context


@dataclass(frozen=True, slots=True)
class Listed:
    """A page as a listing of the wiki knows it. ``parent`` = id of what stands right above it."""

    id: str
    title: str
    space: str
    parent: str = ""
    labels: tuple[str, ...] = ()
    content: str = "page"
    updated: str = ""
    position: int | None = None
    url: str = ""


class Surroundings(Protocol):
    """What the conversion of a page may ask about the wiki around it; "" and None = not known."""

    def page_id(self, space: str, title: str) -> str: ...

    def page_title(self, page_id: str) -> str: ...

    def page_of(self, href: str) -> str:
        """The id of the page that a relative link of an export leads to."""
        ...

    def file_name(self, page_id: str, file: str) -> str:
        """The real name of a file that an HTML export renamed to its id."""
        ...

    def user(self, key: str) -> str: ...

    def attachment(self, page_id: str, name: str) -> bytes | None: ...

    def included(self, space: str, title: str, within: Context) -> Included | None:
        """None when the page is not here or not everybody who may read ``within`` may read it."""
        ...

    def rendered(self, macro: _Element) -> _Element | None:
        """The wiki's own rendering of a macro of the page."""
        ...

    def below(self, page_id: str, within: str) -> Sequence[Listed] | None:
        """The pages right below a page that everybody who may read the page ``within`` may read; None = not known."""
        ...

    def chosen(self, wanted: Callable[[Listed], bool], within: str) -> Sequence[Listed] | None:
        """The pages of the wiki that are wanted, of those that everybody who may read ``within`` may read."""
        ...

    def files(self, page_id: str) -> Sequence[str] | None:
        """The names of the files of a page."""
        ...

    def visible(self, page_id: str, within: str) -> bool:
        """Whether everybody who may read the page ``within`` may read this one."""
        ...


class NoSurroundings:
    """A file alone: nothing is known but what it says itself."""

    def page_id(self, space: str, title: str) -> str:
        return ""

    def page_title(self, page_id: str) -> str:
        return ""

    def page_of(self, href: str) -> str:
        return ""

    def file_name(self, page_id: str, file: str) -> str:
        return ""

    def user(self, key: str) -> str:
        return ""

    def attachment(self, page_id: str, name: str) -> bytes | None:
        return None

    def included(self, space: str, title: str, within: Context) -> Included | None:
        return None

    def rendered(self, macro: _Element) -> _Element | None:
        return None

    def below(self, page_id: str, within: str) -> Sequence[Listed] | None:
        return None

    def chosen(self, wanted: Callable[[Listed], bool], within: str) -> Sequence[Listed] | None:
        return None

    def files(self, page_id: str) -> Sequence[str] | None:
        return None

    def visible(self, page_id: str, within: str) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Context:
    """The place of the page that is converted. ``base`` = address of the wiki, "" when unknown."""

    base: str = ""
    page_id: str = ""
    space: str = ""
    title: str = ""
    url: str = ""
    wiki: Surroundings = field(default_factory=NoSurroundings)


def page_url(base: str, page_id: str, anchor: str = "") -> str:
    """Works for every title on every version; a title may have no pretty address."""
    url = f"{base.rstrip('/')}/pages/viewpage.action?pageId={page_id}"
    return f"{url}#{destination(anchor)}" if anchor else url


def titled_url(base: str, space: str, title: str, anchor: str = "") -> str:
    url = f"{base.rstrip('/')}/display/{safe_name(space)}/{safe_name(title)}"
    return f"{url}#{destination(anchor)}" if anchor else url


def attachment_url(base: str, page_id: str, name: str) -> str:
    """Without a page id nothing but the name is known, and the name is the address."""
    if not page_id:
        return safe_name(name)
    return f"{base.rstrip('/')}/download/attachments/{page_id}/{safe_name(name)}"


def safe_name(name: str) -> str:
    """One step of an address, percent-encoded only where it must be."""
    return NAME_UNSAFE.sub(_percent, name).replace("/", "%2F")


def destination(url: str) -> str:
    """An address as it may stand between the parentheses of a Markdown link."""
    return UNSAFE.sub(_percent, url.strip())


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode())


def link(text: str, url: str) -> str:
    """``[text](url)``; an address that is its own text stands alone; no text = the address."""
    text = text.strip()
    if not url:
        return text
    if not text or text.replace("\\", "") == url:
        return destination(url)
    return f"[{text if _paired(text) else BRACKETS.sub(_plain_bracket, text)}]({destination(url)})"


def is_other_file(name: str) -> bool:
    """Whether a file is no picture, by its name."""
    return name.lower().endswith(OTHER_ENDINGS)


def image(name: str, url: str) -> str:
    return f"![{BRACKETS.sub(_plain_bracket, escape(name))}]({destination(url)})"


def _paired(text: str) -> bool:
    """Whether each bracket of a text closes one before it: then it cannot end the link."""
    if "[" not in text and "]" not in text:
        return True
    depth = 0
    for match in BRACKETS.finditer(text):
        depth += {"[": 1, "]": -1}.get(match[1], 0)
        if depth < 0:
            return False
    return depth == 0


def _plain_bracket(match: re.Match[str]) -> str:
    return "\\" + match[1] if match[1] else match.group()
