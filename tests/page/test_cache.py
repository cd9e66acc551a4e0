"""The cache on disk: what goes in comes out, for many threads and processes, and faults are sentences."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path

import pytest

from askwiki.errors import StoreError
from indexer.enrich.cache import FILE, Cache, content_key


def test_values_come_back_by_kind_and_key_and_unknown_keys_are_left_out(tmp_path: Path) -> None:
    with closing(Cache(tmp_path)) as cache:
        cache.put_many("vector", {"a": b"1", "b": b""})
        cache.put_many("cut", {"a": b"2"})
        assert cache.get_many("vector", ["a", "b", "c"]) == {"a": b"1", "b": b""}
        assert cache.get_many("cut", ["a", "b"]) == {"a": b"2"}


def test_the_cache_is_for_its_account_only_also_one_that_was_open(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        sqlite3.connect(tmp_path / FILE).close()
        with closing(Cache(tmp_path)) as cache:
            cache.put_many("vector", {"a": b"1"})
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600} and len(modes) == 3  # the file, SQLite's log and its index


def test_more_keys_than_one_statement_takes(tmp_path: Path) -> None:
    items = {f"key{number}": str(number).encode() for number in range(2500)}
    with closing(Cache(tmp_path)) as cache:
        cache.put_many("vector", items)
        assert cache.get_many("vector", list(items)) == items


def test_a_second_cache_on_the_same_folder_sees_what_the_first_wrote(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    with closing(Cache(folder)) as first, closing(Cache(folder)) as second:
        first.put_many("cut", {"a": b"old"})
        second.put_many("cut", {"a": b"new"})
        first.close()
        assert first.get_many("cut", ["a"]) == {"a": b"new"}


def test_without_a_folder_it_lives_in_memory() -> None:
    with closing(Cache(None)) as cache:
        cache.put_many("cut", {"a": b"1"})
        assert cache.get_many("cut", ["a"]) == {"a": b"1"}


def test_threads_and_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_write, args=(tmp_path, f"p{number}")) for number in range(2)]
    cache = Cache(tmp_path)
    threads = [threading.Thread(target=_write, args=(tmp_path, f"t{number}", cache)) for number in range(4)]
    for process in processes:
        process.start()
    for thread in threads:
        thread.start()
    for process in processes:
        process.join()
    for thread in threads:
        thread.join()
    keys = [f"{name}-{number}" for name in ("p0", "p1", "t0", "t1", "t2", "t3") for number in range(50)]
    found = cache.get_many("kind", keys)
    cache.close()
    assert sorted(found) == sorted(keys)


def test_a_cache_that_another_process_is_just_making_is_waited_for(tmp_path: Path) -> None:
    with (
        closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other,
        closing(Cache(tmp_path)) as cache,
        ThreadPoolExecutor(1) as pool,
    ):
        other.execute("BEGIN IMMEDIATE")
        found = pool.submit(cache.get_many, "cut", ["a"])
        wait([found], timeout=0.2)
        other.execute("COMMIT")
        assert found.result() == {}


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match=r"cache\.sqlite cannot be used .*Delete it"):
        Cache(tmp_path).get_many("cut", ["a"])


def test_the_key_knows_where_one_part_ends() -> None:
    assert content_key("ab", "c") != content_key("a", "bc")
    assert content_key("ab", b"c") == content_key("ab", "c")


def _write(folder: Path, name: str, cache: Cache | None = None) -> None:
    used = cache or Cache(folder)
    for number in range(50):
        used.put_many("kind", {f"{name}-{number}": b"x"})
    if cache is None:
        used.close()
