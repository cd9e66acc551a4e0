"""Backup and restore tried whole: index lost, taken back, same answers, and a next sync that changes nothing."""

from __future__ import annotations

import dataclasses
import io
import json
import shutil
import tarfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from askwiki.data import PUBLIC, Rights
from askwiki.errors import StoreError
from askwiki.settings import StoreSettings
from askwiki.store.backup import backup, restore
from askwiki.store.port import Leg
from askwiki.store.qdrant.client import connect
from tests.support import crash_sync
from tests.support.qdrant import HOW, binary, running
from tests.support.sources import Indexer
from tests.support.stores import EMBEDDER, SPARSE, Store, embedded, on_server

ALL = 1_000  # so deep that equal scores are not cut off in the middle
WORDS = ["стало 6", "новое 11", "было 2", "раздел", "слово"]
RIGHTS = [Rights(frozenset({PUBLIC})), Rights(frozenset({PUBLIC, "team 2"})), Rights(frozenset({"nobody"}))]


@dataclass(frozen=True)
class Place:
    """A store, and how its index is lost."""

    settings: StoreSettings
    store: Store
    lose: Callable[[], None]


@pytest.fixture(params=["embedded", *(pytest.param(way, marks=pytest.mark.server) for way in ("REST", "gRPC"))])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "embedded":
        settings = StoreSettings(path=str(tmp_path / "store"))
        return Place(settings, embedded(tmp_path / "store"), lambda: shutil.rmtree(tmp_path / "store"))
    server: StoreSettings = request.getfixturevalue("qdrant")
    settings = dataclasses.replace(
        server, collection=f"b{uuid.uuid4().hex}", shards=3, batch=64, grpc=request.param == "gRPC"
    )
    return Place(settings, on_server(settings), lambda: drop(settings))


def drop(settings: StoreSettings) -> None:
    client = connect(settings)
    for item in client.get_collections().collections:
        if item.name.startswith(f"{settings.collection}_v"):
            client.delete_collection(item.name)
    client.close()


def seen(store: Store) -> Any:
    """Everything a question can meet: search lists, texts, readers, count, fingerprint.

    Of the sparse leg no scores: a server counts deleted points in its IDF until it happens to rebuild a segment.
    """
    reader = store.reader()
    legs = [
        [Leg("text", EMBEDDER.query(word), ALL), Leg("context", EMBEDDER.query(word), ALL),
         Leg("sparse", SPARSE.query(word), ALL)]
        for word in WORDS
    ]  # fmt: skip
    found = [reader.search(asked, rights) for asked in legs for rights in RIGHTS]
    texts = [reader.fetch(sorted(hits.get("text", {})), RIGHTS[1]) for hits in found]
    rest = (reader.conjunctions(), reader.count(), reader.fingerprint())
    reader.close()
    lists = [
        {
            name: [(chunk, hit.rank, name != "sparse" and round(hit.score, 4)) for chunk, hit in hits.items()]
            for name, hits in each.items()
        }
        for each in found
    ]
    return lists, texts, rest


def test_an_index_that_was_lost_is_back_and_the_next_sync_changes_nothing(place: Place, tmp_path: Path) -> None:
    Indexer(tmp_path / "first", place.store).sync(*crash_sync.before())
    Indexer(tmp_path / "first", place.store).sync(*crash_sync.after())
    before, contents = seen(place.store), place.store.contents()
    [run] = runs(place)
    folder = tmp_path / "backups"
    folder.mkdir()
    file = backup(place.settings, folder)
    assert (file.parent, file.stat().st_mode & 0o077) == (folder, 0)
    place.lose()
    assert count(place) == 0
    about = restore(place.settings, file)
    assert (about.chunks, about.fingerprint) == (run.chunks, before[2][2])
    assert seen(place.store) == before
    assert place.store.contents() == contents
    assert [back.started for back in runs(place)] == [run.started]
    ledger = Indexer(tmp_path / "fresh", place.store).sync(*crash_sync.after())
    assert (ledger.unchanged, ledger.indexed, ledger.removed, ledger.failed) == (ledger.expected, 0, 0, 0)
    assert ledger.model_calls == 0
    assert place.store.contents() == contents
    assert seen(place.store) == before


def test_a_restored_index_takes_over_while_a_reader_is_open(place: Place, tmp_path: Path) -> None:
    Indexer(tmp_path / "cache", place.store).sync(*crash_sync.before())
    file, contents = backup(place.settings, tmp_path / "old.tar"), place.store.contents()
    Indexer(tmp_path / "cache", place.store).sync(*crash_sync.after())
    reader = place.store.reader()
    assert reader.count() > 0
    restore(place.settings, file)
    assert place.store.contents() == contents
    reader.close()
    Indexer(tmp_path / "cache", place.store).sync(*crash_sync.after())
    assert place.store.contents() != contents


def test_no_backup_is_taken_while_an_indexer_writes(place: Place, tmp_path: Path) -> None:
    indexer = Indexer(tmp_path / "cache", place.store)
    indexer.sync(*crash_sync.before()[:3])
    writer = place.store.writer(indexer.fingerprint())
    writer.claim("html:wiki")
    with pytest.raises(StoreError, match=r"[Ii]ndexer .*is writing"):
        backup(place.settings, tmp_path / "never.tar")
    writer.close()
    assert list(tmp_path.glob("never.tar*")) == []


def test_without_an_index_there_is_nothing_to_copy(place: Place, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="There is no index"):
        backup(place.settings, tmp_path / "never.tar")


@pytest.mark.parametrize("fault", ["cut", "changed", "flipped", "foreign", "text", "a member more"])
def test_a_file_that_is_no_whole_backup_changes_nothing(place: Place, tmp_path: Path, fault: str) -> None:
    Indexer(tmp_path / "cache", place.store).sync(*crash_sync.before()[:9])
    contents, file = place.store.contents(), backup(place.settings, tmp_path / "good.tar")
    bad = tmp_path / "bad.tar"
    FAULTS[fault](file, bad)
    with pytest.raises(StoreError):
        restore(place.settings, bad)
    assert place.store.contents() == contents
    assert Indexer(tmp_path / "cache", place.store).sync(*crash_sync.before()[:9]).unchanged == 9


def _cut(good: Path, bad: Path) -> None:
    content = good.read_bytes()
    bad.write_bytes(content[: len(content) // 2])


def _flipped(good: Path, bad: Path) -> None:
    """A byte in every kilobyte of the file's last half."""
    content = bytearray(good.read_bytes())
    for place in range(len(content) // 2, len(content), 1024):
        content[place] ^= 0xFF
    bad.write_bytes(content)


def _members(good: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(good, "r:*") as archive:
        for member in archive:
            content = archive.extractfile(member)
            assert content is not None
            yield member.name, content.read()


def _written(bad: Path, members: list[tuple[str, bytes]]) -> None:
    with tarfile.open(bad, "w") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def _changed(good: Path, bad: Path) -> None:
    """One bit in the middle of what the largest file holds."""
    members = list(_members(good))
    largest = max(range(1, len(members)), key=lambda place: len(members[place][1]))
    name, content = members[largest]
    held = [place for place, byte in enumerate(content) if byte]
    middle = held[len(held) // 2]
    members[largest] = name, content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    _written(bad, members)


def _more(good: Path, bad: Path) -> None:
    _written(bad, [*_members(good), ("../outside", b"x")])


FAULTS: dict[str, Callable[[Path, Path], Any]] = {
    "cut": _cut,
    "changed": _changed,
    "flipped": _flipped,
    "foreign": lambda good, bad: _written(bad, [("something", b"else")]),
    "text": lambda good, bad: bad.write_text("no archive", encoding="utf-8"),
    "a member more": _more,
}


def test_a_backup_of_the_other_store_or_of_a_newer_askwiki_is_refused(tmp_path: Path) -> None:
    store = embedded(tmp_path / "store")
    Indexer(tmp_path / "cache", store).sync(*crash_sync.before()[:2])
    file = backup(StoreSettings(path=str(tmp_path / "store")), tmp_path / "a.tar.gz")
    with pytest.raises(StoreError, match="taken of the embedded store, and the settings name the Qdrant server"):
        restore(StoreSettings(qdrant_url="http://127.0.0.1:9"), file)
    with pytest.raises(StoreError, match=r"a\.tar\.gz is there already"):
        backup(StoreSettings(path=str(tmp_path / "store")), file)
    [(first, content), *rest] = _members(file)
    _written(tmp_path / "newer.tar", [(first, json.dumps({**json.loads(content), "format": 2}).encode()), *rest])
    with pytest.raises(StoreError, match="made by a newer askwiki"):
        restore(StoreSettings(path=str(tmp_path / "store")), tmp_path / "newer.tar")


@pytest.mark.server
def test_a_backup_goes_to_another_server(tmp_path: Path) -> None:
    if not binary():
        pytest.skip(HOW)
    with running(tmp_path / "one", QDRANT__SERVICE__API_KEY="first") as one, running(tmp_path / "two") as two:
        here, there = one.settings(qdrant_key="first", shards=2, batch=64), two.settings()
        Indexer(tmp_path / "cache", on_server(here)).sync(*crash_sync.before()[:20])
        contents, before = on_server(here).contents(), seen(on_server(here))
        with pytest.raises(StoreError, match="refused the key"):
            backup(dataclasses.replace(here, qdrant_key="wrong"), tmp_path / "never.tar")
        file = backup(here, tmp_path)
        assert [path.name for path in (tmp_path / "one" / "snapshots").rglob("*.snapshot")] == []
        restore(dataclasses.replace(there, replicas=2), file)  # one node: it has one copy of each all the same
        assert on_server(there).contents() == contents
        assert seen(on_server(there)) == before


def runs(place: Place) -> list[Any]:
    reader = place.store.reader()
    found = reader.freshness()
    reader.close()
    return found


def count(place: Place) -> int:
    reader = place.store.reader()
    found = reader.count()
    reader.close()
    return found
