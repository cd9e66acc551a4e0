"""One page as the REST API gives it (v1 and v2), read into plain facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from askwiki.data import Attachment, Clause
from indexer.confluence.parse.dates import iso_stamp
from indexer.confluence.parse.links import Listed, attachment_url, page_url
from indexer.confluence.sources.rest.json_values import as_dict, as_identity, as_records, as_text, shown
from indexer.confluence.sources.rest.rights import own_restriction

STEP = re.compile(r"/(?:display|pages|spaces|x)/")
BLOG_POST = "blogpost"
# What the Cloud puts into the tree of pages beside them: without a body of ours, with rights like a page's.
CONTAINERS = frozenset({"folder", "whiteboard", "database", "embed"})
# What an address says where version 2 of the API does not name the type.
KIND_IN_ADDRESS = re.compile(
    r"/(?:spaces|display)/[^/?#]+/(?:"
    r"(?P<kind>folder|whiteboard|database|embed)s?/\d"  # /spaces/KB/folder/501
    r"|(?P<blog>blog/)?\d{4}/\d{2}/\d{2}/"  # /spaces/KB/blog/2025/03/01/504/Title, /display/KB/2025/03/01/Title
    r")"
)
SPACE_IN_ADDRESS = re.compile(r"/(?:spaces|display)/([^/?#]+)")
DIGITS = 18  # of a version; more are no count of edits
FORMS = frozenset({"storage", "atlas_doc_format", "export_view", "view", "styled_view", "anonymous_export_view"})
STATUSES = ("", "current", "archived", "draft", "trashed", "deleted", "historical")
NOT_SAID = object()
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ancestor:
    """What the ``ancestors`` of a page say of one."""

    id: str
    title: str
    kind: str


@dataclass(frozen=True, slots=True)
class RecordFacts:
    """Everything of a page but its bodies. ``own`` = its own View restriction, unknown where it is not said.

    ``placed``: whether its place in the tree is known. ``fault``: why the page cannot be taken, its rights can.
    """

    id: str
    title: str
    space: str
    space_id: str
    ancestors: tuple[Ancestor, ...] | None  # root first; None = only ``parent`` is known
    parent: str
    parent_kind: str  # page | folder | …, "" when it is not said
    updated: str
    version: int
    labels: tuple[str, ...]
    status: str
    url: str
    own: tuple[Clause, ...]
    position: int | None = None
    kind: str = "page"  # page | blogpost | one of CONTAINERS
    author: str = ""  # a name, or the key of a person
    editor: str = ""
    owner: str = ""
    placed: bool = True
    fault: str = ""


def read_record(record: Record, base: str) -> RecordFacts:
    """Whatever the answer holds: what is no text where a text belongs counts as not there."""
    version = as_dict(record.get("version"))
    links = as_dict(record.get("_links"))
    identity = identity_of(record)
    base = as_text(links.get("base")) or base
    webui = as_text(links.get("webui"))
    space = as_dict(record.get("space"))
    in_address = SPACE_IN_ADDRESS.search(webui)
    ancestors = _ancestors(record.get("ancestors"))
    parent = record.get("parentId", NOT_SAID)
    kind = kind_of(record)
    return RecordFacts(
        id=identity,
        title=as_text(record.get("title")),
        space=as_text(space.get("key")) or (in_address[1] if in_address else ""),
        space_id=as_identity(record.get("spaceId")) or as_identity(space.get("id")),
        ancestors=ancestors,
        parent=as_identity(parent),
        parent_kind=as_text(record.get("parentType")),
        updated=iso_stamp(
            as_text(version.get("when")) or as_text(version.get("createdAt")) or as_text(record.get("createdAt"))
        ),
        version=version_of(record),
        labels=tuple(_labels(record)),
        status=_status(as_text(record.get("status")) or "current", as_text(space.get("status"))),
        url=(base.rstrip("/") + webui if webui.startswith("/") and base else "")
        or (page_url(base, identity) if base else ""),
        own=() if kind in CONTAINERS and "restrictions" not in record else own_restriction(record),
        position=_position(record),
        author=_person(as_dict(record.get("history")).get("createdBy"), record.get("authorId")),
        editor=_person(version.get("by"), version.get("authorId")),
        owner=_person(as_dict(record.get("history")).get("ownedBy"), record.get("ownerId")),
        kind=kind,
        placed=ancestors is not None
        or ("ancestors" not in record and (parent in (None, "") or bool(as_identity(parent)) or kind == BLOG_POST)),
        fault=_fault(record),
    )


def listed(facts: RecordFacts) -> Listed:
    """The page as listings of the wiki know it."""
    above = facts.ancestors[-1].id if facts.ancestors else facts.parent
    return Listed(
        id=facts.id,
        title=facts.title,
        space=facts.space,
        parent=above,
        labels=facts.labels,
        content=facts.kind,
        updated=facts.updated,
        position=facts.position,
        url=facts.url,
    )


def _position(record: Record) -> int | None:
    """Among the pages below the same one; "none" where nobody has put them into an order."""
    found = record.get("position", as_dict(record.get("extensions")).get("position"))
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _person(person: Any, key: Any) -> str:
    """The name that is shown; else the key, for which another answer may know the name."""
    known = as_dict(person)
    named = (as_text(known.get(name)) for name in ("displayName", "publicName", "username", "accountId"))
    return next(filter(None, named), "") or as_text(key)


def _status(own: str, of_space: str) -> str:
    """The pages of an archived space are archived with it."""
    return "archived" if own == "current" and of_space.casefold() == "archived" else own


def identity_of(record: Any) -> str:
    """The page's id, empty when there is none that can be one."""
    return as_identity(as_dict(record).get("id"))


def version_of(record: Any) -> int:
    """0 when it is no number."""
    number = as_dict(as_dict(record).get("version")).get("number")
    written = as_identity(number)
    return int(written) if written.isdecimal() and len(written) < DIGITS else 0


def _fault(record: Record) -> str:
    """What of the record is odd, so that the page cannot be told from another state of it."""
    version = record.get("version", {})
    if not isinstance(version, dict) or ("number" in version and not version_of(record) and version["number"] != 0):
        return f"its version is no number: {shown(version)}"
    if not isinstance(record.get("title", ""), str):
        return f"its title is no text: {shown(record['title'])}"
    if record.get("status", "") not in STATUSES:
        return f"its status is none that a page has: {shown(record['status'])}"
    body = record.get("body", {})
    if not isinstance(body, dict) or not all(
        isinstance(form, dict) and isinstance(form.get("value", ""), str)
        for name, form in body.items()
        if name in FORMS
    ):
        return f"its body is no text: {shown(body)}"
    return ""


def has_text(record: Record) -> bool:
    """Whether one of the forms of its text is there, if only an empty one."""
    return any(isinstance(as_dict(form).get("value"), str) for form in as_dict(record.get("body")).values())


def kind_of(record: Any) -> str:
    """``page``, ``blogpost``, ``folder`` …: as the record says, else as its address does."""
    said = as_dict(record).get("type")
    if said is not None:
        return as_text(said)
    if as_dict(record).get("pageId") or as_dict(record).get("blogPostId"):  # below a page, not beside it
        return "attachment" if "mediaType" in as_dict(record) else "comment"
    found = KIND_IN_ADDRESS.search(as_text(as_dict(as_dict(record).get("_links")).get("webui")))
    return (found["kind"] or BLOG_POST) if found else "page"


def is_page(record: Any) -> bool:
    """A page or a blog post with a title, not a folder, a comment or a file."""
    return _is_content(record) and kind_of(record) in ("page", BLOG_POST)


def is_container(record: Any) -> bool:
    """What stands in the tree of pages and is none: a folder, a whiteboard, a database, an embedded address."""
    return _is_content(record) and kind_of(record) in CONTAINERS


def _is_content(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and bool(identity_of(record))
        and "title" in record
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
    for name, body in as_dict(record.get("body")).items():
        value = as_dict(body).get("value")
        if isinstance(value, str) and value.strip():
            found[name] = value
    return found


def attachments_of(record: Record, base: str) -> tuple[Attachment, ...]:
    """The files of a page with their addresses, where the answer has them expanded; it may lack where they lie."""
    found = []
    for one in as_records(as_dict(record.get("children")).get("attachment")):
        download = as_text(as_dict(one.get("_links")).get("download"))
        kind = as_text(as_dict(one.get("metadata")).get("mediaType")) or as_text(
            as_dict(one.get("extensions")).get("mediaType")
        )
        name = as_text(one.get("title"))
        place = base + download if download else attachment_url(base, identity_of(record), name)
        found.append(Attachment(name, place if base else "", kind))
    return tuple(found)


def is_comment(record: Any) -> bool:
    """A comment of its own in an answer: version 1 says so, version 2 names the page and has no title of its own."""
    return kind_of(record) == "comment" and bool(identity_of(record)) and bool(page_of_comment(as_dict(record)))


def page_of_comment(record: Record) -> str:
    return as_identity(as_dict(record.get("container")).get("id") or record.get("pageId") or record.get("blogPostId"))


def comments_of(record: Record) -> Sequence[Record]:
    """The comments that the answer holds with the page."""
    return as_records(as_dict(record.get("children")).get("comment"))


def written_by(comment: Record) -> tuple[str, str]:
    """(name or key of the person, when)."""
    version = as_dict(comment.get("version"))
    who = _person(as_dict(comment.get("history")).get("createdBy") or version.get("by"), version.get("authorId"))
    return who, iso_stamp(as_text(version.get("when")) or as_text(version.get("createdAt")))


def has_attachments(record: Record) -> bool:
    """Whether the answer lists the files of the page, be there none."""
    return isinstance(as_dict(as_dict(record.get("children")).get("attachment")).get("results"), list)


def file_names(record: Record) -> dict[str, str]:
    """The name of each file by the id that the Cloud editor's format calls it by."""
    listed = as_records(as_dict(record.get("children")).get("attachment"))
    ids = {as_text(as_dict(one.get("extensions")).get("fileId")): as_text(one.get("title")) for one in listed}
    return {identity: name for identity, name in ids.items() if identity}


def base_of(url: str) -> str:
    """The wiki's address out of a page's: all before the first step that Confluence itself adds."""
    found = STEP.search(url)
    return url[: found.start()] if found else ""


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
                if as_text(name) and as_text(value.get(key)):
                    yield value[key], str(name)
            waiting += [inner for inner in value.values() if isinstance(inner, (dict, list))]


def _ancestors(found: Any) -> tuple[Ancestor, ...] | None:
    """None when it is no list, or one of them cannot be named: then nobody knows what it restricts."""
    if not isinstance(found, list) or not all(map(identity_of, found)):
        return None
    return tuple(Ancestor(identity_of(one), as_text(one.get("title")), as_text(one.get("type"))) for one in found)


def _labels(record: Record) -> Iterator[str]:
    """Global labels; other prefixes are private marks."""
    held = as_dict(as_dict(record.get("metadata")).get("labels")) or as_dict(record.get("labels"))
    for label in as_records(held):
        if label.get("prefix", "global") == "global" and as_text(label.get("name")):
            yield label["name"]
