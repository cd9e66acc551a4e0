"""One page as the REST API gives it (v1 and v2), read into plain facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from askwiki.data import Attachment, Clause
from indexer.confluence.dates import iso_stamp
from indexer.confluence.links import page_url

STEP = re.compile(r"/(?:display|pages|spaces|x)/")
SPACE_IN_ADDRESS = re.compile(r"/(?:spaces|display)/([^/?#]+)")
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordFacts:
    """Everything of a page but its bodies. ``own`` = its own View restriction: None = not said."""

    id: str
    title: str
    space: str
    space_id: str
    ancestors: tuple[tuple[str, str], ...] | None  # (id, title), root first; None = only ``parent`` is known
    parent: str
    updated: str
    version: int
    labels: tuple[str, ...]
    status: str
    url: str
    own: tuple[Clause, ...] | None


def read_record(record: Record, base: str) -> RecordFacts:
    version = _dict(record.get("version"))
    links = _dict(record.get("_links"))
    identity = str(record.get("id", ""))
    base = str(links.get("base") or base)
    webui = str(links.get("webui") or "")
    space = _dict(record.get("space"))
    in_address = SPACE_IN_ADDRESS.search(webui)
    ancestors = record.get("ancestors")
    return RecordFacts(
        id=identity,
        title=str(record.get("title") or ""),
        space=str(space.get("key") or (in_address[1] if in_address else "")),
        space_id=str(record.get("spaceId") or space.get("id") or ""),
        ancestors=_ancestors(ancestors) if isinstance(ancestors, list) else None,
        parent=str(record.get("parentId") or ""),
        updated=iso_stamp(str(version.get("when") or version.get("createdAt") or record.get("createdAt") or "")),
        version=int(version.get("number") or 0),
        labels=tuple(_labels(record)),
        status=str(record.get("status") or "current"),
        url=(base.rstrip("/") + webui if webui and base else "") or (page_url(base, identity) if base else ""),
        own=own_restriction(record),
    )


def is_page(record: Any) -> bool:
    """A page with a title, not a blog post, a comment or a file."""
    return (
        isinstance(record, dict)
        and bool(record.get("id"))
        and "title" in record
        and record.get("type", "page") == "page"
        and (
            "body" in record
            or "version" in record
            or "ancestors" in record
            or "parentId" in record
            or "status" in record
        )
    )


def bodies_of(record: Record) -> dict[str, str]:
    """Representation -> text, for those that are there and not empty."""
    found = {}
    for name, body in _dict(record.get("body")).items():
        value = _dict(body).get("value")
        if isinstance(value, str) and value.strip():
            found[name] = value
    return found


def own_restriction(record: Record) -> tuple[Clause, ...] | None:
    """The page's own View restriction: () = none; None = not in the answer, or not whole."""
    restrictions = _dict(_dict(record.get("restrictions")).get("read")).get("restrictions")
    if not isinstance(restrictions, dict) or not {"user", "group"} <= set(restrictions):
        return None
    for part in restrictions.values():
        if not isinstance(_dict(part).get("results"), list) or _goes_on(_dict(part)):
            return None
    users = tuple(sorted(filter(None, (user_name(user) for user in restrictions["user"]["results"]))))
    groups = tuple(
        sorted(str(group.get("name") or group.get("id") or "") for group in restrictions["group"]["results"])
    )
    if not restrictions["user"]["results"] and not restrictions["group"]["results"]:
        return ()
    return (Clause(users, groups),)


def attachments_of(record: Record, base: str) -> tuple[Attachment, ...]:
    """The files of a page with their addresses, where the answer has them expanded."""
    listed = _dict(_dict(record.get("children")).get("attachment")).get("results") or []
    found = []
    for one in map(_dict, listed):
        download = str(_dict(one.get("_links")).get("download") or "")
        kind = _dict(one.get("metadata")).get("mediaType") or _dict(one.get("extensions")).get("mediaType") or ""
        found.append(Attachment(str(one.get("title") or ""), base + download if download and base else "", str(kind)))
    return tuple(found)


def file_names(record: Record) -> dict[str, str]:
    """The name of each file by the id that the Cloud editor's format calls it by."""
    listed = _dict(_dict(record.get("children")).get("attachment")).get("results") or []
    ids = {
        str(_dict(one.get("extensions")).get("fileId") or ""): str(one.get("title") or "") for one in map(_dict, listed)
    }
    return {identity: name for identity, name in ids.items() if identity}


def base_of(url: str) -> str:
    """The wiki's address out of a page's: all before the first step that Confluence itself adds."""
    found = STEP.search(url)
    return url[: found.start()] if found else ""


def user_name(user: Any) -> str:
    """How readers are named: the e-mail address if it is shown, else the login, else the account id."""
    person = _dict(user)
    return str(person.get("email") or person.get("username") or person.get("accountId") or person.get("userKey") or "")


def people_of(record: Record) -> Iterator[tuple[str, str]]:
    """(key, display name) of every person that the answer mentions, whatever the place."""
    waiting: list[Any] = [record.get("version"), record.get("history"), record.get("restrictions")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            name = value.get("displayName") or value.get("publicName")
            for key in ("username", "userKey", "accountId"):
                if name and value.get(key):
                    yield str(value[key]), str(name)
            waiting += [inner for inner in value.values() if isinstance(inner, (dict, list))]


def space_readers(space: Record) -> tuple[Clause, ...] | None:
    """Who may view the space, from ``permissions`` where the wiki gives them; None = not said."""
    permissions = space.get("permissions")
    if not isinstance(permissions, list):
        return None
    users: set[str] = set()
    groups: set[str] = set()
    for permission in permissions:
        operation = _dict(_dict(permission).get("operation"))
        if operation.get("operation") != "read" or operation.get("targetType", "space") != "space":
            continue
        if permission.get("anonymousAccess"):
            return ()
        subjects = _dict(permission.get("subjects"))
        users |= {user_name(user) for user in _dict(subjects.get("user")).get("results") or []}
        groups |= {str(_dict(group).get("name") or "") for group in _dict(subjects.get("group")).get("results") or []}
    return (Clause(tuple(sorted(users - {""})), tuple(sorted(groups - {""}))),)


def _goes_on(part: Record) -> bool:
    """A paged list of which only the beginning is here."""
    size, limit = part.get("size"), part.get("limit")
    return bool(_dict(part.get("_links")).get("next")) or (isinstance(size, int) and size == limit and size > 0)


def _ancestors(found: list[Any]) -> tuple[tuple[str, str], ...]:
    return tuple((str(_dict(one).get("id", "")), str(_dict(one).get("title", ""))) for one in found)


def _labels(record: Record) -> Iterator[str]:
    """Global labels; other prefixes are private marks."""
    held = _dict(_dict(record.get("metadata")).get("labels")) or _dict(record.get("labels"))
    for label in held.get("results") or []:
        if _dict(label).get("prefix", "global") == "global" and _dict(label).get("name"):
            yield str(label["name"])


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
