"""One HTML file of an export: where title, path, date, attachments and body stand in each layout.

Words follow the exporter's locale, so only ids and classes are relied on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from urllib.parse import unquote

from lxml.etree import _Element

from askwiki.data import Attachment
from indexer.confluence.parse.dates import iso_date
from indexer.confluence.parse.html_tree import decode, parse_document
from indexer.confluence.parse.targets import file_page_id
from indexer.confluence.parse.text import clean

EDIT_LINK = re.compile(r"editpage\.action\?pageId=(\d+)")
SPACE_LINK = re.compile(r"listpages\.action\?key=([\w~.-]+)")
BASE_URL = re.compile(r"data-base-url=[\"']([^\"']+)[\"']")
OWN_FILES = re.compile(r"href=[\"']attachments/(\d+)/")
MEDIA_TYPE = re.compile(r"\(([\w.+-]+/[\w.+-]+)\)")
TITLE = re.compile(r"<title[^<>]*+>([^<]*+)</title", re.IGNORECASE)
SEPARATOR = re.compile(r" (?:--|::|\|) ")  # "Apache CXF -- Index", "Wiki | Page"; a dash may be of the titles
ANY_SEPARATOR = re.compile(r" (?:--|::|:|\||—|–|-) $")
HEAD = 4096  # bytes of a file among which its title stands
LEAST_TITLES = 5  # that must agree
SHARED = 0.9  # of the titles; the rest may be the site's own front page
BODIES = (
    '//*[@id="main-content"]', '//*[contains(concat(" ", normalize-space(@class), " "), " wiki-content ")]',
    '//*[@id="content"]', "//main", "//body",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """What a file says of itself; ``id`` is "" when it does not say."""

    id: str
    space: str  # key, "" when unknown
    space_name: str
    title: str
    path: tuple[str, ...]
    updated: str
    base: str
    body: _Element
    labels: tuple[str, ...]
    author: str
    editor: str
    comments: tuple[tuple[str, str, _Element], ...]  # (author, day, body)
    attachments: tuple[Attachment, ...]  # url = as written in the file, relative to it
    broken: int  # characters that could not be decoded


@dataclass(frozen=True, slots=True)
class SiteName:
    """What a site puts before or behind the title of every page, its separator included."""

    before: str = ""
    behind: str = ""


def site_name(data: Sequence[bytes]) -> SiteName:
    """The part that nearly all titles of several pages share; nothing when they share none."""
    titles = [title for one in data if (title := _title_of(one))]
    if len(titles) < LEAST_TITLES:
        return SiteName()
    separated = [(title, found) for title in titles if (found := list(SEPARATOR.finditer(title)))]
    before = Counter(title[: found[0].end()] for title, found in separated)
    behind = Counter(title[found[-1].start() :] for title, found in separated)
    return SiteName(*(_shared(counted, len(titles)) for counted in (before, behind)))


def _shared(counted: Counter[str], titles: int) -> str:
    common = counted.most_common(1)
    return common[0][0] if common and common[0][1] >= SHARED * titles else ""


def _title_of(data: bytes) -> str:
    found = TITLE.search(decode(data[:HEAD])[0])
    return " ".join(clean(unescape(found[1])).split()) if found else ""


def read_html_page(data: bytes, name: str, space_name: str = "", site: SiteName = SiteName()) -> HtmlPage:
    """Read the file ``name``; ``space_name`` (of the index) and ``site`` tell where the title begins."""
    text, broken = decode(data)
    root = parse_document(text)
    links = root.xpath('//*[@id="breadcrumbs"]//li//a') or root.xpath('//*[@id="breadcrumbs"]//a')
    crumbs = [(text_of(link), link.get("href") or "") for link in links]
    bars = [text_of(link) for link in root.xpath('//td[contains(@class, "topBarDiv")]//a')]
    names = (space_name, crumbs[0][0] if crumbs else "")
    whole = _first(root, '//*[@id="title-text"]', '//*[contains(@class, "pagetitle")]', "//title") or ""
    built_in = bool(root.xpath('//*[@id="title-text"]'))
    title = (
        _without_site(_without_space(whole, names, cut=built_in), site, crumbs[-1][0] if crumbs else "")
        or _first(root, "//h1")
        or re.sub(r"\.html?$", "", name.rsplit("/", 1)[-1])
    )
    based = BASE_URL.search(text)
    key = SPACE_LINK.search(text)
    return HtmlPage(
        id=identify(name, text),
        space=key[1] if key else "",
        space_name=names[1] or names[0],
        title=title,
        path=tuple(step for step, href in crumbs[1:] if step and href != name.rsplit("/", 1)[-1])
        if crumbs
        else tuple(bars[:-1]),
        author=_first(root, '//*[contains(@class, "page-metadata")]//*[@class="author"]'),
        editor=_first(root, '//*[contains(@class, "page-metadata")]//*[@class="editor"]'),
        updated=_updated(root),
        base=based[1] if based else "",
        body=_body(root),
        labels=tuple(
            dict.fromkeys(
                text_of(label) for label in root.xpath('//ul[contains(@class, "label-list")]//a') if text_of(label)
            )
        ),
        comments=tuple(_comments(root)),
        attachments=_attachments(root),
        broken=broken,
    )


def identify(name: str, text: str) -> str:
    """The page's id from the file name, the edit link, or (renamed files) the paths of its own files."""
    found = file_page_id(name)
    if found:
        return found
    edit = EDIT_LINK.search(text)
    if edit:
        return edit[1]
    own = OWN_FILES.findall(text)
    return own[0] if own and len(set(own)) == 1 else ""


def text_of(node: _Element) -> str:
    return clean("".join(node.itertext())).strip()


def _first(root: _Element, *paths: str) -> str:
    for path in paths:
        for node in root.xpath(path):
            if text := text_of(node):
                return text
    return ""


def _without_space(whole: str, space_names: tuple[str, ...], cut: bool) -> str:
    """Only the first "SPACE : " goes; the title itself may hold " : "."""
    for name in space_names:
        if name and whole.startswith(f"{name} : "):
            return whole[len(name) + 3 :]
    return whole.partition(" : ")[2] if cut and " : " in whole else whole


def _without_site(whole: str, site: SiteName, last: str) -> str:
    """``last``: of the breadcrumbs, which may be the page itself."""
    if last and whole.endswith(last) and ANY_SEPARATOR.search(whole.removesuffix(last)):
        return last
    if site.before and whole.startswith(site.before):
        return whole[len(site.before) :] or whole
    return whole.removesuffix(site.behind) or whole if site.behind else whole


def _updated(root: _Element) -> str:
    """The day of the last change; names of people may look like dates, so they go first."""
    for metadata in root.xpath('//*[contains(@class, "page-metadata")]'):
        for person in metadata.xpath('.//*[@class="author" or @class="editor"]'):
            tail = person.tail
            person.clear()
            person.tail = tail
        if day := iso_date(text_of(metadata)):
            return day
    return ""


def _body(root: _Element) -> _Element:
    for path in BODIES:
        for node in root.xpath(path):
            return node
    return root


def _comments(root: _Element) -> Iterator[tuple[str, str, _Element]]:
    """The table below the body: each cell holds a text and, last, who posted it when."""
    for cell in root.xpath('//*[@id="comments"]/ancestor::*[contains(@class, "pageSection")][last()]//table//td'):
        notes = cell.xpath('./div[contains(@class, "smallfont")][last()]')
        note = text_of(notes[-1]) if notes else ""
        for one in notes[-1:]:
            cell.remove(one)
        before, at, when = note.rpartition(" at ")  # Posted by a.sazhina at Nov 28, 2014 10:00
        yield before.partition(" by ")[2].strip(), iso_date(when if at else note), cell


def _attachments(root: _Element) -> tuple[Attachment, ...]:
    """The section below the body lists files as "link with the real name (media type)"."""
    found: dict[str, Attachment] = {}
    for section in root.xpath('//*[@id="attachments"]/ancestor::*[contains(@class, "pageSection")][last()]'):
        for link in section.xpath(".//a[@href]"):
            kind = MEDIA_TYPE.search(link.tail or "")
            name = text_of(link)
            if name:
                found[name] = Attachment(name, link.get("href"), kind[1] if kind else "")
    for picture in root.xpath("//img[@data-linked-resource-default-alias]"):
        name = clean(picture.get("data-linked-resource-default-alias"))
        found.setdefault(name, Attachment(name, picture.get("src") or ""))
    for picture in root.xpath('//img[contains(@src, ".data/")]'):
        name = unquote(picture.get("src").rsplit("/", 1)[-1])
        found.setdefault(name, Attachment(name, picture.get("src")))
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class Index:
    """``index.html`` of the built-in export: the space and its tree of pages, in order."""

    space: str
    space_name: str
    entries: tuple[tuple[str, str, tuple[str, ...]], ...]  # (file, title, titles of the ancestors)


def read_index(data: bytes) -> Index | None:
    """None when the file is no index of Confluence but a page."""
    root = parse_document(decode(data)[0])
    sections = root.xpath('//*[contains(@class, "pageSection")][.//*[contains(@class, "pageSectionTitle")]]//ul')
    if not sections or root.xpath('//*[contains(@class, "wiki-content")]'):
        return None
    details = [text_of(cell) for cell in root.xpath("//table//tr[1]/td")]
    named = _first(root, '//*[@id="title-text"]') or _first(root, "//title")
    top = [tree for tree in sections if not tree.xpath("ancestor::ul")]
    entries = [entry for tree in top for entry in _entries(tree, ())]
    return Index(details[0] if details else "", named, tuple(entries))


def _entries(tree: _Element, path: tuple[str, ...]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Depth first; each child may sit in a list of its own, their order is the order of the pages."""
    found: list[tuple[str, str, tuple[str, ...]]] = []
    waiting: list[tuple[_Element, tuple[str, ...]]] = [(tree, path)]
    while waiting:
        node, above = waiting.pop()
        if node.tag == "ul":
            waiting += [(child, above) for child in reversed(node) if isinstance(child.tag, str)]
            continue
        link = next((child for child in node if child.tag == "a" and child.get("href")), None)
        here = above
        if link is not None:
            title = text_of(link)
            found.append((unquote(link.get("href")), title, above))
            here = (*above, title)
        waiting += [(child, here) for child in reversed(node) if child.tag in ("ul", "li", "div")]
    return found
