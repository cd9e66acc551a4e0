"""The libraries of production in the images, on tiny models of the real shapes: in each process, and as a service."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator

import pytest

from tests.compose.engine import Project
from tests.compose.place import fill, lay

pytestmark = pytest.mark.compose
# Six lines of .env, as its example has them for the real ones.
LARGER = {
    "EMBEDDING_KIND": "sentence-transformers",
    "EMBEDDING_MODEL": "/models/frida",
    "EMBEDDING_QUERY_PREFIX": "search_query: ",
    "EMBEDDING_DOCUMENT_PREFIX": "search_document: ",
    "SPARSE_KIND": "bge-m3",
    "SPARSE_MODEL": "/models/bge",
    "MODELS_OFFLINE": "1",
    "LOG_FORMAT": "json",
}
SERVICE = {
    "EMBEDDING_KIND": "openai",
    "EMBEDDING_URL": "http://encoder:9100/v1",
    "SPARSE_KIND": "remote",
    "SPARSE_URL": "http://encoder:9100",
    "ENCODER_MODEL": "/models/frida",
    "ENCODER_SPARSE_MODEL": "/models/bge",
}
MAKE = """
from pathlib import Path
from tests.support import tiny_models
tiny_models.frida(Path("/models/frida"))
tiny_models.bge_m3(Path("/models/bge"))
"""
ASK = ("python", "-m", "askwiki", "ask", "Какие статусы у перевода?", "--retrieval", "--json")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Store, indexer and server with a prepared volume of models and no way to the hub."""
    project = Project(f"askwiki-test-models-{os.getpid()}", tmp_path_factory.mktemp("models") / "askwiki")
    lay(project.folder, 0)
    fill(project.folder, {**LARGER, "LLM_URL": "", "ENCODER_KEY": secrets.token_hex(16)})
    try:
        tests = f"{project.folder}/tests:/checkout/tests:ro"
        project.compose("build", "pipelines", "indexer")
        project.compose("run", "--rm", "--no-deps", "-v", tests, "-w", "/checkout", "indexer", "python", "-c", MAKE)
        project.compose("up", "--detach", "qdrant", "pipelines", "indexer")
        project.await_health("pipelines")
        project.await_indexed()
        yield project
    finally:
        project.compose("--profile", "encoder", "down", "--volumes", "--timeout", "5", check=False)


def found(project: Project) -> list[str]:
    said = json.loads(project.run("pipelines", *ASK))
    return [candidate["id"] for candidate in said["candidates"]["found"]]


def test_a_prepared_volume_serves_without_the_hub_and_its_files_are_checked_by_the_doctor(project: Project) -> None:
    assert project.doctor()["encoders"] == project.doctor()["fingerprint"] == "ok"
    assert len(found(project)) == 50
    project.run("pipelines", "mv", "/models/bge/sparse_linear.pt", "/models/away.pt")
    try:
        assert project.doctor()["encoders"] == "failure"
    finally:
        project.run("pipelines", "mv", "/models/away.pt", "/models/bge/sparse_linear.pt")


def test_a_json_log_holds_json_only(project: Project) -> None:
    for service in ("pipelines", "indexer"):
        lines = [line for line in project.log(service).splitlines() if line.strip()]
        assert [line for line in lines if not line.startswith("{")] == []
        assert all("message" in json.loads(line) for line in lines)


def test_an_index_made_in_the_process_is_read_through_the_service_with_the_same_result(project: Project) -> None:
    alone = found(project)
    fill(project.folder, SERVICE)
    project.compose("--profile", "encoder", "up", "--detach", "encoder")
    project.await_health("encoder")
    project.compose("up", "--detach", "--no-deps", "pipelines")
    project.await_health("pipelines")
    assert project.doctor()["fingerprint"] == "ok"
    assert found(project) == alone
