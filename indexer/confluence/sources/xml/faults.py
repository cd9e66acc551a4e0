"""What is wrong with the form of a single object of ``entities.xml``, as no Confluence writes it.

A lost end of a CDATA section or a wrong letter often leaves well-formed XML: these are its traces. An export
holds many classes and properties that nobody needs here; but Confluence knows none that is a letter or two
away from one that is needed, so there a letter of the file is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml.etree import _Element

from indexer.spelling import misspelt

# What the Cloud puts into the tree of pages beside them: without a text of ours, with rights like a page's.
CONTAINERS = ("Folder", "Whiteboard", "Database", "Embed")
IN_TREE = ("Page", *CONTAINERS)
RIGHTS = {  # class -> properties that decide who may read what
    "Page": ("parent", "space", "contentPermissionSets", "contentStatus", "originalVersion", "originalVersionId"),
    **dict.fromkeys(
        CONTAINERS,
        ("parent", "space", "contentPermissionSets", "contentStatus", "originalVersion", "originalVersionId"),
    ),
    "BlogPost": ("space", "contentPermissionSets", "contentStatus", "originalVersion", "originalVersionId"),
    "Space": ("permissions",),
    "ContentPermissionSet": ("type", "owningContent", "contentPermissions"),
    "ContentPermission": ("type", "owningSet", "userSubject", "userName", "groupName"),
    "SpacePermission": ("type", "space", "group", "groupName", "userSubject", "userName", "allUsersSubject"),
}
# A text whose end is lost runs on into a later object, whose properties it then has.
FOREIGN = {"BodyContent": frozenset(name for names in RIGHTS.values() for name in names) | {"title", "lowerTitle"}}
PARTS = ("id", "composite-id", "property", "collection", "component", "element")
LONG_TEXTS = ("body", "stringValue")  # may tell of XML themselves


def faults_of(element: _Element, wanted: frozenset[str]) -> Iterator[str]:
    """Sentences; nothing for an object of a class that is not read, however it looks inside."""
    kind = element.get("class") or ""
    if not kind:
        yield f"line {element.sourceline}: an object without a class"
    if nearly := misspelt(kind, wanted):
        yield f"line {element.sourceline}: an object of the class {kind}, which should be {nearly}"
    if kind not in wanted:
        return
    identity = element.find("id")
    name = f"{kind} {(identity.text or '').strip() if identity is not None else ''}".strip()
    if name == kind:
        yield f"line {element.sourceline}: an object of the class {kind} without an id"
    foreign = FOREIGN.get(kind, frozenset())
    yield from (f"{name}: {fault}" for fault in _of_parts(element, RIGHTS.get(kind, ()), foreign))


def _of_parts(element: _Element, rights: tuple[str, ...], foreign: frozenset[str]) -> Iterator[str]:
    seen: set[str] = set()
    for child in element:
        if not isinstance(child.tag, str):
            continue
        name = child.get("name") or ""
        if child.tag not in PARTS:
            yield f"a part <{child.tag}>"
        elif not name:
            yield f"a {child.tag} without a name"
        elif child.tag != "id" and name in seen:
            yield f"the property {name} twice"
        elif nearly := misspelt(name, rights):
            yield f"the property {name}, which should be {nearly}"
        elif name in foreign:
            yield f"the property {name}, which belongs to another object"
        elif name not in LONG_TEXTS and "</property>" in (child.text or ""):
            yield f"the text of {name} runs on into the next property"
        if child.tag != "id":
            seen.add(name)
