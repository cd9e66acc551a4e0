"""What the product promises, on a real Qdrant server (make test-server): rights, switches, kills, keys, outages."""

from __future__ import annotations

import dataclasses
import json
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from askwiki.configuration import CHECKOUT
from askwiki.data import Rights
from askwiki.doctor.qdrant import probe_qdrant
from askwiki.errors import StoreError, StoreMismatch
from askwiki.settings import StoreSettings
from askwiki.store.backup import backup, restore
from askwiki.store.port import Leg
from askwiki.store.qdrant.client import connect
from askwiki.store.qdrant.graphs import FULL_KB
from askwiki.store.qdrant.server import FILLING_KB
from tests.server.test_security import build, check_store, pairs
from tests.support import crash_sync
from tests.support.qdrant import HOW, Qdrant, binary, running
from tests.support.restricted import make_world
from tests.support.sources import Indexer, make_page
from tests.support.stores import EMBEDDER, FINGERPRINT, make_chunk, on_server, one_writes_a_source, write_page

pytestmark = pytest.mark.server

MOMENTS = 20  # of a kill, of the indexer and of the server each
QUESTIONS = [Leg("text", EMBEDDER.query("пароль"), 10)]


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Qdrant]:
    """A server of its own, to be killed."""
    if not binary():
        pytest.skip(HOW)
    with running(tmp_path / "qdrant") as server:
        yield server


@pytest.fixture
def place(qdrant: StoreSettings, request: pytest.FixtureRequest) -> StoreSettings:
    """A collection of the shared server that no other test uses."""
    return dataclasses.replace(qdrant, collection=f"own_{abs(hash(request.node.name)) % 10**9}", retries=2)


def test_3000_pages_500_questions_nothing_leaks_and_nothing_is_hidden(place: StoreSettings, tmp_path: Path) -> None:
    settings = dataclasses.replace(place, batch=256)
    wiki = build(tmp_path, make_world(11, pages=3000, people=200, groups=120), on_server(settings))
    dice = random.Random(3)
    for person, question in pairs(wiki, 500):
        check_store(wiki, person, question, dice)
    wiki.reader.close()


def test_twenty_threads_ask_on_while_a_rebuilt_index_takes_over(place: StoreSettings) -> None:
    store = on_server(dataclasses.replace(place, grace=2.0))
    fill(store.writer(), "старый")
    stop, seen, faults = threading.Event(), set[str](), list[Exception]()

    def asking() -> None:
        reader = store.reader()
        while not stop.is_set():
            try:
                found = reader.search(QUESTIONS, Rights())["text"]
                texts = {chunk.text.split()[0] for chunk in reader.fetch(list(found), Rights()).values()}
                assert len(texts) <= 1, texts  # never half of both
                seen.update(texts)
            except Exception as error:  # kept for the assertion below: a thread's own would be lost
                faults.append(error)
        reader.close()

    threads = [threading.Thread(target=asking) for _ in range(20)]
    for thread in threads:
        thread.start()
    writer = store.writer(rebuild=True)
    fill(writer, "новый")
    deadline = time.monotonic() + 30  # a reader believes in the alias for ten seconds
    while "новый" not in seen and time.monotonic() < deadline:
        time.sleep(0.1)
    stop.set()
    for thread in threads:
        thread.join()
    assert (faults, seen) == ([], {"старый", "новый"})


def fill(writer: Any, word: str) -> None:
    for number in range(30):
        write_page(writer, make_chunk(str(number), 0, f"{word} пароль {number}"))
    writer.commit()
    writer.close()


def test_other_models_are_refused(place: StoreSettings) -> None:
    store = on_server(place)
    fill(store.writer(), "старый")
    with pytest.raises(StoreMismatch, match="python -m indexer rebuild"):
        store.writer({**FINGERPRINT, "idf": False})


def test_the_second_indexer_of_a_source_is_told_of_the_first(place: StoreSettings) -> None:
    store = on_server(place)
    first, second = store.writer(), store.writer()
    one_writes_a_source(first, second)


@pytest.mark.parametrize("grpc", [False, True], ids=["REST", "gRPC"])
def test_vectors_lie_on_disk_and_int8_in_memory_where_the_settings_say_so(place: StoreSettings, grpc: bool) -> None:
    settings = dataclasses.replace(
        place, collection=uuid.uuid4().hex, on_disk=True, quantization="scalar", shards=2, grpc=grpc
    )
    on_server(settings).writer().close()
    client = connect(settings)
    made = client.get_collection(f"{settings.collection}_v1").config
    client.delete_collection(f"{settings.collection}_v1")
    client.close()
    assert (made.params.vectors["text"].on_disk, made.params.vectors["context"].on_disk) == (True, True)
    assert made.params.sparse_vectors["sparse"].index.on_disk is True
    assert (made.quantization_config.scalar.always_ram, made.params.shard_number) == (True, 2)


def test_graphs_are_built_when_an_index_is_whole_and_not_again_while_it_is_filled(place: StoreSettings) -> None:
    store, client = on_server(place), connect(place)

    def threshold(version: int) -> int | None:
        return client.get_collection(f"{place.collection}_v{version}").config.optimizer_config.indexing_threshold

    first = store.writer()
    filling = threshold(1)
    fill(first, "первый")
    second = store.writer(rebuild=True)
    again = threshold(2)
    fill(second, "второй")
    whole = threshold(2)
    client.close()
    assert (filling, again, whole) == (FILLING_KB, FILLING_KB, FULL_KB)


def test_the_doctor_says_which_server_it_met(place: StoreSettings) -> None:
    part, _, said, _ = next(iter(probe_qdrant(place)))
    assert (part, said.partition(",")[0]) == ("qdrant", f"Server {version_of(place)}")


def version_of(settings: StoreSettings) -> str:
    client = connect(settings)
    version = str(client.info().version)
    client.close()
    return version


# --- kills ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clean(qdrant: StoreSettings, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What two undisturbed runs leave behind."""
    settings = dataclasses.replace(qdrant, collection="undisturbed", batch=64)
    folder = tmp_path_factory.mktemp("undisturbed")
    crash_sync.run(folder, crash_sync.before(), settings)
    crash_sync.run(folder, crash_sync.after(), settings)
    return on_server(settings).contents()


def begun(folder: Path, settings: StoreSettings) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.support.crash_sync", str(folder), "after", json.dumps(asdict(settings))]
    return subprocess.Popen(command, cwd=CHECKOUT, env={"PYTHONPATH": f"{CHECKOUT}:{CHECKOUT / 'pipelines'}"})


def test_an_indexer_killed_at_any_moment_is_mended_by_the_next_run(
    place: StoreSettings, tmp_path: Path, clean: dict[str, Any]
) -> None:
    for moment in range(MOMENTS):
        settings = dataclasses.replace(place, collection=f"{place.collection}_{moment}", batch=8)
        crash_sync.run(tmp_path / str(moment), crash_sync.before(), settings)
        process = begun(tmp_path / str(moment), settings)
        time.sleep(1.0 + 2.0 * random.Random(moment).random())
        process.send_signal(signal.SIGKILL)
        process.wait()
        crash_sync.run(tmp_path / str(moment), crash_sync.after(), settings)
        assert on_server(settings).contents() == clean, f"moment {moment}"


def test_a_server_killed_at_any_moment_of_a_sync_loses_nothing(
    own: Qdrant, tmp_path: Path, clean: dict[str, Any]
) -> None:
    for moment in range(MOMENTS):
        settings = own.settings(collection=f"wiki_{moment}", batch=8, retries=0)
        crash_sync.run(tmp_path / str(moment), crash_sync.before(), settings)
        process = begun(tmp_path / str(moment), settings)
        time.sleep(1.0 + 2.0 * random.Random(moment).random())
        own.end(signal.SIGKILL)
        process.wait()
        own.start()
        crash_sync.run(tmp_path / str(moment), crash_sync.after(), settings)
        assert on_server(settings).contents() == clean, f"moment {moment}"


# --- keys, certificates, outages ------------------------------------------------------------------


@pytest.mark.parametrize("grpc", [False, True], ids=["REST", "gRPC"])
def test_a_read_only_key_reads_and_cannot_write(tmp_path: Path, grpc: bool) -> None:
    if not binary():
        pytest.skip(HOW)
    keys = {"QDRANT__SERVICE__API_KEY": "writes", "QDRANT__SERVICE__READ_ONLY_API_KEY": "reads"}
    with running(tmp_path / "qdrant", **keys) as server:
        fill(on_server(server.settings(qdrant_key="writes", grpc=grpc)).writer(), "слово")
        reading = on_server(server.settings(qdrant_key="reads", grpc=grpc))
        reader = reading.reader()
        assert reader.count() == 30
        with pytest.raises(StoreError, match="refused the key"):
            fill(reading.writer(), "чужое")
        assert len(reader.search(QUESTIONS, Rights())["text"]) == 10
        reader.close()
        with pytest.raises(StoreError, match="refused the key"):
            on_server(server.settings(qdrant_key="wrong", grpc=grpc)).reader().count()


@pytest.mark.parametrize("named_by", ["store.qdrant_ca", "SSL_CERT_FILE"])
@pytest.mark.parametrize("grpc", [False, True], ids=["REST", "gRPC"])
def test_a_certificate_of_the_companys_own_is_trusted_where_it_is_named(
    encrypted: tuple[Qdrant, Path], monkeypatch: pytest.MonkeyPatch, grpc: bool, named_by: str
) -> None:
    server, certificate = encrypted
    with pytest.raises(StoreError, match=r"certificate that is not trusted; name the company's CA in store\.qdrant_ca"):
        on_server(server.settings(retries=0, grpc=grpc)).reader().count()
    if named_by == "SSL_CERT_FILE":
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    settings = server.settings(
        grpc=grpc, collection=uuid.uuid4().hex, qdrant_ca=str(certificate) if named_by == "store.qdrant_ca" else ""
    )
    fill(on_server(settings).writer(), "слово")
    reader = on_server(settings).reader()
    assert reader.count() == 30
    reader.close()


def test_a_backup_trusts_that_certificate_too(encrypted: tuple[Qdrant, Path], tmp_path: Path) -> None:
    server, certificate = encrypted
    settings = server.settings(qdrant_ca=str(certificate), collection=uuid.uuid4().hex)
    fill(on_server(settings).writer(), "слово")
    contents = on_server(settings).contents()
    file = backup(settings, tmp_path)
    fill(on_server(settings).writer(), "чужое")
    restore(settings, file)
    assert on_server(settings).contents() == contents
    with pytest.raises(StoreError, match=r"certificate"):
        backup(dataclasses.replace(settings, qdrant_ca="", retries=0), tmp_path)


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Qdrant, Path]]:
    """A server that speaks TLS, and the certificate to be trusted."""
    if not binary():
        pytest.skip(HOW)
    folder = tmp_path_factory.mktemp("encrypted")
    certificate, key = own_certificate(folder)
    tls = {
        "QDRANT__SERVICE__ENABLE_TLS": "true", "QDRANT__TLS__CERT": str(certificate), "QDRANT__TLS__KEY": str(key),
    }  # fmt: skip
    with running(folder / "qdrant", scheme="https", **tls) as server:
        yield server, certificate


def own_certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


def test_a_server_that_is_gone_is_a_sentence_and_answers_again_when_it_is_back(own: Qdrant) -> None:
    settings = own.settings(retries=0, timeout=3.0)
    fill(on_server(settings).writer(), "слово")
    reader = on_server(settings).reader()
    assert reader.count() == 30
    own.end(signal.SIGKILL)
    with pytest.raises(StoreError) as caught:
        reader.count()
    assert str(caught.value).endswith(".") and "Traceback" not in str(caught.value)
    own.start()
    assert eventually(lambda: reader.count() == 30)
    reader.close()


def eventually(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if holds():
                return True
        except StoreError:
            pass
        time.sleep(0.2)
    return False


def test_a_sync_without_its_server_is_one_sentence(own: Qdrant, tmp_path: Path) -> None:
    settings = own.settings(retries=0, timeout=3.0)
    own.end()
    with pytest.raises(StoreError):
        Indexer(tmp_path, on_server(settings)).sync(make_page("1", "# Один\n\nтекст"))
