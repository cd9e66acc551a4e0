"""The wiki itself as a source of pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from urllib.parse import parse_qs, urlsplit

from askwiki.configuration import Configuration
from askwiki.data import Loss
from askwiki.errors import SourceError
from indexer.confluence.links import attachment_url
from indexer.confluence.rest_client import RestClient
from indexer.confluence.rest_record import Record, is_page, people_of, read_record, space_readers
from indexer.confluence.rest_records import listed
from indexer.sources import PageFailure, PageRef

EXPANDED = (
    "body.storage,body.export_view,version,ancestors,space,metadata.labels,history.lastUpdated,"
    "restrictions.read.restrictions.user,restrictions.read.restrictions.group,children.attachment"
)
TIME_ZONES = timedelta(days=1)  # a query's times are in the account's own zone, which the API does not tell
LIGHT_LIMIT = "200"  # results a request when no bodies are asked for
CHOICES = ("space", "root", "label", "cql")


class LiveRecords:
    """The wiki itself: a space, the pages below one page, those with a label, or those a CQL query finds."""

    def __init__(self, address: str, configuration: Configuration, client: RestClient | None = None) -> None:
        base, choice = _choice(address, configuration.settings.wiki.url)
        self._client = client or RestClient(base, configuration.settings.confluence)
        self._choice = choice
        self._size = str(configuration.settings.confluence.page_size)
        self.losses: list[Loss] = []
        self.people: dict[str, str] = {}
        self.keys: dict[str, str] = {}
        self._refs: list[PageRef] | None = None

    def refs(self) -> list[PageRef]:
        """A light listing, compared with the wiki's own count."""
        if self._refs is None:
            found: dict[str, PageRef] = {}
            for path, parameters in self._requests({"limit": LIGHT_LIMIT, "expand": "space"}):
                for record, _ in self._client.results(path, parameters):
                    if is_page({"status": "current", **record}):
                        found[str(record["id"])] = PageRef(str(record["id"]), str(record.get("title") or ""))
                        self.keys[str(record["id"])] = read_record(record, "").space
            if root := self._choice.get("root"):
                found = {root: PageRef(root, root), **found}
            self._refs = list(found.values())
            self._compare(len(found))
        return self._refs

    def all(self) -> Iterator[tuple[Record, str] | PageFailure]:
        """Page by page of the listing; what it leaves out although it was announced is asked for by id."""
        arrived: set[str] = set()
        fault = ""
        try:
            for path, parameters in self._requests({"limit": self._size, "expand": EXPANDED}):
                for record, base in self._client.results(path, parameters):
                    if is_page(record) and str(record["id"]) not in arrived:
                        arrived.add(str(record["id"]))
                        self.people.update(people_of(record))
                        yield record, base
        except SourceError as error:
            fault = str(error)
        for ref in self.refs():
            if ref.id not in arrived:
                found = self.one(ref.id)
                yield found if found else PageFailure(ref, fault or "announced by the wiki, but it does not give it")

    def changed(self, since: datetime) -> Iterator[tuple[Record, str] | PageFailure]:
        """What the search index has as modified since then, a day earlier to be sure of the time zone."""
        moment = (since - TIME_ZONES).strftime("%Y-%m-%d %H:%M")
        parameters = {"cql": f'{self._cql()} and lastmodified >= "{moment}"', "limit": self._size, "expand": EXPANDED}
        for record, base in self._client.results("/rest/api/content/search", parameters):
            if is_page(record):
                self.people.update(people_of(record))
                yield record, base

    def one(self, page_id: str) -> tuple[Record, str] | None:
        try:
            record = self._client.get(f"/rest/api/content/{page_id}", {"expand": EXPANDED})
        except SourceError:
            return None
        return (record, self._client.base) if is_page(record) else None

    def titled(self, space: str, title: str) -> tuple[Record, str] | None:
        try:
            answer = self._client.get("/rest/api/content", {"spaceKey": space, "title": title, "expand": EXPANDED})
        except SourceError:
            return None
        found = next((record for record in listed(answer) if is_page(record)), None)
        return (found, self._client.base) if found else None

    def space(self, key: str, identity: str) -> Record:
        try:
            found = self._client.get(f"/rest/api/space/{key}", {"expand": "permissions"})
        except SourceError:
            return {}
        return found if isinstance(found, dict) and space_readers(found) is not None else {}

    def attachment(self, page_id: str, name: str) -> bytes | None:
        return self._client.bytes_of(attachment_url("", page_id, name))

    def _requests(self, parameters: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
        if space := self._choice.get("space"):
            for key in space.split(","):
                yield "/rest/api/content", {"spaceKey": key.strip(), "type": "page", **parameters}
            return
        yield "/rest/api/content/search", {"cql": self._cql(), **parameters}

    def _cql(self) -> str:
        if root := self._choice.get("root"):
            return f"ancestor = {root} and type = page"
        if label := self._choice.get("label"):
            return f'label = "{label}" and type = page'
        if space := self._choice.get("space"):
            return "space in (" + ", ".join(f'"{key.strip()}"' for key in space.split(",")) + ") and type = page"
        return f"({self._choice['cql']}) and type = page"

    def _compare(self, listed: int) -> None:
        """The count of the search index, independent of the listing's paging."""
        try:
            answer = self._client.get("/rest/api/search", {"cql": self._cql(), "limit": "1"})
        except SourceError as error:
            self.losses.append(Loss("pages", "count", detail=f"the wiki gives no count of its own: {error}"))
            return
        total = answer.get("totalSize") if isinstance(answer, dict) else None
        expected = listed - bool(self._choice.get("root"))
        if isinstance(total, int) and total > expected:
            detail = f"the wiki counts {total} pages, its listing gave {expected}"
            self.losses.append(Loss("pages", "count", total - expected, detail))


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
    if "root" in choice and not choice["root"].isdigit():
        raise SourceError(f"rest:{address}: root is the number of a page (pageId), not {choice['root']!r}.")
    return base.rstrip("/"), choice
