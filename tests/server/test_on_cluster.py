"""A cluster of three real Qdrant servers (make test-server): a node is killed under fifty chats and a sync."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest

from askwiki.configuration import CHECKOUT
from askwiki.data import Rights
from askwiki.doctor.llm import Line
from askwiki.doctor.qdrant import PART, probe_qdrant
from askwiki.settings import StoreSettings
from askwiki.store.backup import backup, restore
from askwiki.store.port import Leg
from tests.server.test_backup import drop, seen
from tests.support import crash_sync
from tests.support.cluster import cluster
from tests.support.qdrant import HOW, Qdrant, binary, running
from tests.support.sources import Indexer, ListSource
from tests.support.stores import EMBEDDER, SPARSE, on_server

Contents = dict[str, Any]
pytestmark = pytest.mark.server

CHATS = 50
QUESTIONS = ["было 6", "стало 12", "раздел 2", "новое 11", "слово"]
LEGS = [
    [Leg("text", EMBEDDER.query(words), 50), Leg("context", EMBEDDER.query(words), 50),
     Leg("sparse", SPARSE.query(words), 50)]
    for words in QUESTIONS
]  # fmt: skip


@pytest.fixture
def three(tmp_path: Path) -> Iterator[list[Qdrant]]:
    if not binary():
        pytest.skip(HOW)
    with cluster(tmp_path / "cluster") as members:
        yield members


def settings_of(members: list[Qdrant], **fields: object) -> StoreSettings:
    settings = members[0].settings(shards=6, replicas=2, retries=5, batch=8, timeout=20.0, **fields)
    return dataclasses.replace(settings, qdrant_url=",".join(member.url for member in members))


def said(settings: StoreSettings) -> Line:
    """The doctor's line of the nodes."""
    [line] = [line for line in probe_qdrant(settings) if line[0] == PART]
    return line


class Chats:
    """Fifty threads that ask one reader, as a server does, each about once a second."""

    def __init__(self, settings: StoreSettings) -> None:
        self.asked, self.faults = 0, list[Exception]()
        self._stop = threading.Event()
        self._reader = on_server(settings).reader()
        self._threads = [threading.Thread(target=self._chat, args=(number,)) for number in range(CHATS)]

    def __enter__(self) -> Chats:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._reader.close()

    def _chat(self, number: int) -> None:
        while not self._stop.wait(1.0):
            try:
                found = self._reader.search(LEGS[number % len(LEGS)], Rights())
                assert self._reader.fetch(list(found["text"])[:10], Rights())
                self.asked += 1
            except Exception as error:  # kept for the assertion: a thread's own would be lost
                self.faults.append(error)


@pytest.mark.parametrize("killed", [0, 2], ids=["the node that is asked", "another"])
def test_a_node_dies_under_fifty_chats_and_a_sync_and_comes_back_whole(
    three: list[Qdrant], tmp_path: Path, killed: int
) -> None:
    settings = settings_of(three)
    crash_sync.run(tmp_path / "cache", crash_sync.before(), settings)
    assert said(settings) == (PART, "ok", "3 nodes, 6 shards in 2 copies each.", "")
    with Chats(settings) as chats:
        time.sleep(2.0)
        command = [sys.executable, "-m", "tests.support.crash_sync", str(tmp_path / "cache"), "after"]
        sync = subprocess.Popen([*command, json.dumps(asdict(settings))], cwd=CHECKOUT, stderr=subprocess.PIPE)
        time.sleep(3.0)
        three[killed].end(signal.SIGKILL)
        _, errors = sync.communicate(timeout=300)
        time.sleep(3.0)
    assert chats.faults == []
    assert chats.asked > CHATS
    if sync.returncode:  # it ended in a sentence, the next run goes on where it was
        assert b"StoreError" in errors, errors.decode()
    crash_sync.run(tmp_path / "cache", crash_sync.after(), settings)
    _, state, sentence, _ = said(settings)
    assert state == "warning"
    assert sentence.startswith(f"{three[killed].url}: no answer. Shards with fewer than 2 copies to be asked: ")
    three[killed].start()
    whole = (PART, "ok", "3 nodes, 6 shards in 2 copies each.", "")
    states = list[Line]()
    deadline = time.monotonic() + 120
    while said(settings) != whole and time.monotonic() < deadline:
        states.append(said(settings))
        time.sleep(0.5)
    assert said(settings) == whole, states[-1]
    with running(tmp_path / "clean") as one:
        crash_sync.run(tmp_path / "undisturbed", crash_sync.before(), one.settings(batch=8))
        crash_sync.run(tmp_path / "undisturbed", crash_sync.after(), one.settings(batch=8))
        clean = on_server(one.settings()).contents()
    for member in three:  # each by itself
        assert on_server(dataclasses.replace(settings, qdrant_url=member.url)).contents() == clean
    ledger = Indexer(tmp_path / "cache", on_server(settings)).sync(*crash_sync.after())
    assert (ledger.indexed, ledger.removed, ledger.failed) == (0, 0, 0)


def test_a_backup_of_a_cluster_comes_back_on_a_cluster(three: list[Qdrant], tmp_path: Path) -> None:
    settings = settings_of(three)
    store = on_server(settings)
    Indexer(tmp_path / "cache", store).sync(*crash_sync.after())
    contents, before = store.contents(), seen(store)
    file = backup(settings, tmp_path)
    drop(settings)
    assert restore(settings, file).chunks == before[2][1]
    for member in three:
        one = on_server(dataclasses.replace(settings, qdrant_url=member.url))
        assert one.contents() == contents
        assert seen(one) == before
    assert said(settings) == (PART, "ok", "3 nodes, 6 shards in 2 copies each.", "")
    ledger = Indexer(tmp_path / "fresh", store).sync(*crash_sync.after())
    assert (ledger.unchanged, ledger.indexed, ledger.model_calls) == (ledger.expected, 0, 0)


@contextlib.contextmanager
def grown(folder: Path, shards: int) -> Iterator[tuple[list[Qdrant], Contents]]:
    """Three nodes, of which the first had an index alone before, by the calls of the handbook; what it held."""
    if not binary():
        pytest.skip(HOW)
    with cluster(folder / "cluster", joined=False) as members:
        first = members[0]
        words, variables = first.words, first.variables
        first.words, first.variables = (), {}
        first.start()
        alone = first.settings(shards=shards, batch=64)
        crash_sync.run(folder / "cache", crash_sync.before(), alone)
        contents = on_server(alone).contents()
        first.end()
        first.words, first.variables = words, variables
        for member in members:
            member.start()
        alias = {"alias_name": "wiki", "collection_name": "wiki_v1"}
        called("POST", first, "/collections/aliases", {"actions": [{"create_alias": alias}]})
        yield members, contents


def test_one_node_grows_to_three_by_spreading_its_shards(tmp_path: Path) -> None:
    with grown(tmp_path, shards=6) as (members, contents):
        first, settings = members[0], settings_of(members)
        assert said(settings)[1:3] == (
            "warning",
            "3 nodes, 6 shards in 1 copy each. A lost node takes its pages along.",
        )
        called("PATCH", first, "/collections/wiki_v1", {"params": {"replication_factor": 2}})
        numbers = {info["uri"]: int(number) for number, info in called("GET", first, "/cluster")["peers"].items()}
        one, two, three = (number for _, number in sorted(numbers.items()))
        spread(first, "replicate_shard", one, {0: two, 1: two, 2: three, 3: two, 4: two, 5: three})
        spread(first, "move_shard", one, {1: three, 4: three})
        holds_everywhere_and_without_a_node(members, contents)


def test_one_node_grows_to_three_by_a_rebuild_that_takes_its_texts_from_the_cache(tmp_path: Path) -> None:
    with grown(tmp_path, shards=1) as (members, contents):
        indexer = Indexer(tmp_path / "cache", on_server(settings_of(members)))
        ledger = indexer.run(ListSource(crash_sync.before()), rebuild=True)
        assert (ledger.failed, ledger.model_calls) == (0, 0)
        holds_everywhere_and_without_a_node(members, contents)


def holds_everywhere_and_without_a_node(members: list[Qdrant], contents: Contents) -> None:
    settings = settings_of(members)
    assert said(settings) == (PART, "ok", "3 nodes, 6 shards in 2 copies each.", "")
    for member in members:
        assert on_server(dataclasses.replace(settings, qdrant_url=member.url)).contents() == contents
    members[1].end(signal.SIGKILL)
    assert on_server(settings).contents() == contents


def spread(node: Qdrant, how: str, source: int, targets: dict[int, int]) -> None:
    """Each shard to its node, then wait until all have arrived."""
    place = "/collections/wiki_v1/cluster"
    for shard, target in targets.items():
        called("POST", node, place, {how: {"shard_id": shard, "from_peer_id": source, "to_peer_id": target}})
    deadline = time.monotonic() + 120
    while called("GET", node, place)["shard_transfers"] and time.monotonic() < deadline:
        time.sleep(0.3)


def called(method: str, node: Qdrant, path: str, body: object = None) -> Any:
    answer = httpx.request(method, node.url + path, json=body, timeout=60.0)
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]
