"""The wiki itself as a source of pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from askwiki.configuration import Configuration, holds_login
from askwiki.data import Loss
from askwiki.errors import SourceError, SourceNotWhole
from indexer.confluence.parse.links import Listed, attachment_url
from indexer.confluence.sources.rest.client import NotForUs, RestClient
from indexer.confluence.sources.rest.json_values import shown
from indexer.confluence.sources.rest.record import (
    BLOG_POST,
    Record,
    RecordFacts,
    has_text,
    identity_of,
    is_container,
    is_page,
    people_of,
    read_record,
)
from indexer.confluence.sources.rest.record import listed as listing_of
from indexer.confluence.sources.rest.records import listed
from indexer.confluence.sources.rest.rights import space_readers
from indexer.sources import PageFailure, PageRef

EXPANDED = (
    "body.storage,body.export_view,version,ancestors,space,metadata.labels,history.lastUpdated,history.ownedBy,"
    "restrictions.read.restrictions.user,restrictions.read.restrictions.group,children.attachment"
)
RIGHTS = "space,ancestors,restrictions.read.restrictions.user,restrictions.read.restrictions.group"
COMMENTS = ",children.comment.body.storage,children.comment.version,children.comment.history"
LIGHT = "space,ancestors,metadata.labels"  # what listings of other pages go by
TIME_ZONES = timedelta(days=1)  # a query's times are in the account's own zone, which the API does not tell
LIGHT_LIMIT = "200"  # results a request when no bodies are asked for
CHOICES = ("space", "root", "label", "cql")


class LiveRecords:
    """The wiki itself: a space, the pages below one page, those with a label, or those a CQL query finds."""

    def __init__(self, address: str, configuration: Configuration, client: RestClient | None = None) -> None:
        base, choice = _choice(address, configuration.settings.wiki.url)
        self._client = client or RestClient(base, configuration.settings.confluence)
        self._choice = choice
        self._types = ("page", BLOG_POST) if configuration.settings.confluence.blog_posts else ("page",)
        self._expanded = EXPANDED + (COMMENTS if configuration.settings.confluence.comments else "")
        self._size = str(configuration.settings.confluence.page_size)
        self.losses: list[Loss] = []
        self.faults: list[str] = []
        self.people: dict[str, str] = {}
        self.keys: dict[str, str] = {}
        self.index: dict[str, Listed] = {}
        self._refs: list[PageRef] | None = None
        self._announced: dict[str, tuple[Record, str]] | None = None  # filled where rights are asked for

    def refs(self) -> list[PageRef]:
        """A light listing, compared with the wiki's own count. Whatever it leaves open stands in ``faults``."""
        if self._refs is None:
            found: dict[str, PageRef] = {}
            light = LIGHT if self._announced is None else RIGHTS
            for path, parameters in self._requests({"limit": LIGHT_LIMIT, "expand": light}):
                for record, base in self._client.results(path, parameters):
                    self._announce(record, base, found)
            self._compare(found)
            if root := self._choice.get("root"):
                found = {root: PageRef(root, root), **found}
            self._refs = list(found.values())
        return self._refs

    def all(self) -> Iterator[tuple[Record, str] | PageFailure]:
        """Page by page of the listing; what it leaves out although it was announced is asked for by id."""
        arrived: set[str] = set()
        fault = ""
        try:
            for path, parameters in self._requests({"limit": self._size, "expand": self._expanded}):
                for record, base in self._client.results(path, parameters):
                    if _readable(record) and identity_of(record) not in arrived:
                        arrived.add(identity_of(record))
                        self.people.update(people_of(record))
                        yield record, base
        except SourceError as error:
            fault = str(error)
        for ref in self.refs():
            if ref.id not in arrived:
                yield self._asked(ref, fault)
        if self._client.down:
            raise SourceNotWhole(f"{fault} Nothing was removed; the rest is asked for in the next run.".strip())

    def changed(self, since: datetime) -> Iterator[tuple[Record, str] | PageFailure]:
        """What the search index has as modified since then, a day earlier to be sure of the time zone."""
        moment = (since - TIME_ZONES).strftime("%Y-%m-%d %H:%M")
        parameters = {
            "cql": f'{self._cql()} and lastmodified >= "{moment}"',
            "limit": self._size,
            "expand": self._expanded,
        }
        for record, base in self._client.results("/rest/api/content/search", parameters):
            if _readable(record):
                self.people.update(people_of(record))
                yield record, base
            elif not _something_else(record):
                identity = identity_of(record)
                title = str(record.get("title")) if identity else ""
                ref = PageRef(identity, title)
                yield self._asked(ref, "") if identity else PageFailure(ref, f"a changed page is odd: {shown(record)}")

    def rights(self) -> Iterator[tuple[PageRef, tuple[Record, str] | None]]:
        """Every page of the light listing with its restrictions and its place in the tree, without its text."""
        self._refs, self._announced = None, {}
        for ref in self.refs():
            yield ref, self._announced.get(ref.id) or self.one(ref.id)

    def one(self, page_id: str) -> tuple[Record, str] | None:
        """None when the wiki has no such page or none for us; SourceError when it does not say."""
        if not page_id:
            return None
        try:
            record = self._client.get(f"/rest/api/content/{quote(page_id, safe='')}", {"expand": self._expanded})
        except NotForUs:
            return None
        return (record, self._client.base) if is_page(record) and identity_of(record) == page_id else None

    def container(self, kind: str, identity: str) -> tuple[Record, str] | None:
        """By version 2 of the API where version 1 has it not; its restrictions are unknown unless they are given."""
        quoted = quote(identity, safe="")
        for path in (f"/rest/api/content/{quoted}", f"/api/v2/{kind}s/{quoted}"):
            try:
                record = self._client.get(path, {"expand": RIGHTS} if "v2" not in path else None)
            except NotForUs:
                continue
            if is_container(record) and identity_of(record) == identity:
                return {"restrictions": self._restrictions(quoted), **record}, self._client.base
        return None

    def _restrictions(self, identity: str) -> Record:
        """Of a thing of version 2, which does not give them; without an answer nothing is known of them."""
        try:
            read = self._client.get(
                f"/rest/api/content/{identity}/restriction/byOperation/read",
                {"expand": "restrictions.user,restrictions.group"},
            )
        except NotForUs:
            return {}
        return {"read": read}

    def still_there(self, page_ids: Sequence[str]) -> list[str]:
        """Those that the wiki has and that belong to the chosen part of it."""
        found = {page_id: self.one(page_id) for page_id in page_ids}
        return [page_id for page_id, there in found.items() if there and self._chosen(read_record(there[0], ""))]

    def titled(self, space: str, title: str) -> tuple[Record, str] | None:
        try:
            answer = self._client.get(
                "/rest/api/content", {"spaceKey": space, "title": title, "expand": self._expanded}
            )
        except NotForUs:
            return None
        found = next((record for record in listed(answer) if is_page(record)), None)
        return (found, self._client.base) if found else None

    def space(self, key: str, identity: str) -> Record:
        """With its permissions, empty when the wiki does not give them; SourceError when it does not answer."""
        if not key:
            return {}
        try:
            found = self._client.get(f"/rest/api/space/{quote(key, safe='~')}", {"expand": "permissions"})
        except NotForUs:
            return {}
        return found if isinstance(found, dict) and space_readers(found) is not None else {}

    def comments(self, page_id: str) -> list[Record]:
        return []

    def files(self, page_id: str) -> list[str]:
        return []

    def place(self, page_id: str, name: str) -> str:
        return ""

    def attachment(self, page_id: str, name: str) -> bytes | None:
        return self._client.bytes_of(attachment_url("", page_id, name))

    def _requests(self, parameters: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
        if space := self._choice.get("space"):
            for key in space.split(","):
                for kind in self._types:
                    yield "/rest/api/content", {"spaceKey": key.strip(), "type": kind, **parameters}
            return
        yield "/rest/api/content/search", {"cql": self._cql(), **parameters}

    def _cql(self) -> str:
        kinds = f"type in ({', '.join(self._types)})" if len(self._types) > 1 else "type = page"
        if root := self._choice.get("root"):
            return f"ancestor = {root} and type = page"
        if label := self._choice.get("label"):
            return f'label = "{label}" and {kinds}'
        if space := self._choice.get("space"):
            return "space in (" + ", ".join(f'"{key.strip()}"' for key in space.split(",")) + f") and {kinds}"
        return f"({self._choice['cql']}) and {kinds}"

    def _chosen(self, facts: RecordFacts) -> bool:
        if facts.status != "current":
            return False
        if space := self._choice.get("space"):
            return facts.space.casefold() in {key.strip().casefold() for key in space.split(",")}
        answer = self._client.get("/rest/api/content/search", {"cql": f"({self._cql()}) and id = {facts.id}"})
        return any(identity_of(record) == facts.id for record in listed(answer))

    def _announce(self, record: Any, base: str, found: dict[str, PageRef]) -> None:
        """Note a page of a listing. An entry without an id may be any page: the listing is not whole."""
        if _something_else(record):
            return
        identity = identity_of(record)
        if not identity:
            self.faults.append(f"an entry of the wiki's listing is no page: {shown(record)}")
            return
        title = record.get("title")
        found[identity] = PageRef(identity, title if isinstance(title, str) else "")
        facts = read_record(record, base)
        self.keys[identity] = facts.space
        self.index[identity] = listing_of(facts)
        if self._announced is not None:
            self._announced[identity] = record, base

    def _asked(self, ref: PageRef, fault: str) -> tuple[Record, str] | PageFailure:
        """A page by its id; ``fault``: why the listing did not give it."""
        try:
            found = self.one(ref.id)
        except SourceError as error:
            return PageFailure(ref, str(error))
        if found is None:
            return PageFailure(ref, fault or "announced by the wiki, but it does not give it")
        if not has_text(found[0]):
            return PageFailure(ref, "the wiki gives it without its text")
        self.people.update(people_of(found[0]))
        return found

    def _compare(self, found: dict[str, PageRef]) -> None:
        """Against the count of the search index, independent of the listing's paging.

        Pages that only the index knows are asked for one by one: the wiki has them (the listing left them
        out), or it has not (the index is behind). What is still missing then, nobody can name.
        """
        listed = len(found)
        try:
            answer = self._client.get("/rest/api/search", {"cql": self._cql(), "limit": "1"})
        except NotForUs as error:
            self.losses.append(Loss("pages", "count", detail=f"the wiki gives no count of its own: {error}"))
            return
        total = answer.get("totalSize") if isinstance(answer, dict) else None
        if not isinstance(total, int) or isinstance(total, bool):
            self.faults.append(f"the wiki's own count of its pages is none: {shown(total)}")
            return
        if total <= listed:
            return
        stale = self._search_for_more(found)
        if (missing := total - stale - len(found)) > 0:
            detail = f"the wiki counts {total} pages, its listing gave {listed}"
            self.losses.append(Loss("pages", "count", missing, detail))
            self.faults.append(detail)

    def _search_for_more(self, found: dict[str, PageRef]) -> int:
        """Adds what only the search index names; the answer is how many of these the wiki does not have."""
        stale: set[str] = set()
        parameters = {"cql": self._cql(), "limit": LIGHT_LIMIT, "expand": "space"}
        for record, _ in self._client.results("/rest/api/content/search", parameters):
            if _something_else(record) or identity_of(record) in found or not identity_of(record):
                continue
            there = self.one(identity_of(record))
            if there is not None and read_record(there[0], "").status == "current":
                self._announce(*there, found)
            else:
                stale.add(identity_of(record))
        return len(stale)


def _readable(record: Any) -> bool:
    return is_page(record) and has_text(record)


def _something_else(record: Any) -> bool:
    """A comment, a file, a folder: what says so of itself."""
    return (
        isinstance(record, dict) and isinstance(record.get("type"), str) and record["type"] not in ("page", BLOG_POST)
    )


def _choice(address: str, wiki: str) -> tuple[str, dict[str, str]]:
    """``https://wiki/path?space=KEY``, or only ``space=KEY`` with the wiki's address in the settings."""
    try:
        parts = urlsplit(address if "://" in address else wiki)
    except ValueError as error:
        raise SourceError(f"rest:{address}: the wiki's address cannot be read: {error}.") from None
    if "://" in address:
        base, query = f"{parts.scheme}://{parts.netloc}{parts.path}", parts.query
    else:
        base, query = wiki, address
    if query and "=" not in query:
        query = f"space={query}"
    choice = {name: values[0] for name, values in parse_qs(query).items()}
    choice = {{"spacekey": "space"}.get(name.lower(), name.lower()): value for name, value in choice.items()}
    if not base:
        raise SourceError(f"rest:{address} names no folder and no address: set ASKWIKI_WIKI_URL, or write the address.")
    if len(choice) != 1 or next(iter(choice)) not in CHOICES:
        raise SourceError(
            f"rest:{address} does not say which pages: add one of " + ", ".join(f"?{name}=…" for name in CHOICES) + "."
        )
    if holds_login(base):
        raise SourceError(
            "The wiki's address holds a name or password, and every link in the chat begins with it: write the address "
            "alone, and set ASKWIKI_CONFLUENCE__USER and ASKWIKI_CONFLUENCE_TOKEN."
        )
    if "root" in choice and not choice["root"].isdigit():
        raise SourceError(f"rest:{address}: root is the number of a page (pageId), not {choice['root']!r}.")
    return base.rstrip("/"), choice
