"""A folder of what the API answered, as a source of pages."""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from askwiki.data import Loss
from askwiki.errors import SourceError
from indexer.confluence.parse.links import Listed
from indexer.confluence.sources.archive import Archive, open_archive
from indexer.confluence.sources.rest.json_values import as_dict, as_identity, as_text
from indexer.confluence.sources.rest.record import (
    Record,
    is_comment,
    is_container,
    is_page,
    page_of_comment,
    people_of,
    read_record,
)
from indexer.confluence.sources.rest.record import listed as listing_of
from indexer.confluence.sources.rest.records import listed
from indexer.sources import PageFailure, PageRef


def _joined(known: Listed | None, found: Listed) -> Listed:
    """What two answers say of one page: of each fact, what is said."""
    if known is None:
        return found
    return dataclasses.replace(
        found,
        title=found.title or known.title,
        space=found.space or known.space,
        parent=found.parent or known.parent,
        labels=found.labels or known.labels,
        position=known.position if found.position is None else found.position,
        url=found.url or known.url,
    )


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Where a page stands: file, number of the page in it, version; a page may stand in several files."""

    file: str
    number: int
    version: int


class FolderRecords:
    """Answers of the API saved as ``.json``: listings, single pages, spaces; v1 and v2 together."""

    def __init__(self, path: str) -> None:
        what = "a folder of JSON answers of the REST API"
        self._archive: Archive = open_archive(path, what=what, single=lambda file: file.suffix.lower() == ".json")
        self.losses: list[Loss] = list(self._archive.losses)
        self.faults: list[str] = []
        self.people: dict[str, str] = {}
        self.keys: dict[str, str] = {}
        self.index: dict[str, Listed] = {}
        self._places: dict[str, list[RecordPlace]] = {}
        self._comments: dict[str, list[Record]] = defaultdict(list)
        self._containers: set[str] = set()
        self._titles: dict[str, str] = {}
        self._bases: dict[str, str] = {}
        self._spaces: dict[str, Record] = {}
        self._opened: tuple[str, list[Record]] = ("", [])
        endings: list[bool] = []
        for file in self._archive.names:
            if file.lower().endswith(".json"):
                endings += self._learn(file)
        if not self.refs():
            raise SourceError(f"{path} holds no page in JSON; give the path of {what}.")
        if endings and not any(endings):
            detail = "every saved listing names a next one: the last is missing"
            self.losses.append(Loss("pages", "listing", detail=detail))
            self.faults.append(detail)

    def refs(self) -> list[PageRef]:
        return [
            PageRef(identity, self._titles[identity]) for identity in self._places if identity not in self._containers
        ]

    def all(self) -> Iterator[tuple[Record, str] | PageFailure]:
        for ref in self.refs():
            yield self.one(ref.id) or PageFailure(ref, "its file cannot be read again")

    def one(self, page_id: str) -> tuple[Record, str] | None:
        """The newest version; bodies and facts that only another file of the same version has are joined."""
        places = sorted(self._places.get(page_id, ()), key=lambda place: -place.version)
        records = [self._records(place.file)[place.number] for place in places if place.version == places[0].version]
        if not records:
            return None
        joined: dict[str, Any] = {}
        for record in records:
            for name, value in record.items():
                if isinstance(value, dict) and isinstance(joined.get(name), dict):
                    joined[name] = {**value, **joined[name]}
                else:
                    joined.setdefault(name, value)
        space = as_dict(joined.get("space"))
        held = self.space(as_identity(space.get("key")), as_identity(joined.get("spaceId") or space.get("id")))
        if status := as_text(held.get("status")):
            joined["space"] = {"status": status, **space}
        return joined, self._bases.get(places[0].file, "")

    def container(self, kind: str, identity: str) -> tuple[Record, str] | None:
        return self.one(identity)

    def titled(self, space: str, title: str) -> tuple[Record, str] | None:
        return None

    def space(self, key: str, identity: str) -> Record:
        return (self._spaces.get(key) if key else None) or (self._spaces.get(identity) if identity else None) or {}

    def comments(self, page_id: str) -> list[Record]:
        return self._comments.get(page_id, [])

    def files(self, page_id: str) -> list[str]:
        return list(self._files.get(page_id, ()))

    def attachment(self, page_id: str, name: str) -> bytes | None:
        found = self._files.get(page_id, {}).get(name)
        return self._archive.read(found) if found else None

    def place(self, page_id: str, name: str) -> str:
        found = self._files.get(page_id, {}).get(name)
        return self._archive.place(found) if found else ""

    @cached_property
    def _files(self) -> dict[str, dict[str, str]]:
        """Page id -> name of a file -> its place: ``…/attachments/ID/NAME``."""
        found: dict[str, dict[str, str]] = defaultdict(dict)
        for place in self._archive.names:
            steps = place.rsplit("/", 3)
            if len(steps) > 2 and steps[-3] == "attachments":
                found[steps[-2]][steps[-1]] = place
        return found

    def _learn(self, file: str) -> list[bool]:
        """Note what a file holds; the answer says for a listing whether it is the last of its series."""
        try:
            answer = json.loads(self._archive.read(file))
        except (ValueError, RecursionError, OSError) as error:
            self.losses.append(Loss("file", file, detail=f"no JSON: {error}"))
            self.faults.append(f"{file} is no JSON: {error}")
            return []
        for number, record in enumerate(listed(answer)):
            if is_page(record) or is_container(record):
                facts = read_record(record, "")
                self._places.setdefault(facts.id, []).append(RecordPlace(file, number, facts.version))
                self._titles.setdefault(facts.id, facts.title)
                self.people.update(people_of(record))
                self.index[facts.id] = _joined(self.index.get(facts.id), listing_of(facts))
                if is_container(record):
                    self._containers.add(facts.id)
                else:
                    self.keys[facts.id] = facts.space
            elif is_comment(record):
                self._comments[page_of_comment(record)].append(record)
            elif isinstance(record, dict) and record.get("key") and "title" not in record:
                self._spaces[str(record["key"])] = self._spaces[str(record.get("id", ""))] = record
        links = as_dict(as_dict(answer).get("_links"))
        self._bases[file] = as_text(links.get("base"))
        return [not links.get("next")] if "results" in as_dict(answer) else []

    def _records(self, file: str) -> list[Record]:
        if self._opened[0] != file:
            self._opened = (file, list(listed(json.loads(self._archive.read(file)))))
        return self._opened[1]
