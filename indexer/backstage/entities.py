"""Entities of a Backstage catalog out of their YAML, and the relations between them, seen from both ends.

The form is that of the catalog's own documents (``catalog-info.yaml``): ``apiVersion``, ``kind``, ``metadata``,
``spec``; several in a file, parted by ``---``. A reference is ``[kind:][namespace/]name``, its kind by default that
of the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from askwiki.errors import PageError

NAMESPACE = "default"


@dataclass(frozen=True, slots=True)
class Relation:
    """A field of ``spec`` that names other entities: their kind, and the sentence from either end."""

    field: str
    kind: str
    forward: tuple[str, str]  # English, Russian; {it} and {others}
    backward: tuple[str, str]


RELATIONS = (
    Relation("owner", "group", ("{it} is owned by {others}.", "Владелец {it}: {others}."),
             ("{it} owns {others}.", "{it} владеет: {others}.")),
    Relation("system", "system", ("{it} is part of the system {others}.", "{it} входит в систему {others}."),
             ("The system {it} consists of {others}.", "В систему {it} входят: {others}.")),
    Relation("domain", "domain", ("{it} belongs to the domain {others}.", "{it} относится к домену {others}."),
             ("To the domain {it} belong {others}.", "К домену {it} относятся: {others}.")),
    Relation("subcomponentOf", "component", ("{it} is a part of {others}.", "{it} — часть {others}."),
             ("Parts of {it} are {others}.", "Части {it}: {others}.")),
    Relation("dependsOn", "component", ("{it} depends on {others}.", "{it} зависит от: {others}."),
             ("On {it} depend {others}.", "От {it} зависят: {others}.")),
    Relation("dependencyOf", "component", ("On {it} depend {others}.", "От {it} зависят: {others}."),
             ("{it} depends on {others}.", "{it} зависит от: {others}.")),
    Relation("providesApis", "api", ("{it} provides the API {others}.", "{it} предоставляет API: {others}."),
             ("The API {it} is provided by {others}.", "API {it} предоставляет: {others}.")),
    Relation("consumesApis", "api", ("{it} uses the API {others}.", "{it} использует API: {others}."),
             ("The API {it} is used by {others}.", "API {it} используют: {others}.")),
    Relation("parent", "group", ("{it} is part of {others}.", "{it} подчиняется: {others}."),
             ("To {it} belong {others}.", "В {it} входят: {others}.")),
    Relation("children", "group", ("To {it} belong {others}.", "В {it} входят: {others}."),
             ("{it} is part of {others}.", "{it} подчиняется: {others}.")),
    Relation("members", "user", ("Members of {it} are {others}.", "В {it} состоят: {others}."),
             ("{it} is a member of {others}.", "{it} состоит в: {others}.")),
    Relation("memberOf", "group", ("{it} is a member of {others}.", "{it} состоит в: {others}."),
             ("Members of {it} are {others}.", "В {it} состоят: {others}.")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entity:
    """One document of the catalog. ``id`` = kind:namespace/name in small letters."""

    id: str
    kind: str
    name: str
    title: str
    description: str
    metadata: Mapping[str, Any]
    spec: Mapping[str, Any]

    @property
    def annotations(self) -> Mapping[str, Any]:
        return _dict(self.metadata.get("annotations"))

    @property
    def url(self) -> str:
        """Where a person sees the entity: the address that it names itself, else that of its source."""
        said = str(self.annotations.get("backstage.io/view-url") or "")
        source = str(self.annotations.get("backstage.io/source-location") or "").removeprefix("url:")
        return next((one for one in (said, source) if one.startswith(("https://", "http://"))), "")


def read_entities(text: str) -> Iterator[Entity]:
    """Every entity of a file; documents of other kinds are passed over. PageError says what is wrong with it."""
    try:
        documents = list(yaml.safe_load_all(text))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise PageError(f"It is no valid YAML: {' '.join(str(error).split())}") from error
    for document in documents:
        if not isinstance(document, dict) or not str(document.get("apiVersion", "")).startswith("backstage.io/"):
            continue
        metadata, spec = _dict(document.get("metadata")), _dict(document.get("spec"))
        kind, name = document.get("kind"), metadata.get("name")
        if not isinstance(kind, str) or not isinstance(name, str) or not kind or not name:
            raise PageError("An entity has no kind, or no metadata.name.")
        namespace = str(metadata.get("namespace") or NAMESPACE)
        shown = metadata.get("title") or _dict(spec.get("profile")).get("displayName") or name
        yield Entity(
            id=f"{kind}:{namespace}/{name}".lower(),
            kind=kind,
            name=name,
            title=" ".join(str(shown).split()),
            description=str(metadata.get("description") or "").strip(),
            metadata=metadata,
            spec=spec,
        )


def targets(entity: Entity, relation: Relation) -> list[str]:
    """The ids that a field of the entity names."""
    value = entity.spec.get(relation.field)
    named = value if isinstance(value, list) else [value] if value else []
    return [_id(one, relation.kind, entity) for one in named if isinstance(one, str) and one.strip()]


def _id(reference: str, kind: str, entity: Entity) -> str:
    before, colon, rest = reference.strip().partition(":")
    if not colon:
        before, rest = kind, reference.strip()
    namespace, slash, name = rest.partition("/")
    if not slash:
        namespace, name = str(entity.metadata.get("namespace") or NAMESPACE), rest
    return f"{before}:{namespace}/{name}".lower()


def backward(entities: Iterable[Entity]) -> dict[str, dict[Relation, list[str]]]:
    """Entity -> relation -> the entities that name it there."""
    found: dict[str, dict[Relation, list[str]]] = {}
    for entity in entities:
        for relation in RELATIONS:
            for target in targets(entity, relation):
                found.setdefault(target, {}).setdefault(relation, []).append(entity.id)
    return found


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
