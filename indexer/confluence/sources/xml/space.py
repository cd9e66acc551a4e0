"""What ``entities.xml`` says, after one pass: small facts in memory, bodies in a temporary database on disk.

The objects come in any order with references forward, so nothing can be converted while reading.
The bodies are the bulk of an export (hundreds of megabytes); SQLite keeps them in a file that it
deletes of its own accord (``sqlite3.connect("")``).
"""

from __future__ import annotations

import sqlite3
import weakref
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO

from indexer.confluence.sources.xml.faults import CONTAINERS, IN_TREE
from indexer.confluence.sources.xml.objects import Entity, read_entities
from indexer.confluence.sources.xml.permissions import RightsFacts

WANTED = frozenset(
    {*CONTAINERS}
    | {"Space", "Page", "BlogPost", "BodyContent", "Attachment", "Label", "Labelling", "ContentPermissionSet"}
    | {
        "ContentPermission",
        "SpacePermission",
        "ConfluenceUserImpl",
        "InternalUser",
        "ApplicationUser",
        "DefaultUser",
        "User",
        "PersonalInformation",
        "ContentProperty",
    }
)
OWNERS = ("Page", "BlogPost", "Comment", "ContentEntityObject", "")  # ids tell them apart
UNOWNED = "body "  # before the id of a body that does not name its page: the page names it
STORAGE, MACHINE, MARKUP = "2", "1", "0"  # BodyContent.bodyType


@dataclass(frozen=True, slots=True)
class PageFacts:
    """A Page object that is no old version."""

    id: str
    kind: str  # Page | BlogPost | one of CONTAINERS
    title: str
    space: str  # id of the space, "" when it has none
    parent: str
    position: int | None
    version: int
    updated: str
    status: str
    author: str = ""  # keys or logins of people
    editor: str = ""
    owner: str = ""


@dataclass(frozen=True, slots=True)
class CommentFacts:
    id: str
    page: str
    author: str  # key or login
    updated: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    id: str
    name: str
    media_type: str
    owner: str
    version: str


@dataclass(slots=True, weakref_slot=True)
class Space:
    """All facts of an export, as they stand in it."""

    names: dict[str, tuple[str, str]] = field(default_factory=dict)  # space id -> (key, name)
    archived: set[str] = field(default_factory=set)  # space ids
    homes: set[str] = field(default_factory=set)  # page ids
    pages: dict[str, PageFacts] = field(default_factory=dict)
    files: list[FileFacts] = field(default_factory=list)
    comments: list[CommentFacts] = field(default_factory=list)
    labels: dict[str, tuple[str, str]] = field(default_factory=dict)  # label id -> (name, namespace)
    labellings: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # page -> label ids
    rights: RightsFacts = field(default_factory=RightsFacts)
    contents: set[str] = field(default_factory=set)  # ids of all pages and posts, old versions too
    old_versions: set[str] = field(default_factory=set)  # ids that pages name as theirs
    named: set[str] = field(default_factory=set)  # ids of pages that other objects point to
    above: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # page -> pages that list it below
    users: dict[str, tuple[str, str, str]] = field(default_factory=dict)  # key -> (login, e-mail, full name)
    people: dict[str, tuple[str, str]] = field(default_factory=dict)  # login -> (e-mail, full name)
    owners: dict[str, str] = field(default_factory=dict)  # login -> name of the personal space
    media_types: dict[str, str] = field(default_factory=dict)  # attachment -> type
    bodies_of: dict[str, tuple[str, ...]] = field(default_factory=dict)  # page -> ids of its bodies
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bodies = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self.bodies.close)  # with the last who reads the space
        self.bodies.execute("PRAGMA journal_mode=OFF")
        self.bodies.execute("CREATE TABLE body (page TEXT, kind TEXT, text TEXT, id TEXT)")

    bodies: sqlite3.Connection = field(init=False)

    def body(self, page_id: str) -> tuple[str, str]:
        """(text, bodyType) of a page, the storage format before the others; ("", "") when it has none."""
        owners = [page_id, *(f"{UNOWNED}{body}" for body in self.bodies_of.get(page_id, ()))]
        places = ", ".join("?" * len(owners))
        rows = self.bodies.execute(f"SELECT text, kind FROM body WHERE page IN ({places})", owners).fetchall()
        order = {STORAGE: 0, "": 1, MARKUP: 2}
        filled = sorted((row for row in rows if row[0].strip()), key=lambda row: order.get(row[1], 3))
        return filled[0] if filled else ("", "")

    def owners_of_body(self, body_id: str) -> set[str]:
        """The pages that a body says it belongs to, none when it does not say."""
        rows = self.bodies.execute("SELECT page FROM body WHERE id = ?", (body_id,))
        return {page for (page,) in rows if page and not page.startswith(UNOWNED)}

    def has_body(self, page_id: str) -> bool:
        """False when bodies are named and none is there."""
        named = self.bodies_of.get(page_id, ())
        owners = [page_id, *(f"{UNOWNED}{body}" for body in named)]
        places = ", ".join("?" * len(owners))
        query = f"SELECT 1 FROM body WHERE page IN ({places}) LIMIT 1"
        return not named or self.bodies.execute(query, owners).fetchone() is not None


def read_space(file: IO[bytes], *, comments: bool = False) -> Space:
    """One pass over the file; memory holds one object and the small facts."""
    space = Space()
    space.bodies.execute("BEGIN")
    for entity in read_entities(file, WANTED | {"Comment"} if comments else WANTED, space.faults.append):
        READERS[entity.kind](space, entity)
    space.bodies.execute("COMMIT")
    space.bodies.execute("CREATE INDEX by_page ON body (page)")
    space.bodies.execute("CREATE INDEX by_id ON body (id)")
    return space


def _space(space: Space, entity: Entity) -> None:
    space.names[entity.id] = (entity.text("key"), entity.text("name"))
    if entity.text("key").startswith("~") and entity.text("name"):  # the space of a person, called like him
        space.owners[entity.text("key")[1:].lower()] = entity.text("name").strip()
    if entity.text("spaceStatus", "status").strip().casefold() == "archived":
        space.archived.add(entity.id)
    if home := entity.reference("homePage"):
        space.homes.add(home)
    if permissions := entity.listed("permissions"):
        space.rights.listed_by_spaces[entity.id] = permissions


def _page(space: Space, entity: Entity) -> None:
    """Old versions are Page objects too, and "current" ones at that: ``originalVersion`` tells them."""
    space.contents.add(entity.id)
    if entity.reference("originalVersion", "originalVersionId") or entity.text("originalVersion", "originalVersionId"):
        return
    if bodies := entity.listed("bodyContents"):
        space.bodies_of[entity.id] = bodies
    if sets := entity.listed("contentPermissionSets"):
        space.rights.sets_of_pages[entity.id] = sets
    space.old_versions.update(entity.listed("historicalVersions"))
    for child in (*entity.lists.get("children", ()), *entity.lists.get("childrens", ())):
        if child.kind == entity.kind or (child.kind in IN_TREE and entity.kind in IN_TREE):
            space.above[child.id].add(entity.id)
            space.named.add(child.id)
    space.above[entity.id].update(entity.listed("ancestors"))
    position = entity.text("position").strip()
    version = entity.text("version").strip()
    facts = PageFacts(
        id=entity.id,
        kind=entity.kind,
        title=entity.text("title").strip(),
        space=entity.reference("space"),
        parent=entity.reference("parent"),
        position=int(position) if position.lstrip("-").isdigit() else None,
        version=int(version) if version.isdigit() else 0,
        updated=entity.text("lastModificationDate", "creationDate").strip(),
        status=entity.text("contentStatus").strip() or "current",
        author=_key(entity, "creator", "creatorName"),
        editor=_key(entity, "lastModifier", "lastModifierName"),
        owner=_key(entity, "owner", "ownerName"),
    )
    space.rights.keep(space.pages, entity, facts)


def _key(entity: Entity, *names: str) -> str:
    return entity.reference(*names) or entity.text(*names).strip()


def _body(space: Space, entity: Entity) -> None:
    owner = entity.references.get("content")
    if owner is not None and owner.kind not in OWNERS:
        return
    if owner is not None and owner.kind == "Page":
        space.named.add(owner.id)
    place = owner.id if owner else f"{UNOWNED}{entity.id}"
    values = (place, entity.text("bodyType").strip(), entity.text("body"), entity.id)
    space.bodies.execute("INSERT INTO body VALUES (?, ?, ?, ?)", values)


def _attachment(space: Space, entity: Entity) -> None:
    old = entity.reference("originalVersion", "originalVersionId") or entity.text(
        "originalVersion", "originalVersionId"
    )
    if old or entity.text("contentStatus").strip() in ("deleted", "draft"):
        return
    name = entity.text("title", "fileName").strip()
    kind = entity.text("contentType", "mediaType").strip()
    owner = entity.reference("containerContent", "content")
    version = entity.text("version", "attachmentVersion").strip() or "1"
    space.files.append(FileFacts(entity.id, name, kind, owner, version))


def _comment(space: Space, entity: Entity) -> None:
    old = entity.reference("originalVersion", "originalVersionId") or entity.text(
        "originalVersion", "originalVersionId"
    )
    page = entity.reference("containerContent", "owner", "content", "page")
    if not old and page and (entity.text("contentStatus").strip() or "current") == "current":
        updated = entity.text("creationDate", "lastModificationDate").strip()
        space.comments.append(CommentFacts(entity.id, page, _key(entity, "creator", "creatorName"), updated))


def _label(space: Space, entity: Entity) -> None:
    space.labels[entity.id] = (entity.text("name").strip(), entity.text("namespace").strip())


def _labelling(space: Space, entity: Entity) -> None:
    owner = entity.reference("content") or entity.text("labelableId").strip()
    space.labellings[owner].append(entity.reference("label"))


def _permission(space: Space, entity: Entity) -> None:
    space.rights.take(entity)


def _user(space: Space, entity: Entity) -> None:
    login = entity.text("name", "lowerName", "username").strip()
    space.users[entity.id] = (login, entity.text("email", "emailAddress").strip(), _full_name(entity))


def _person(space: Space, entity: Entity) -> None:
    login = entity.text("name", "lowerName", "username").strip()
    email = entity.text("emailAddress", "email").strip()
    if login:
        known = space.people.get(login.lower(), ("", ""))
        space.people[login.lower()] = (email or known[0], _full_name(entity) or known[1])


def _full_name(entity: Entity) -> str:
    """As one property, or as two."""
    whole = entity.text("displayName", "fullName").strip()
    return whole or f"{entity.text('firstName').strip()} {entity.text('lastName').strip()}".strip()


def _property(space: Space, entity: Entity) -> None:
    if entity.text("name").strip() == "MEDIA_TYPE":
        space.media_types[entity.reference("content")] = entity.text("stringValue").strip()


READERS: dict[str, Callable[[Space, Entity], None]] = {
    "Space": _space,
    "Page": _page,
    **dict.fromkeys(("BlogPost", *CONTAINERS), _page),
    "BodyContent": _body,
    "Attachment": _attachment,
    "Comment": _comment,
    "Label": _label,
    "Labelling": _labelling,
    "ContentPermissionSet": _permission,
    "ContentPermission": _permission,
    "SpacePermission": _permission,
    "ConfluenceUserImpl": _user,
    "InternalUser": _person,
    **dict.fromkeys(("ApplicationUser", "DefaultUser", "User", "PersonalInformation"), _person),
    "ContentProperty": _property,
}
