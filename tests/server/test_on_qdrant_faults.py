"""A real Qdrant server that is full, slow or gone (make test-server): a sentence, nothing lost, next sync whole."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from askwiki.data import Rights
from askwiki.errors import StoreError
from askwiki.settings import StoreSettings
from askwiki.store.port import Leg
from tests.server.test_on_qdrant import eventually
from tests.support import crash_sync
from tests.support.qdrant import HOW, Qdrant, binary, running
from tests.support.slow_proxy import slow_proxy
from tests.support.sources import Indexer
from tests.support.stores import EMBEDDER, on_server
from tests.support.waiting import until

pytestmark = pytest.mark.server

QUESTION = [Leg("text", EMBEDDER.query("было 6"), 10)]
MEGABYTE = 1 << 20
SMALL_DISK = 500 * MEGABYTE
LEFT = 20 * MEGABYTE  # less than the server keeps free for its log


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, in memory."""
    if os.geteuid() or not binary():
        pytest.skip("needs root, to mount a small disk" if binary() else HOW)
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def clean(tmp_path: Path, server: Qdrant) -> dict[str, Any]:
    """What undisturbed runs leave behind."""
    settings = server.settings(collection="undisturbed", batch=64)
    crash_sync.run(tmp_path / "undisturbed", crash_sync.before(), settings)
    crash_sync.run(tmp_path / "undisturbed", crash_sync.after(), settings)
    return on_server(settings).contents()


def answers(settings: StoreSettings) -> int:
    reader = on_server(settings).reader()
    found = len(reader.search(QUESTION, Rights())["text"])
    reader.close()
    return found


def test_a_full_disk_is_a_sentence_answers_go_on_and_the_next_sync_is_whole(small_disk: Path, tmp_path: Path) -> None:
    with running(small_disk / "qdrant") as server:
        wanted = clean(tmp_path, server)
        settings = server.settings(batch=64, retries=1)
        crash_sync.run(tmp_path / "cache", crash_sync.before(), settings)
        until(server.is_idle, "the server has brought its segments in order")
        ballast = small_disk / "ballast"
        with ballast.open("wb") as file, contextlib.suppress(OSError):
            os.posix_fallocate(file.fileno(), 0, max(shutil.disk_usage(small_disk).free - LEFT, 1))
        with pytest.raises(StoreError, match=r"[Nn]o space left|disk") as told:
            crash_sync.run(tmp_path / "cache", crash_sync.after(), settings)
        assert "\n" not in str(told.value)
        assert answers(settings) == 10
        ballast.unlink()
        crash_sync.run(tmp_path / "cache", crash_sync.after(), settings)
        assert on_server(settings).contents() == wanted


def test_a_slow_server_is_waited_for_and_one_slower_than_the_limit_is_a_sentence(tmp_path: Path) -> None:
    if not binary():
        pytest.skip(HOW)
    with running(tmp_path / "qdrant") as server, slow_proxy(server.port) as proxy:
        wanted = clean(tmp_path, server)
        settings = dataclasses.replace(server.settings(batch=64, retries=0, timeout=2.0), qdrant_url=proxy.url)
        crash_sync.run(tmp_path / "cache", crash_sync.before(), settings)
        proxy.delay = 0.3
        assert answers(settings) == 10
        proxy.delay = 4.0
        begun = time.monotonic()
        with pytest.raises(StoreError, match=r"The Qdrant server at \S+ could not do it \(timed out\)\."):
            answers(settings)
        assert time.monotonic() - begun < 4.0
        with pytest.raises(StoreError, match=r"timed out"):
            crash_sync.run(tmp_path / "cache", crash_sync.after(), settings)
        proxy.delay = 0.0
        assert answers(settings) == 10
        crash_sync.run(tmp_path / "cache", crash_sync.after(), settings)
        assert on_server(settings).contents() == wanted


@pytest.mark.parametrize("grpc", [False, True], ids=["REST", "gRPC"])
def test_a_server_that_is_gone_for_a_while_is_answered_by_the_same_reader_again(tmp_path: Path, grpc: bool) -> None:
    if not binary():
        pytest.skip(HOW)
    with running(tmp_path / "qdrant") as server:
        settings = server.settings(batch=64, retries=0, timeout=3.0, grpc=grpc)
        Indexer(tmp_path / "cache", on_server(settings)).sync(*crash_sync.before()[:20])
        reader = on_server(settings).reader()
        before = reader.search(QUESTION, Rights())
        server.end(signal.SIGKILL)
        for _ in range(5):  # a client that is told "no" again and again waits longer and longer
            with pytest.raises(StoreError, match=r"The Qdrant server at \S+ could not do it \(.+\)\.$"):
                reader.search(QUESTION, Rights())
            time.sleep(1.0)
        server.start()
        assert eventually(lambda: reader.search(QUESTION, Rights()) == before, 5.0)
        reader.close()
