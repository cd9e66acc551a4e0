"""Whether all objects of an export are there that decide who may read what: each reference leads to its object.

What leads nowhere elsewhere (an attachment, a parent outside the export) is no matter of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from indexer.confluence.sources.xml.permissions import RightsFacts
from indexer.confluence.sources.xml.space import Space

TYPES = ("view", "edit", "share", "")  # of sets and their permissions; one without a type restricts viewing


def lost(space: Space) -> Iterator[str]:
    """A sentence for each object that others point to, or that points nowhere."""
    rights = space.rights
    yield from rights.differing
    yield from _listed(rights)
    yield from _unowned(space)
    yield from _mixed(space)
    for name, kind in (
        *((f"the restriction {one.id}", one.type) for one in rights.sets.values()),
        *((f"the permission {one.id}", one.type) for one in rights.permissions.values()),
    ):
        if kind not in TYPES:
            yield f"{name} has the unknown type {kind!r}"
    for page in sorted(space.old_versions & space.pages.keys()):
        yield f"page {page} is an old version, but does not say of which page"


def _listed(rights: RightsFacts) -> Iterator[str]:
    for page, names in rights.sets_of_pages.items():
        yield from (
            f"page {page} has the restriction {name}, which is not there" for name in names if name not in rights.sets
        )
    for one in rights.sets.values():
        for name in sorted(name for name in one.members if name not in rights.permissions):
            yield f"the restriction {one.id} has the member {name}, which is not there"
    for space, names in rights.listed_by_spaces.items():
        yield from (
            f"space {space} has the permission {name}, which is not there"
            for name in names
            if name not in rights.of_spaces
        )


def _unowned(space: Space) -> Iterator[str]:
    rights = space.rights
    listed = {name for names in rights.sets_of_pages.values() for name in names}
    for one in rights.sets.values():
        there = one.owner in space.contents if one.of_page else bool(one.owner)
        if not there and one.id not in listed:
            yield f"the restriction {one.id} belongs to the page {one.owner or '?'}, which is not there"
    members = {name for one in rights.sets.values() for name in one.members}
    for permission in rights.permissions.values():
        if permission.id not in members and permission.owner not in rights.sets:
            owner = permission.owner or "?"
            yield f"the permission {permission.id} belongs to the restriction {owner}, which is not there"
    for of_space in rights.of_spaces.values():
        if of_space.space and of_space.space not in space.names:
            yield f"the permission {of_space.id} belongs to the space {of_space.space}, which is not there"


def _mixed(space: Space) -> Iterator[str]:
    """Two sides that name different pages: the middle of one object and of another one are lost."""
    for page, names in space.rights.sets_of_pages.items():
        for one in (space.rights.sets[name] for name in names if name in space.rights.sets):
            if one.owner and one.owner != page:
                yield f"page {page} has the restriction {one.id}, which says it belongs to the page {one.owner}"
    for page, bodies in space.bodies_of.items():
        for body in bodies:
            for owner in sorted(space.owners_of_body(body) - {page}):
                if body not in space.bodies_of.get(owner, (body,)):
                    yield f"page {page} has the text {body}, which says it belongs to the page {owner}"
