"""The collection in force of a Qdrant server, shard by shard, into a backup and back: the server's own snapshots.

One node or a cluster: each shard's snapshot is taken of a node that holds it whole, and goes back to one, which
the other copies then follow. Over HTTP, so from another machine too.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from askwiki.errors import StoreError
from askwiki.store.archive import About, add, writing
from askwiki.store.engine import Delete, Where
from askwiki.store.fingerprint import dense_sizes, uses_idf
from askwiki.store.qdrant import graphs
from askwiki.store.qdrant.engine import ServerEngine
from askwiki.store.qdrant.lease import Lease, others_write
from askwiki.store.qdrant.server import QdrantServer
from askwiki.store.qdrant.shards import holders, look
from askwiki.store.qdrant.snapshots import PATIENCE, Snapshots
from askwiki.store.qdrant.store import filling_alias, next_version, take_over
from askwiki.store.records import read_runs

CHUNKS = Where({"record": ["chunk"]})


def save(server: QdrantServer, path: Path) -> None:
    """No indexer may write meanwhile: a shard that is older than another would lose pages without a word."""
    collection = server.aliased(server.settings.collection)
    if not collection:
        raise StoreError(f"There is no index at {server.settings.qdrant_url} yet.")
    engine = ServerEngine(server, collection)
    if others_write(engine, set()):
        raise StoreError("An indexer is writing; wait for it to end and take the backup again.")
    runs = read_runs(engine)
    with ExitStack() as held:
        for run in runs:
            held.callback(Lease(engine, run.source).release)
        snapshots = Snapshots(server.settings)
        shards = dict[int, tuple[str, Mapping[str, Any]]]()
        for shard, address in sorted(holders(server, collection).items()):
            made = snapshots.make(address, collection, shard)
            held.callback(snapshots.delete, address, collection, shard, str(made["name"]))
            shards[shard] = address, made
        if others_write(engine, {run.source for run in runs}) or read_runs(engine) != runs:
            raise StoreError("An indexer began to write while the backup was taken; take it again.")
        about = About(
            store="qdrant",
            chunks=engine.count(CHUNKS),
            fingerprint=server.metadata(collection)["fingerprint"],
            runs=[dataclasses.asdict(run) for run in runs],
            more={
                "metadata": dict(server.metadata(collection)),
                "whole": filling_alias(server) not in server.aliases(),
                "checksums": {str(shard): described.get("checksum") or "" for shard, (_, described) in shards.items()},
            },
        )
        with writing(path, about) as archive:
            for shard, (address, described) in shards.items():
                with snapshots.download(address, collection, shard, str(described["name"])) as content:
                    add(archive, f"{shard}.snapshot", content, int(described["size"]))


def take_back(server: QdrantServer, about: About, files: Iterator[tuple[str, int, IO[bytes]]]) -> None:
    """Into a new collection beside the old one, whose alias it takes when it holds everything."""
    answering = server.aliased(server.settings.collection)
    if answering and others_write(ServerEngine(server, answering), set()):
        raise StoreError("An indexer is writing; wait for it to end and restore again.")
    checksums: Mapping[str, str] = about.more["checksums"]
    collection = next_version(server)
    as_it_was = QdrantServer(server.clients, dataclasses.replace(server.settings, shards=len(checksums)))
    as_it_was.create(
        collection, dense_sizes(about.fingerprint), idf=uses_idf(about.fingerprint), metadata=about.more["metadata"]
    )
    try:
        _fill(server, collection, checksums, files)
        _wait_for_copies(server, collection, about.chunks)
        engine = ServerEngine(server, collection)
        engine.write([Delete(Where({"record": ["lock"]}))])  # held while the backup was taken
    except StoreError:
        server.drop(collection)
        raise
    graphs.build(server, collection)
    take_over(server, collection, whole=about.more["whole"])


def _wait_for_copies(server: QdrantServer, collection: str, chunks: int) -> None:
    """In a cluster the other copies of a shard follow the one that was restored: until every node counts all."""
    nodes = [QdrantServer([client], server.settings) for client in server.clients]
    deadline = time.monotonic() + PATIENCE
    while True:
        found = [ServerEngine(node, collection).count(CHUNKS) for node in nodes]
        copies = look(server, collection)
        wanted = min(copies.wanted, copies.peers)
        if set(found) == {chunks} and all(number >= wanted for number in copies.copies.values()):
            return
        if time.monotonic() > deadline or copies.peers == 1:
            raise StoreError(f"The backup said {chunks} chunks, the restored index has {min(found)}.")
        time.sleep(1.0)


def _fill(
    server: QdrantServer, collection: str, checksums: Mapping[str, str], files: Iterator[tuple[str, int, IO[bytes]]]
) -> None:
    snapshots, places = Snapshots(server.settings), holders(server, collection)
    missing = set(checksums)
    for name, _, content in files:
        number = name.removesuffix(".snapshot")
        if number not in missing:
            raise StoreError(f"The backup holds {name!r}, which does not belong there.")
        missing.remove(number)
        snapshots.upload(places[int(number)], collection, int(number), content, checksums[number])
    if missing:
        raise StoreError(f"The backup is not whole: shard {min(missing)} is missing.")
