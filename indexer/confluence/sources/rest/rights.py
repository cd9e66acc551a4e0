"""Who may read a page or a space, as the API says it. What cannot be read lets nobody in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from askwiki.data import Clause
from indexer.confluence.sources.rest.json_values import as_dict, as_records, as_text

UNKNOWN = (Clause(unknown=True),)
STEPS = ("restrictions", "read", "restrictions")


def own_restriction(record: Mapping[str, Any]) -> tuple[Clause, ...]:
    """The page's own View restriction: () = none; an unknown clause = not in the answer.

    Of a restriction that is there but not whole (cut off, odd entries) only those who can be read pass:
    it is never taken for none, whatever the settings say of unknown readers.
    """
    held: Any = record
    for step in STEPS:
        if not isinstance(held, Mapping):
            return (Clause(),)
        if step not in held:
            return UNKNOWN
        held = held[step]
    if not isinstance(held, Mapping):
        return (Clause(),)
    if not {"user", "group"} <= set(held):
        return UNKNOWN
    parts = [as_dict(held[name]) for name in ("user", "group")]
    if all(_whole(part) and not part["results"] for part in parts):
        return ()
    users, groups = (as_records(part) for part in parts)
    return (
        Clause(
            _named(map(user_name, users)), _named(as_text(one.get("name")) or as_text(one.get("id")) for one in groups)
        ),
    )


def space_readers(space: Mapping[str, Any]) -> tuple[Clause, ...] | None:
    """Who may view the space, from ``permissions`` where the wiki gives them; None = not said."""
    permissions = space.get("permissions")
    if not isinstance(permissions, list):
        return None
    users: set[str] = set()
    groups: set[str] = set()
    for permission in permissions:
        operation = as_dict(as_dict(permission).get("operation"))
        if operation.get("operation") != "read" or operation.get("targetType", "space") != "space":
            continue
        if permission.get("anonymousAccess") is True:
            return ()
        subjects = as_dict(permission.get("subjects"))
        users |= {user_name(user) for user in as_records(subjects.get("user"))}
        groups |= {as_text(group.get("name")) for group in as_records(subjects.get("group"))}
    return (Clause(tuple(sorted(users - {""})), tuple(sorted(groups - {""}))),)


def user_name(user: Any) -> str:
    """How readers are named: the e-mail address if it is shown, else the login, else the account id."""
    person = as_dict(user)
    found = (as_text(person.get(name)) for name in ("email", "username", "accountId", "userKey"))
    return next(filter(None, found), "")


def _named(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(filter(None, names)))


def _whole(part: Mapping[str, Any]) -> bool:
    """A paged list that is all here, as far as its own numbers say."""
    results, size = part.get("results"), part.get("size")
    more = bool(as_dict(part.get("_links")).get("next")) or part.get("limit") == 0
    return isinstance(results, list) and not more and size in (None, len(results))
