"""A damaged index: what a process has open goes on, else a sentence; the next sync publishes again; nothing lies."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from askwiki.data import PUBLIC, Chunk, Rights
from askwiki.errors import StoreError
from askwiki.store.embedded.edge import EdgeEngine, EnginePanic
from askwiki.store.embedded.opened import InForce
from askwiki.store.embedded.store import embedded_reader, embedded_writer
from askwiki.store.engine import Where
from askwiki.store.port import Freshness
from tests.support.stores import FINGERPRINT, SOURCE, embedded, make_chunk, write_page

PAGES = ["1", "2", "3"]
RUN = Freshness(SOURCE, "2026-01-01T00:00:00+00:00", 3, 3, "2026-01-01T00:00:00+00:00", "digest")
Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sound") / "store"
    writer = embedded_writer(root, FINGERPRINT)
    for page in PAGES:
        write_page(writer, make_chunk(page, 0, f"страница {page}", acl="hr" if page == "3" else PUBLIC))
    writer.finish(RUN)
    writer.commit()
    writer.close()
    return root


@pytest.fixture
def root(sound: Path, tmp_path: Path) -> Path:
    subprocess.run(["cp", "-a", "--sparse=always", sound, tmp_path / "store"], check=True)
    return tmp_path / "store"


def unchanged_sync(root: Path) -> None:
    writer = embedded_writer(root, FINGERPRINT)
    try:
        writer.freshness()
        writer.count(SOURCE)
        writer.commit()
    finally:
        writer.close()


def contents(root: Path) -> dict[str, list[Chunk]]:
    reader = embedded_reader(root)
    try:
        return reader.chunks_of(PAGES, Rights())
    finally:
        reader.close()


# --- a published version --------------------------------------------------------------------------


def flip(file: Path) -> None:
    """One bit of a byte that is no zero, if there is one."""
    with file.open("r+b") as opened:
        start = opened.read(1 << 20)
        places = [place for place, byte in enumerate(start) if byte] or [0]
        place = random.Random(file.name).choice(places)
        os.pwrite(opened.fileno(), bytes([start[place] ^ 4]), place)


FILE_DAMAGES: list[Damage] = [flip, lambda file: os.truncate(file, 0), Path.unlink]


def kinds_of_files(folder: Path) -> list[Path]:
    """One file of each name that the engine gives, whatever segment or field it belongs to."""
    found = {re.sub(r"[0-9a-z-]{24,}", "*", str(path.relative_to(folder))): path for path in files(folder)}
    return [path for _, path in sorted(found.items())]


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


def damaged_and_mended(root: Path, chosen: Callable[[int], bool]) -> int:
    """How many files were damaged, one after another, each seen by the reader and mended by an unchanged sync."""
    expected, done = contents(root), 0
    for number in filter(chosen, range(len(kinds_of_files(root / "versions")))):
        FILE_DAMAGES[number % 3](kinds_of_files(root / "versions")[number])
        if number % 3 != 2 or number != manifest_of(root):
            with pytest.raises(StoreError, match=r"is damaged \(.*indexer sync$"):
                contents(root)
        unchanged_sync(root)
        assert contents(root) == expected
        done += 1
    return done


def manifest_of(root: Path) -> int:
    """Without it a version cannot be judged, but it is whole."""
    return [path.name for path in kinds_of_files(root / "versions")].index("manifest.json")


def test_a_damaged_file_is_a_sentence_and_the_next_sync_publishes_again(root: Path) -> None:
    assert damaged_and_mended(root, lambda number: number % 10 == 1) >= 3


@pytest.mark.long
def test_every_kind_of_file_may_be_damaged(root: Path) -> None:
    assert damaged_and_mended(root, lambda _: True) >= 30


LOST: dict[str, Damage] = {
    "all versions": lambda root: shutil.rmtree(root / "versions"),
    "the version": lambda root: shutil.rmtree(root / "versions" / "1"),
    "what is in it": lambda root: shutil.rmtree(root / "versions" / "1" / "shard"),
    "a foreign file in it": lambda root: (root / "versions" / "1" / "shard" / "foreign").touch(),
    "pointer gone": lambda root: (root / "current").unlink(),
    "pointer empty": lambda root: (root / "current").write_text(""),
    "pointer dangling": lambda root: (root / "current").write_text("7\n"),
    "pointer absolute": lambda root: (root / "current").write_text("/etc"),
    "pointer upwards": lambda root: (root / "current").write_text("../writer"),
    "pointer garbage": lambda root: (root / "current").write_bytes(b"\xff\x00\xd9\xa1"),
    "pointer a folder": lambda root: ((root / "current").unlink(), (root / "current").mkdir()),
    "pointer endless": lambda root: (root / "current").write_text("9" * 10_000),
}


@pytest.mark.parametrize("name", LOST)
def test_what_is_lost_of_a_version_the_next_unchanged_sync_brings_back(root: Path, name: str) -> None:
    expected, open_already = contents(root), embedded_reader(root)
    assert open_already.count() == 3
    LOST[name](root)
    with pytest.raises(StoreError, match="indexer sync"):
        contents(root)
    assert open_already.count() == 3
    unchanged_sync(root)
    assert contents(root) == expected
    assert open_already.count() == 3
    open_already.close()


def test_a_version_that_is_whole_is_not_published_again(root: Path) -> None:
    unchanged_sync(root)
    assert [path.name for path in (root / "versions").iterdir()] == ["1"]


# --- the writer's folder and what lies beside it ------------------------------------------------------------


WRITERS: dict[str, Damage] = {
    "gone": lambda root: shutil.rmtree(root / "writer"),
    "fingerprint gone": lambda root: (root / "writer" / "fingerprint.json").unlink(),
    "fingerprint broken": lambda root: (root / "writer" / "fingerprint.json").write_text("{"),
    "a payload flipped": lambda root: flip(next(iter((root / "writer").rglob("payload_storage/page_0.dat")))),
    "a segment cut": lambda root: os.truncate(next(iter((root / "writer").rglob("segment.json"))), 9),
    "its log gone": lambda root: shutil.rmtree(root / "writer" / "shard" / "wal"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_damaged_folder_of_the_writer_is_filled_again_and_sources_are_compared_in_full(root: Path, name: str) -> None:
    """Else an unchanged source would be skipped, and the next change would publish an index without the rest."""
    expected = contents(root)
    WRITERS[name](root)
    writer = embedded_writer(root, FINGERPRINT)
    assert [(run.started, run.digest, run.reconciled) for run in writer.freshness()] == [(RUN.started, "", "")]
    assert sorted(writer.pages(SOURCE)) == PAGES
    write_page(writer, make_chunk("4", 0, "четвёртая"))
    writer.commit()
    writer.close()
    assert contents(root) == expected
    assert embedded(root).reader().count() == 4


def test_when_both_are_damaged_nothing_is_thrown_away(root: Path) -> None:
    shutil.rmtree(root / "versions")
    flip(next(iter((root / "writer").rglob("payload_storage/page_0.dat"))))
    with pytest.raises(StoreError, match=r"neither can the version in force.*indexer rebuild"):
        unchanged_sync(root)
    assert (root / "writer" / "shard").exists()


@pytest.mark.parametrize("text", ["{", "[1]", '{"a": 1}', '{"a": {"source": null}}', "[" * 100_000])
def test_damaged_notes_of_runs_cost_a_full_comparison(root: Path, text: str) -> None:
    (root / "runs.json").write_text(text, encoding="utf-8")
    with pytest.raises(StoreError, match=r"runs\.json of the index is damaged.*indexer sync"):
        embedded_reader(root).freshness()
    writer = embedded_writer(root, FINGERPRINT)
    assert writer.freshness() == []
    writer.finish(RUN)
    writer.close()
    assert embedded_reader(root).freshness() == [RUN]


def test_a_lock_with_foreign_bytes_is_a_lock(root: Path) -> None:
    (root / "writer.lock").write_bytes(b"\xff\xfe")
    unchanged_sync(root)


# --- the engine itself ------------------------------------------------------------------------------------------


class PanicException(BaseException):
    """What a panic of Rust code looks like in Python: not an ``Exception``."""


class Panicking:
    """A shard that comes upon something it holds for impossible."""

    def count(self, _: Any) -> int:
        raise PanicException("index out of bounds\nat line 1")


def test_a_panic_of_the_engine_is_an_error_of_the_store() -> None:
    shard: Any = Panicking()
    with pytest.raises(EnginePanic, match=r"^The embedded index failed: index out of bounds$"):
        EdgeEngine(shard).count(Where({}))


def test_the_end_of_the_process_is_not_taken_for_a_fault_of_the_engine() -> None:
    class Interrupted(Panicking):
        def count(self, _: Any) -> int:
            raise KeyboardInterrupt

    shard: Any = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        EdgeEngine(shard).count(Where({}))


def test_after_a_panic_the_version_is_opened_anew(root: Path) -> None:
    in_force = InForce(root)
    first = in_force.current()
    assert first is not None and in_force.current() is first
    in_force.drop(first)
    second = in_force.current()
    assert second is not None and second is not first
    in_force.close()


def test_all_files_of_the_store_are_closed_to_other_users(root: Path) -> None:
    reader = embedded_reader(root)
    reader.count()
    unchanged_sync(root)
    below = [path for path in (root / "writer", root / "versions", root / "readers") for path in path.rglob("*")]
    assert {oct(path.stat().st_mode & 0o077) for path in below} == {"0o0"}
    reader.close()
