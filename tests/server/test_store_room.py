"""A full disk: the engine maps its files, so the room is looked at first; a process says a sentence and lives on."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from askwiki.configuration import CHECKOUT
from askwiki.errors import StoreError
from askwiki.store.embedded import room
from askwiki.store.embedded.files import copy_shard
from askwiki.store.embedded.manifest import content_of, damage, write_manifest
from askwiki.store.embedded.room import MEGABYTE, NoRoom, ask_for_room, fill_holes, free_room, holes_cost
from askwiki.store.embedded.store import embedded_reader, embedded_writer
from tests.support.stores import FINGERPRINT, make_chunk, write_page

MOUNTED = 420  # megabytes: room for an index and for one reader's copy of it, not for a second one


def index(root: Path, page: str) -> None:
    writer = embedded_writer(root, FINGERPRINT)
    try:
        write_page(writer, make_chunk(page, 0, f"страница {page}"))
        writer.commit()
    finally:
        writer.close()


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Every disk says that it has ``megabytes`` free."""
    disk = SimpleNamespace(megabytes=10**6)
    told = lambda _: SimpleNamespace(f_blocks=1, f_bavail=disk.megabytes, f_frsize=MEGABYTE)  # noqa: E731
    monkeypatch.setattr(os, "statvfs", told)
    return disk


def test_too_little_room_is_a_sentence_with_both_numbers(full: SimpleNamespace, tmp_path: Path) -> None:
    full.megabytes = 15
    ask_for_room(tmp_path, 15 * MEGABYTE, "do it")
    with pytest.raises(NoRoom, match=r"has 15 MB free, and 16 MB are needed to do it\. Make room"):
        ask_for_room(tmp_path, 16 * MEGABYTE, "do it")


def test_a_disk_that_does_not_tell_its_size_is_not_held_for_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_blocks=0, f_bavail=0, f_frsize=4096))
    assert free_room(Path("/")) is None
    ask_for_room(Path("/"), 10**12, "do it")


def test_no_index_is_begun_without_room(full: SimpleNamespace, tmp_path: Path) -> None:
    full.megabytes = 10
    with pytest.raises(NoRoom, match="make a new index"):
        embedded_writer(tmp_path / "store", FINGERPRINT)
    full.megabytes = 1000
    index(tmp_path / "store", "1")


def test_a_reader_keeps_the_version_it_has_while_there_is_no_room_for_the_next(
    full: SimpleNamespace, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = tmp_path / "store"
    index(root, "1")
    reader = embedded_reader(root)
    assert reader.count() == 1
    index(root, "2")
    full.megabytes = 1
    assert [reader.count(), reader.count()] == [1, 1]
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    with pytest.raises(NoRoom, match="open version 2 of the index"):
        embedded_reader(root).count()
    full.megabytes = 1000
    index(root, "3")
    assert reader.count() == 3
    reader.close()


def test_a_page_is_not_begun_without_room_and_the_next_run_goes_on(full: SimpleNamespace, tmp_path: Path) -> None:
    root = tmp_path / "store"
    index(root, "1")
    writer = embedded_writer(root, FINGERPRINT)
    full.megabytes = 5
    with pytest.raises(NoRoom, match="write a page"):
        write_page(writer, make_chunk("2", 0, "второй"))
    writer.close()
    full.megabytes = 1000
    assert embedded_reader(root).count() == 1
    index(root, "2")
    assert embedded_reader(root).count() == 2


def test_a_version_that_could_not_be_copied_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "store"
    index(root, "1")

    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "truncate", no_space)
    with pytest.raises(StoreError, match=r"could not be published.*No space left.*The old one stays in force"):
        index(root, "2")
    assert [path.name for path in (root / "versions").iterdir()] == ["1"]


def test_a_hole_counts_as_the_zeros_that_are_read_from_it(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.truncate(1 << 20)
    write_manifest(tmp_path)
    (tmp_path / "file").write_bytes(bytes(1 << 20))
    assert damage(tmp_path) == ""
    (tmp_path / "file").write_bytes(bytes(1 << 20)[:-1] + b"\1")
    assert damage(tmp_path) == "file has changed"


def test_copies_leave_zeros_out_so_a_filled_writer_does_not_fill_every_version(tmp_path: Path) -> None:
    (tmp_path / "writer").mkdir()
    (tmp_path / "writer" / "file").write_bytes(bytes(8 << 20) + b"end")
    write_manifest(tmp_path / "writer")
    copy_shard(tmp_path / "writer", tmp_path / "copy", link=False)
    assert (tmp_path / "copy" / "file").read_bytes() == bytes(8 << 20) + b"end"
    assert (tmp_path / "copy" / "file").stat().st_blocks * 512 <= 1 << 17
    assert content_of(tmp_path / "writer") == 3


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own in memory, where even reading a hole takes a block."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={MOUNTED}m", "tmpfs", disk], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def leave(disk: Path, megabytes: int) -> None:
    """Fill the disk until so much is free."""
    (disk / "filling").unlink(missing_ok=True)
    there = free_room(disk)
    assert there is not None
    with (disk / "filling").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(there - megabytes * MEGABYTE, 1))


def test_holes_are_filled_where_reading_them_takes_room(small_disk: Path) -> None:
    assert holes_cost(small_disk)
    (small_disk / "index").mkdir()
    with (small_disk / "index" / "file").open("wb") as file:
        file.truncate(50 * MEGABYTE)
    leave(small_disk, 60)
    with pytest.raises(NoRoom):
        fill_holes(small_disk / "index", "open it")
    leave(small_disk, 80)
    fill_holes(small_disk / "index", "open it")
    assert (small_disk / "index" / "file").stat().st_blocks * 512 >= 50 * MEGABYTE


CHILD = """
import sys, tempfile
from pathlib import Path
from askwiki.errors import StoreError
from tests.server.test_store_room import embedded_reader, index
root, tempfile.tempdir = Path(sys.argv[1]), sys.argv[2]
reader = embedded_reader(root)
for line in sys.stdin:
    try:
        if line.split()[0] == "restart":
            reader.close()
            reader = embedded_reader(root)
        print(index(root, line.split()[1]) if line.startswith("index") else reader.count(), flush=True)
    except StoreError as error:
        print("no:", error, flush=True)
"""


def test_a_process_lives_through_every_degree_of_fullness(small_disk: Path) -> None:
    """Asked, synced and restarted with 60 MB … 1 MB free: an answer or a sentence, never a signal."""
    root = small_disk / "store"
    index(root, "1")
    paths = {"PYTHONPATH": os.pathsep.join([str(CHECKOUT), str(CHECKOUT / "pipelines")])}
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, root, small_disk],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | paths,
    ) as process:
        assert process.stdin and process.stdout

        def told(order: str) -> str:
            process.stdin.write(f"{order}\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            return process.stdout.readline().strip()  # type: ignore[union-attr]

        said = [told("count")]
        for megabytes in (60, 50, 40, 30, 20, 10, 1):
            leave(small_disk, megabytes)
            said += [told("count"), told(f"index {megabytes}"), told("restart"), told("count")]
        assert said[:2] == ["1", "1"]
        assert {answer if answer == "1" else answer[:3] for answer in said} == {"1", "no:"}
        (small_disk / "filling").unlink()
        assert process.poll() is None
        process.stdin.close()
        assert process.wait() == 0


def test_a_copy_goes_to_the_temporary_folder_when_the_store_is_full(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    index(small_disk / "store", "1")
    leave(small_disk, 1)
    reader = embedded_reader(small_disk / "store")
    assert reader.count() == 1
    reader.close()


def test_a_file_that_goes_while_it_is_measured_takes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stays").write_bytes(b"x" * 10_000)
    alone = room.taken(tmp_path)
    monkeypatch.setattr(room, "_files", lambda folder: [tmp_path / "stays", tmp_path / "gone"])
    assert room.taken(tmp_path) == alone > 0
