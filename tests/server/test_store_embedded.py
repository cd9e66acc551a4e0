"""What only the embedded store has: processes, versions, private copies, folders that are cut off."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from askwiki.configuration import CHECKOUT
from askwiki.data import Rights
from askwiki.errors import StoreError
from askwiki.store.embedded.files import copy_shard
from askwiki.store.embedded.store import embedded_reader, embedded_writer
from askwiki.store.port import Leg
from tests.support.stores import EMBEDDER, FINGERPRINT, SOURCE, embedded, make_chunk, write_page
from tests.support.waiting import PATIENCE, until


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An index with one page."""
    writer = embedded_writer(tmp_path / "store", FINGERPRINT)
    write_page(writer, make_chunk("1", 0, "первый"))
    writer.commit()
    writer.close()
    return tmp_path / "store"


def test_what_the_index_holds_is_for_its_account_only(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        writer = embedded_writer(tmp_path / "store", FINGERPRINT)
        write_page(writer, make_chunk("1", 0, "первый"))
        writer.commit()
        writer.close()
        reader = embedded_reader(tmp_path / "store")
        assert reader.count() == 1
    finally:
        os.umask(before)
    root = tmp_path / "store"
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    read_by_others = [path for path in root.glob("versions/**/*") if path.is_file() and path.stat().st_mode & 0o077]
    read_by_others += [path for path in root.glob("writer/**/*") if path.is_file() and path.stat().st_mode & 0o077]
    read_by_others += [path for path in root.glob("*") if path.is_file() and path.stat().st_mode & 0o077]
    assert read_by_others == []
    reader.close()


def add_page(root: Path, page: str) -> None:
    writer = embedded_writer(root, FINGERPRINT)
    write_page(writer, make_chunk(page, 0, f"страница {page}"))
    writer.commit()
    writer.close()


def _read_in_a_process(root: str, ready: object, go: object, answers: object) -> None:
    reader = embedded_reader(Path(root))
    answers.put(reader.count())  # type: ignore[attr-defined]
    ready.release()  # type: ignore[attr-defined]
    go.wait()  # type: ignore[attr-defined]
    answers.put(reader.count())  # type: ignore[attr-defined]
    reader.close()


def test_readers_in_several_processes_and_a_writer_never_block_one_another(root: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready, go, answers = context.Semaphore(0), context.Event(), context.Queue()
    readers = [context.Process(target=_read_in_a_process, args=(str(root), ready, go, answers)) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in readers:
        assert ready.acquire(timeout=PATIENCE)
    here = embedded_reader(root)
    add_page(root, "2")
    go.set()
    assert sorted(answers.get(timeout=PATIENCE) for _ in range(4)) == [1, 1, 2, 2]
    assert here.count() == 2
    here.close()
    for reader in readers:
        reader.join()


def test_old_versions_and_copies_go(root: Path) -> None:
    reader = embedded_reader(root)
    assert reader.count() == 1
    add_page(root, "2")
    assert reader.count() == 2
    assert [path.name for path in (root / "versions").iterdir()] == ["2"]
    assert len(list((root / "readers").glob("*.lock"))) == 1
    reader.close()
    assert [path.name for path in (root / "readers").iterdir()] == ["lock"]


def test_the_copy_of_a_process_that_was_killed_is_removed_by_the_next_reader(root: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from askwiki.store.embedded.store import embedded_reader\n"
        f"reader = embedded_reader(Path({str(root)!r})); reader.count(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(CHECKOUT / "pipelines")}, check=False)
    assert len(list((root / "readers").glob("*.lock"))) == 1
    reader = embedded_reader(root)
    reader.count()
    assert len(list((root / "readers").glob("*.lock"))) == 1
    reader.close()


def test_a_reader_whose_version_is_replaced_in_the_middle_of_use_goes_on(root: Path) -> None:
    """Many questions from several threads while a writer publishes: every answer is of one version or the next."""
    reader, stop, seen, faults = embedded_reader(root), threading.Event(), set[int](), list[Exception]()

    def ask() -> None:
        try:
            while not stop.is_set():
                legs = [Leg("text", EMBEDDER.query("страница"), 10)]
                seen.add(len(reader.search(legs, Rights())["text"]))
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    add_page(root, "2")
    add_page(root, "3")
    until(lambda: 3 in seen or faults, "somebody reads the third version")
    stop.set()
    for thread in threads:
        thread.join()
    reader.close()
    assert faults == []
    assert {3} <= seen <= {1, 2, 3}


@pytest.mark.parametrize("folders", [1, 2, 4, 8])
def test_a_version_that_is_replaced_while_it_is_copied_is_not_read_in_part(
    root: Path, folders: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that went before it was listed is left out by the system's walk without a word."""
    listed, scandir = list[str](), os.scandir

    def publishing(path: Any) -> Any:
        if str(root / "versions" / "1") in str(path):
            listed.append(str(path))
            if len(listed) == folders:
                add_page(root, "2")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", publishing)
    reader = embedded_reader(root)
    assert reader.count() == 2
    reader.close()


def test_reading_leaves_the_version_untouched(root: Path) -> None:
    def state() -> dict[Path, tuple[int, bytes]]:
        files = [path for path in (root / "versions").rglob("*") if path.is_file()]
        return {path: (path.stat().st_mtime_ns, path.read_bytes()[:4096]) for path in files}

    before = state()
    for _ in range(2):
        reader = embedded_reader(root)
        reader.search([Leg("text", EMBEDDER.query("первый"), 10)], Rights())
        reader.close()
    assert state() == before


def test_copies_keep_the_holes_of_files(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with (tmp_path / "a" / "file").open("wb") as file:
        file.write(b"begin")
        file.seek(1 << 24)
        file.write(b"end")
    copy_shard(tmp_path / "a", tmp_path / "b", link=False)
    copy = tmp_path / "b" / "file"
    assert copy.read_bytes() == (tmp_path / "a" / "file").read_bytes()
    assert copy.stat().st_blocks * 512 < 1 << 20


def test_what_was_written_before_a_crash_is_published_by_the_next_run_even_without_changes(root: Path) -> None:
    writer = embedded_writer(root, FINGERPRINT)
    write_page(writer, make_chunk("2", 0, "второй"))
    writer.close()
    assert embedded(root).reader().count() == 1
    writer = embedded_writer(root, FINGERPRINT)
    writer.commit()
    writer.close()
    assert embedded(root).reader().count() == 2


@pytest.mark.parametrize("left", ["writer", "writer without fingerprint", "part of a version", "complete rebuild"])
def test_whatever_a_crash_leaves_the_next_writer_goes_on(root: Path, left: str) -> None:
    if left == "writer":
        shutil.rmtree(root / "writer")
    elif left == "writer without fingerprint":
        (root / "writer" / "fingerprint.json").unlink()
    elif left == "part of a version":
        shutil.copytree(root / "versions" / "1", root / "versions" / "2.part")
    else:
        copy_shard(root / "versions" / "1", root / "building", link=False)
        (root / "building" / "complete").touch()
        shutil.rmtree(root / "writer")
    add_page(root, "2")
    reader = embedded_reader(root)
    assert reader.count() == 2
    reader.close()
    assert not (root / "building").exists()
    assert [path.name for path in (root / "versions").iterdir()] == ["2"]


def test_a_version_that_is_not_there_is_a_sentence(root: Path) -> None:
    shutil.rmtree(root / "versions")
    with pytest.raises(StoreError, match=r"points to version 1, which is not there.*indexer sync"):
        embedded_reader(root).count()


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder whose parent is a file: nothing can be made there."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    yield tmp_path / "file" / "store"


def test_a_folder_that_cannot_be_written_is_a_sentence(full_disk: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        embedded_writer(full_disk, FINGERPRINT)
    assert embedded_reader(full_disk.parent.parent / "nothing").count() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_disk_leaves_the_old_version_in_force(root: Path) -> None:
    writer = embedded_writer(root, FINGERPRINT)
    write_page(writer, make_chunk("2", 0, "второй"))
    (root / "versions" / "2.part").mkdir()
    (root / f"current.{os.getpid()}.part").symlink_to("/dev/full")
    with pytest.raises(StoreError, match=r"could not be published.*The old one stays in force"):
        writer.commit()
    writer.close()
    reader = embedded_reader(root)
    assert reader.count() == 1
    reader.close()


def test_pages_that_come_and_go_leave_no_room_behind(tmp_path: Path) -> None:
    root = tmp_path / "store"
    sizes = []
    for turn in range(6):
        writer = embedded_writer(root, FINGERPRINT)
        for page in range(30):
            chunks = [make_chunk(f"{turn}-{page}", n, f"страница {page} раздел {n} раз {turn}") for n in range(10)]
            write_page(writer, *chunks)
            writer.remove_page(SOURCE, f"{turn - 1}-{page}")
        writer.commit()
        writer.close()
        kept = [file for file in (root / "writer" / "shard" / "segments").rglob("*") if file.is_file()]
        sizes.append(sum(file.stat().st_blocks for file in kept))
    assert max(sizes[3:]) <= 1.1 * max(sizes[:3])
    reader = embedded_reader(root)
    assert reader.count() == 300
    leg = Leg("text", EMBEDDER.query("страница 7 раздел 3 раз 5"), 1)
    (found,) = reader.search([leg], Rights())["text"]
    assert reader.fetch([found], Rights())[found].text.endswith("раз 5")
