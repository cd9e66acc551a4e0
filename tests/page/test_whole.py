"""A damaged export opens no page and removes none, whatever the damage."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from askwiki.configuration import Configuration
from askwiki.errors import SourceNotWhole
from askwiki.settings import AccessSettings, Settings
from indexer.opening import open_source
from indexer.sync.health import read_health
from tests.support.damage import DAMAGES, OBJECT, Damage, broken_rules, hole, letter_in_an_id, read
from tests.support.restricted import make_world, write_exports
from tests.support.running import environment
from tests.support.sources import Indexer
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "wiki" / "xml"
CLOSED = AccessSettings()
OPEN = AccessSettings(unknown_xml="open", unknown_html="open")
CONFIGURATION = Configuration(Settings(), Path(), {})


SET = b'<object class="ContentPermissionSet"'


def sample(folder: Path, data: bytes) -> str:
    (folder / "entities.xml").write_bytes(data)
    return f"xml:{folder / 'entities.xml'}"


def damaged(folder: Path, data: bytes, damage: Damage, times: int, settings: AccessSettings, seed: int) -> None:
    whole, _ = read(sample(folder, data), settings)
    dice = random.Random(f"{seed} {damage.__name__}")
    for number in range(times):
        spec = sample(folder, damage(dice, data))
        assert broken_rules(spec, whole, settings) == [], f"{damage.__name__} {number}"


@pytest.mark.parametrize("damage", DAMAGES)
def test_no_damage_of_the_sample_wiki_opens_or_removes_a_page(tmp_path: Path, damage: Damage) -> None:
    damaged(tmp_path, (SAMPLE / "entities.xml").read_bytes(), damage, 4, CLOSED, 1)


@pytest.mark.long
@pytest.mark.parametrize("settings", [CLOSED, OPEN], ids=["closed", "open"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_many_damages_of_the_sample_wiki(tmp_path: Path, damage: Damage, settings: AccessSettings) -> None:
    damaged(tmp_path, (SAMPLE / "entities.xml").read_bytes(), damage, 300, settings, 2)


# Without collections nothing tells of an object that is gone with all that points to it, or of another parent.
@pytest.mark.long
@pytest.mark.parametrize("damage", [damage for damage in DAMAGES if damage not in (hole, letter_in_an_id)])
def test_many_damages_of_exports_without_collections(tmp_path: Path, damage: Damage) -> None:
    (export,) = write_exports(make_world(3, pages=40, people=6, groups=8, spaces=1), tmp_path / "world")
    damaged(tmp_path, (export / "entities.xml").read_bytes(), damage, 300, CLOSED, 3)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (SET, SET.replace(b"Set", b"Sex"), "of the class ContentPermissionSex, which should be ContentPermissionSet"),
        (b'<property name="parent"', b'<property name="parenx"', "the property parenx, which should be parent"),
        (b"</property>", b"", "Opening and ending tag mismatch"),
        (b'<object class="Page"', b'<object klass="Page"', "an object without a class"),
        (b"<![CDATA[View]]>", b"<![CDATA[View", "the text of type runs on into the next property"),
        (b"<![CDATA[View]]>", b"<![CDATA[Wiew]]>", "has the unknown type 'wiew'"),
        (b"<id name=\"id\">720921<", b"<id name=\"id\">720999<", "has the member 720921, which is not there"),
        (b"</hibernate-generic>", b"", "it breaks off before its last tag"),
    ],
)  # fmt: skip
def test_what_is_broken_is_said_in_a_sentence(tmp_path: Path, old: bytes, new: bytes, sentence: str) -> None:
    data = (SAMPLE / "entities.xml").read_bytes()
    assert old in data
    with pytest.raises(SourceNotWhole) as refused:
        open_source(sample(tmp_path, data.replace(old, new, 1)), CONFIGURATION)
    assert sentence in str(refused.value)
    assert str(refused.value).endswith(
        "Nothing was changed. If it is still being copied, wait for the end; else export or copy it again."
    )


def test_a_text_that_swallowed_the_beginning_of_a_page_is_found(tmp_path: Path) -> None:
    data = (SAMPLE / "entities.xml").read_bytes()
    page = data.index(b'<object class="Page"', data.index(b'<object class="BodyContent"') + 1)
    text, title = data.rindex(b"]]></property>", 0, data.index(b'name="content"', 0, page)), data.index(b"CDATA[", page)
    with pytest.raises(SourceNotWhole, match="which belongs to another object"):
        open_source(sample(tmp_path, data[:text] + data[title + len(b"CDATA[") :]), CONFIGURATION)


@pytest.mark.parametrize("command", [["sync", "--source"], ["check"], ["show", "--all"], ["rebuild", "--source"]])
def test_every_command_refuses_an_export_that_is_not_whole(tmp_path: Path, command: list[str]) -> None:
    data = (SAMPLE / "entities.xml").read_bytes()
    spec = sample(tmp_path, data[: data.index(SET)])
    place = {"ASKWIKI_STORE_PATH": str(tmp_path / "store"), "ASKWIKI_SYNC__CACHE": str(tmp_path / "cache")}
    words = [sys.executable, "-m", "indexer", *command, spec]
    done = subprocess.run(words, env={**os.environ, **place}, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "entities.xml is not whole: it breaks off before its last tag" in done.stderr
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("form", [[], ["--form", "entities"]], ids=["guessed", "named"])
def test_no_page_of_an_export_that_is_not_whole_is_converted(tmp_path: Path, form: list[str]) -> None:
    data = (SAMPLE / "entities.xml").read_bytes()
    sample(tmp_path, data[: data.index(SET)])
    words = [sys.executable, "-m", "indexer", "convert", str(tmp_path / "entities.xml"), *form]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "entities.xml is not whole: it breaks off before its last tag" in done.stderr


def test_a_scheduled_run_of_an_export_that_is_not_whole_fails_and_the_schedule_goes_on(tmp_path: Path) -> None:
    data = (SAMPLE / "entities.xml").read_bytes()
    spec, health = sample(tmp_path, data[: data.index(SET)]), tmp_path / "health.json"
    variables = environment(
        ASKWIKI_STORE_PATH=str(tmp_path / "store"),
        ASKWIKI_SYNC__CACHE=str(tmp_path / "cache"),
        ASKWIKI_SCHEDULE__HEALTH=str(health),
    )
    words = [sys.executable, "-m", "indexer", "schedule", "--source", spec]
    with (tmp_path / "log").open("w", encoding="utf-8") as log:
        running = subprocess.Popen(words, env=variables, cwd=ROOT, stderr=log)
        try:
            until(lambda: read_health(health).error, "no failed run")
            assert running.poll() is None
            found = read_health(health)
            assert "entities.xml is not whole: it breaks off before its last tag" in found.error
            assert (found.last_success, (tmp_path / "store").exists()) == ("", False)
            looked = subprocess.run([*words, "--healthy"], env=variables, cwd=ROOT, capture_output=True, text=True)
            assert (looked.returncode, looked.stdout) == (1, f"The last run failed: {found.error}\n")
        finally:
            running.kill()
            running.wait()


def test_a_page_that_lost_its_object_keeps_what_is_stored(tmp_path: Path) -> None:
    data, indexer = (SAMPLE / "entities.xml").read_bytes(), Indexer(tmp_path)
    indexer.run(open_source(sample(tmp_path, data), CONFIGURATION))
    page = next(match for match in OBJECT.finditer(data) if b'<id name="id">65670</id>' in match[0][:200])
    ledger = indexer.run(open_source(sample(tmp_path, data.replace(page[0], b"")), CONFIGURATION))
    assert (ledger.removed, ledger.failed, ledger.exit_code) == (0, 1, 1)
    assert [(one.ref.id, one.reason) for one in ledger.failures if not one.skipped] == [
        ("65670", "the source names the page, but does not hold it")
    ]
    assert indexer.texts("65670") != []


@pytest.mark.parametrize("kind", ["xml", "html"])
def test_a_byte_of_a_zip_that_is_wrong_is_found(tmp_path: Path, kind: str) -> None:
    whole, _ = read(f"{kind}:{zipped(SAMPLE.parent / kind, tmp_path / 'a.zip')}", OPEN)
    data = (tmp_path / "a.zip").read_bytes()
    dice = random.Random(4)
    for _ in range(12):
        place = dice.randrange(len(data))
        (tmp_path / "a.zip").write_bytes(
            data[:place] + bytes([data[place] ^ (1 << dice.randrange(8))]) + data[place + 1 :]
        )
        assert broken_rules(f"{kind}:{tmp_path / 'a.zip'}", whole, OPEN) == [], place


def test_a_zip_with_a_wrong_checksum_is_not_whole(tmp_path: Path) -> None:
    archive = zipped(SAMPLE, tmp_path / "a.zip", zipfile.ZIP_STORED)
    data = archive.read_bytes()
    archive.write_bytes(data.replace(b"exportType=space", b"exportType=spase", 1))
    with pytest.raises(SourceNotWhole, match=r"the entry exportDescriptor\.properties cannot be read"):
        open_source(f"xml:{archive}", CONFIGURATION)


def test_a_zip_without_its_entities_is_not_taken_for_a_folder_of_bodies(tmp_path: Path) -> None:
    (tmp_path / "exportDescriptor.properties").write_text("exportType=space", encoding="utf-8")
    (tmp_path / "plugin-data.xml").write_text("<p>Текст</p>", encoding="utf-8")
    with pytest.raises(SourceNotWhole, match=r"but not entities\.xml"):
        open_source(f"xml:{tmp_path}", CONFIGURATION)


def zipped(folder: Path, target: Path, packing: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(target, "w", packing) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder).as_posix())
    return target
