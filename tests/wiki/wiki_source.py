"""The single source of the sample wiki: `manifest.yaml` and one storage-format file a page in `source/`."""

import html
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from lxml import etree

HERE = Path(__file__).resolve().parent
AC = "http://atlassian.com/content"
RI = "http://atlassian.com/resource/identifier"
_MARKUP = re.compile(r"(<!\[CDATA\[.*?\]\]>|<[^>]*>)", re.DOTALL)
_NAMED_ENTITY = re.compile(r"&(?!amp;|lt;|gt;|quot;|#)\w+;")


@dataclass(frozen=True)
class User:
    name: str
    key: str
    full: str
    email: str

    @property
    def shown(self) -> str:
        """The name as pages show it; a removed user keeps only the login."""
        return self.full or f"Unknown User ({self.name})"


@dataclass(frozen=True)
class Attachment:
    id: int
    file: str
    type: str
    version: int
    draw: str = ""
    source: str = ""

    @property
    def ending(self) -> str:
        return self.file.rsplit(".", 1)[1] if "." in self.file else ""


@dataclass(frozen=True)
class Restriction:
    users: list[str]
    groups: list[str]


@dataclass(frozen=True)
class Page:
    id: int
    title: str
    parent: int | None
    position: int | None
    author: User
    created: str
    editor: User
    modified: str
    version: int
    labels: list[str]
    view: Restriction | None
    edit: Restriction | None
    attachments: list[Attachment] = field(default_factory=list)

    @cached_property
    def storage(self) -> str:
        """The body exactly as Confluence stores it."""
        return (HERE / "source" / f"{self.id}.xml").read_text(encoding="utf-8").rstrip("\n")

    @property
    def file_name(self) -> str:
        """Confluence names the file after the title only when the title is plain ASCII words."""
        if re.fullmatch(r"[A-Za-z0-9 ]+", self.title):
            return f"{self.title.replace(' ', '-')}_{self.id}.html"
        return f"{self.id}.html"

    def attachment(self, file: str) -> Attachment:
        return next(item for item in self.attachments if item.file == file)

    def path_of(self, item: Attachment) -> str:
        """Where the HTML export puts an attachment: ids and the ending, never the name."""
        return f"attachments/{self.id}/{item.id}" + (f".{item.ending}" if item.ending else "")

    def anchor(self, text: str) -> str:
        """PageTitle-Heading without blanks; `id-` in front unless it begins with a Latin letter."""
        joined = re.sub(r"\s+", "", f"{self.title}-{text}")
        return joined if re.match(r"[A-Za-z]", joined) else f"id-{joined}"


@dataclass(frozen=True)
class Wiki:
    space: dict[str, Any]
    users: dict[str, User]
    pages: list[Page]
    hidden: dict[str, list[dict[str, Any]]]
    comments: list[dict[str, Any]]

    def by_id(self, page_id: int) -> Page:
        return next(page for page in self.pages if page.id == page_id)

    def by_title(self, title: str) -> Page | None:
        return next((page for page in self.pages if page.title == title), None)

    def by_key(self, key: str) -> User:
        return next(user for user in self.users.values() if user.key == key)

    def children(self, parent: int | None) -> list[Page]:
        """Children in the order of the page tree: by position, then those without one by title."""
        found = [page for page in self.pages if page.parent == parent]
        return sorted(found, key=lambda page: (page.position is None, page.position or 0, page.title))

    def ancestors(self, page: Page) -> list[Page]:
        chain: list[Page] = []
        while page.parent is not None:
            page = self.by_id(page.parent)
            chain.insert(0, page)
        return chain


def load() -> Wiki:
    """Read the manifest; bodies are read when they are asked for."""
    raw = yaml.safe_load((HERE / "manifest.yaml").read_text(encoding="utf-8"))
    users = {item["name"]: User(**item) for item in raw["users"]}
    pages = [_page(item, users) for item in raw["pages"]]
    return Wiki(raw["space"], users, pages, raw["hidden"], raw["comments"])


def _page(item: dict[str, Any], users: dict[str, User]) -> Page:
    known = dict(item)
    known["author"], known["editor"] = users[item["author"]], users[item["editor"]]
    for kind in ("view", "edit"):
        known[kind] = Restriction(**item[kind]) if kind in item else None
    known["attachments"] = [Attachment(**one) for one in item.get("attachments", [])]
    return Page(**known)


def parse(storage: str) -> etree._Element:
    """Parse a storage-format fragment: named entities become characters, prefixes are declared."""
    parts = _MARKUP.split(storage)
    text = "".join(part if part.startswith("<") else _NAMED_ENTITY.sub(_character, part) for part in parts)
    return etree.fromstring(f'<body xmlns:ac="{AC}" xmlns:ri="{RI}">{text}</body>')


def _character(entity: re.Match[str]) -> str:
    return html.unescape(entity.group())
