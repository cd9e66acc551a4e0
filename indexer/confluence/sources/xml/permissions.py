"""The objects of an export that say who may read what, as they stand in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from indexer.confluence.sources.xml.faults import IN_TREE
from indexer.confluence.sources.xml.objects import Entity

Subject = tuple[str, str]  # key or login of a user, group; one of them is empty
EVERYBODY: Subject = ("", "")
NOT_UNDERSTOOD: Subject = ("\0", "\0")
EVERY_USER = "confluence-users"  # the group that "all licensed users" of newer versions stands for
SPECIAL = {"anonymous-users": EVERYBODY, "authenticated-users": ("", EVERY_USER)}
SUBJECTS = frozenset({"group", "groupName", "userSubject", "userName", "allUsersSubject"})
# Properties of a permission that say nothing of whom it lets in.
NEUTRAL = frozenset(
    {"type", "space", "owningSet", "creator", "creatorName", "creationDate", "lastModifier", "lastModifierName"}
    | {"lastModificationDate", "hibernateVersion"}
)
REPLACED = "\N{REPLACEMENT CHARACTER}"  # in the place of bytes that are no text

Fact = TypeVar("Fact")


@dataclass(frozen=True, slots=True)
class PermissionSet:
    """Restricts one page in one way (``type``: view | edit | share); ``members`` as the set itself lists them."""

    id: str
    type: str
    owner: str
    of_page: bool  # the owner is a page or a post
    members: frozenset[str]


@dataclass(frozen=True, slots=True)
class Permission:
    """Lets one user or group pass a set."""

    id: str
    type: str
    owner: str
    subject: Subject


@dataclass(frozen=True, slots=True)
class SpacePermission:
    id: str
    type: str
    space: str
    subject: Subject


@dataclass(slots=True)
class RightsFacts:
    """By id, and what other objects say there is. ``differing``: objects that came twice, not the same."""

    sets: dict[str, PermissionSet] = field(default_factory=dict)
    permissions: dict[str, Permission] = field(default_factory=dict)
    of_spaces: dict[str, SpacePermission] = field(default_factory=dict)
    sets_of_pages: dict[str, tuple[str, ...]] = field(default_factory=dict)  # page -> sets it lists
    listed_by_spaces: dict[str, tuple[str, ...]] = field(default_factory=dict)  # space -> permissions it lists
    differing: list[str] = field(default_factory=list)

    def take(self, entity: Entity) -> None:
        """A set or a permission."""
        kind = entity.text("type").strip().casefold()
        if entity.kind == "ContentPermissionSet":
            owner = entity.reference("owningContent", "content")
            target = entity.references.get("owningContent") or entity.references.get("content")
            of_page = target is not None and target.kind in (*IN_TREE, "BlogPost")
            members = frozenset(entity.listed("contentPermissions"))
            self.keep(self.sets, entity, PermissionSet(entity.id, kind, owner, of_page, members))
        elif entity.kind == "ContentPermission":
            owner = entity.reference("owningSet")
            self.keep(self.permissions, entity, Permission(entity.id, kind, owner, _subject(entity, NOT_UNDERSTOOD)))
        else:
            owner = entity.reference("space")
            self.keep(self.of_spaces, entity, SpacePermission(entity.id, kind, owner, _subject(entity, EVERYBODY)))

    def keep(self, known: dict[str, Fact], entity: Entity, fact: Fact) -> None:
        if known.setdefault(entity.id, fact) != fact:
            self.differing.append(f"{entity.kind} {entity.id} stands there twice and says two things")

    def members(self) -> dict[str, list[Permission]]:
        """Set -> its permissions, as either side says."""
        found: dict[str, dict[str, Permission]] = defaultdict(dict)
        for permission in self.permissions.values():
            found[permission.owner][permission.id] = permission
        for one in self.sets.values():
            found[one.id].update((name, self.permissions[name]) for name in one.members if name in self.permissions)
        return {owner: list(held.values()) for owner, held in found.items()}

    def owners(self) -> Iterator[tuple[str, PermissionSet]]:
        """(page, set), as either side says."""
        pairs = {(one.owner, one.id) for one in self.sets.values() if one.owner}
        pairs |= {(page, name) for page, names in self.sets_of_pages.items() for name in names if name in self.sets}
        yield from ((page, self.sets[name]) for page, name in sorted(pairs))

    def with_permissions(self) -> frozenset[str]:
        """Spaces of which the export says who may view them."""
        return frozenset({one.space for one in self.of_spaces.values()} | self.listed_by_spaces.keys())


def _subject(entity: Entity, nobody_named: Subject) -> Subject:
    """Whom a permission lets in. Where no known property says it, an unknown one may: not understood."""
    filled = {name for name in (*entity.texts, *entity.references, *entity.odd) if _filled(entity, name)}
    told = filled & SUBJECTS
    if not told:
        return NOT_UNDERSTOOD if filled - NEUTRAL else nobody_named
    if len(told) > 1 or entity.odd & told:
        return NOT_UNDERSTOOD
    (name,) = told
    reference, text = entity.reference(name), entity.text(name).strip()
    if REPLACED in reference or REPLACED in text:
        return NOT_UNDERSTOOD
    if name == "userSubject":
        return (reference or text, "") if reference or text else NOT_UNDERSTOOD
    if reference or not text:
        return NOT_UNDERSTOOD  # a group is a text
    if name == "allUsersSubject":
        return SPECIAL.get(text, NOT_UNDERSTOOD)
    return (text, "") if name == "userName" else ("", text)


def _filled(entity: Entity, name: str) -> bool:
    return name in entity.references or name in entity.odd or bool(entity.texts.get(name, "").strip())
