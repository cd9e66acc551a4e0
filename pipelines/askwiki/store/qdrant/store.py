"""Reader and writer over a Qdrant server: versioned collections behind one alias.

``NAME`` is the alias, ``NAME_v1``, ``NAME_v2`` … the collections. The one with the alias answers; a
higher number is a new index being filled, a lower one is what it replaced. The very first one answers from its
first page on, for a large wiki takes hours; until it is whole it has the alias ``NAME_filling`` too.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from askwiki.data import Chunk, Vectors
from askwiki.errors import StoreError
from askwiki.store.engine import Row, Upsert
from askwiki.store.fingerprint import check_fingerprint, dense_sizes, uses_idf
from askwiki.store.payload import point_id
from askwiki.store.port import Freshness
from askwiki.store.qdrant import graphs
from askwiki.store.qdrant.engine import ServerEngine
from askwiki.store.qdrant.lease import Lease, others_write
from askwiki.store.qdrant.server import CollectionGone, QdrantServer
from askwiki.store.reader import IndexReader, RecordReader
from askwiki.store.records import IndexWriter, RecordWriter

KNOWN_SECONDS = 10.0  # how long a reader believes that the alias has not moved
Result = TypeVar("Result")


def server_reader(server: QdrantServer) -> IndexReader:
    return IndexReader(_Alias(server))


class _Alias:
    """Looks up the alias now and then and searches the collection by its own name.

    So the fingerprint it gave is that of the collection it searches, even while the alias moves.
    """

    def __init__(self, server: QdrantServer) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._found: _Found | None = None

    def fingerprint(self) -> Mapping[str, Any]:
        return self._current().fingerprint

    def freshness(self) -> list[Freshness]:
        return self.ask(lambda records: records.runs(), [])

    def calibration(self) -> Mapping[str, Any]:
        """Read once while the alias is believed in."""
        found = self._current()
        known = found.calibration  # another thread may forget it meanwhile
        if known is None:
            nothing: Mapping[str, Any] = {}
            known = found.calibration = self.ask(lambda records: records.calibration(), nothing)
        return known

    def whole(self) -> bool:
        return self._current().whole

    def close(self) -> None:
        self._server.close()

    def ask(self, call: Callable[[RecordReader], Result], empty: Result) -> Result:
        for _ in range(2):
            found = self._current()
            if found.records is None:
                return empty
            try:
                return call(found.records)
            except CollectionGone:
                self._found = None
        raise StoreError("The index was replaced twice during one question; ask again.")

    def _current(self) -> _Found:
        with self._lock:
            now = time.monotonic()
            if self._found is None or now - self._found.since > KNOWN_SECONDS:
                aliases = self._server.aliases()
                name = aliases.get(self._server.settings.collection, "")
                if self._found is not None and self._found.name == name:
                    self._found.since, self._found.calibration = now, None
                else:
                    self._found = _Found(self._server, name, now)
                self._found.whole = filling_alias(self._server) not in aliases
            return self._found


class _Found:
    """The collection behind the alias when it was looked up; no records when there is none."""

    def __init__(self, server: QdrantServer, name: str, since: float) -> None:
        self.name, self.since, self.whole = name, since, True
        if not name:
            _refuse_strangers(server)
        self.fingerprint = _fingerprint(server, name) if name else {}
        self.records = (
            RecordReader(ServerEngine(server, name), immutable=False, vectors=dense_sizes(self.fingerprint))
            if name
            else None
        )
        self.calibration: Mapping[str, Any] | None = None  # not read yet


def server_writer(server: QdrantServer, fingerprint: Mapping[str, Any], *, rebuild: bool = False) -> IndexWriter:
    """Writes into the collection in force, or fills a new one that takes over at ``commit``."""
    return IndexWriter(_Written(server, fingerprint, rebuild=rebuild))


class _Written:
    """The collection that is written, and who else writes it."""

    def __init__(self, server: QdrantServer, fingerprint: Mapping[str, Any], *, rebuild: bool) -> None:
        self._server = server
        name = server.settings.collection
        self._answering = server.aliased(name)
        if not self._answering:
            _refuse_strangers(server)
        if self._answering and not rebuild:
            check_fingerprint(_fingerprint(server, self._answering), fingerprint)
            self._collection = self._answering
        else:
            self._collection = _unfinished(server, self._answering, fingerprint)
        if not self._answering:
            server.switch(self._collection, given=[name, filling_alias(server)])
            self._answering = self._collection
        self._engine = ServerEngine(server, self._collection)
        self.records = RecordWriter(self._engine)
        self._leases: dict[str, Lease] = {}

    def claim(self, source: str) -> None:
        if source not in self._leases:
            self._leases[source] = Lease(self._engine, source)

    def changing(self, chunks: Sequence[Chunk], vectors: Sequence[Vectors]) -> None:
        """The server itself says when it has no room."""

    def freshness(self) -> list[Freshness]:
        return self.records.runs()

    def finish(self, run: Freshness) -> None:
        self.records.remember_run(run)

    def commit(self) -> None:
        """A new collection takes over in one step; the old one goes when no question can be using it."""
        if not others_write(self._engine, set(self._leases)):  # they may be about to use a conjunction
            self.records.forget_unused_access()
        graphs.build(self._server, self._collection)
        if self._collection != self._answering:
            take_over(self._server, self._collection)
            self._answering = self._collection
        elif (filling := filling_alias(self._server)) in self._server.aliases():
            self._server.switch(self._collection, given=[], gone=[filling])

    def close(self) -> None:
        for lease in self._leases.values():
            with contextlib.suppress(StoreError):  # it runs out by itself
                lease.release()
        self._leases = {}
        self._server.close()


def remember_calibration(server: QdrantServer, content: Mapping[str, Any]) -> None:
    """In the collection that answers, so that it goes and comes with it."""
    answering = server.aliased(server.settings.collection)
    if not answering:
        raise StoreError("There is no index yet.")
    row = Row(point_id("calibration"), {"record": "calibration", **content})
    ServerEngine(server, answering).write([Upsert([row])])


def filling_alias(server: QdrantServer) -> str:
    """The alias that the first index has until it is whole."""
    return f"{server.settings.collection}_filling"


def take_over(server: QdrantServer, collection: str, *, whole: bool = True) -> None:
    """The aliases move in one step; what is replaced goes when no question can be using it."""
    name, filling = server.settings.collection, filling_alias(server)
    gone = [alias for alias in (name, filling) if alias in server.aliases()]
    server.switch(collection, given=[name] if whole else [name, filling], gone=gone)
    older = [other for other in _versions(server) if _number(other) < _number(collection)]
    if older:
        time.sleep(server.settings.grace)
    for other in older:
        server.drop(other)


def next_version(server: QdrantServer) -> str:
    """The name of a collection that comes after all there are."""
    _refuse_strangers(server)
    return f"{server.settings.collection}_v{max([0, *map(_number, _versions(server))]) + 1}"


def _refuse_strangers(server: QdrantServer) -> None:
    name = server.settings.collection
    if name in server.collections():
        raise StoreError(
            f"The Qdrant server has a collection named {name} that askwiki did not make; "
            "set store.collection to another name."
        )


def _fingerprint(server: QdrantServer, collection: str) -> Mapping[str, Any]:
    found = server.metadata(collection).get("fingerprint")
    if not isinstance(found, Mapping):
        raise StoreError(
            f"The collection {collection} was not made by askwiki (it has no fingerprint); "
            "set store.collection to another name."
        )
    return found


def _unfinished(server: QdrantServer, answering: str, fingerprint: Mapping[str, Any]) -> str:
    """The new collection of a build that was cut off, else a fresh one; others that began are dropped."""
    newest = _number(answering)
    begun = [name for name in _versions(server) if _number(name) > newest]
    same = [name for name in begun if server.metadata(name).get("fingerprint") == fingerprint]
    for name in begun:
        if name not in same[-1:]:
            server.drop(name)
    if same:
        return same[-1]
    collection = f"{server.settings.collection}_v{newest + 1}"
    server.create(
        collection, dense_sizes(fingerprint), idf=uses_idf(fingerprint), metadata={"fingerprint": dict(fingerprint)}
    )
    return collection


def _versions(server: QdrantServer) -> list[str]:
    """Our collections, oldest first."""
    return sorted((name for name in server.collections() if _number_of(server, name)), key=_number)


def _number_of(server: QdrantServer, collection: str) -> int:
    head, _, number = collection.rpartition("_v")
    return int(number) if head == server.settings.collection and number.isdigit() else 0


def _number(collection: str) -> int:
    return int(collection.rpartition("_v")[2] or 0)
