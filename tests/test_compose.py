"""The compose file: every variable is read by something, every one is explained, no secret has a default."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from askwiki.configuration import NOT_SETTINGS, PREFIX, SHORT_NAMES, setting_names

ROOT = Path(__file__).resolve().parents[1]
COMPOSE = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
SERVICES: dict[str, Any] = yaml.safe_load(COMPOSE)["services"]
USED = re.findall(r"\$\{(\w+)(:[-?])?([^}]*)\}", COMPOSE)
EXPLAINED = re.findall(r"^(\w+)=(.*)$", (ROOT / ".env.example").read_text(encoding="utf-8"), re.MULTILINE)
# Read by the libraries and servers in our own images, not by our settings.
READ_BY_OTHERS = {"HF_HUB_OFFLINE", "PIPELINES_API_KEY", "WEBUI_ADMIN_EMAIL", "WEBUI_ADMIN_PASSWORD"}
SECRETS = re.compile(r"(KEY|PASSWORD|TOKEN)$")


@pytest.mark.parametrize("service", ["pipelines", "indexer", "encoder", "webui-setup"])
def test_every_variable_of_our_services_is_read(service: str) -> None:
    known = {PREFIX + name.upper().replace(".", "__") for name, _, _ in setting_names()}
    known |= set(SHORT_NAMES) | NOT_SETTINGS | READ_BY_OTHERS
    assert set(SERVICES[service]["environment"]) - known == set()


def test_every_variable_is_explained_and_none_is_explained_in_vain() -> None:
    assert {name for name, _, _ in USED} == {name for name, _ in EXPLAINED}


def test_no_secret_has_a_default() -> None:
    for name, operator, default in USED:
        if SECRETS.search(name):
            assert operator == ":?" or default == "", name
    for name, value in EXPLAINED:
        if SECRETS.search(name):
            assert value == "", name


@pytest.mark.parametrize("name", ["PIPELINES_API_KEY", "QDRANT_KEY", "WEBUI_SECRET_KEY", "WEBUI_ADMIN_PASSWORD"])
def test_the_start_is_refused_while_a_needed_secret_is_empty(name: str) -> None:
    operators = {operator for used, operator, _ in USED if used == name}
    assert operators == {":?"}


def test_defaults_of_the_compose_file_and_the_example_agree() -> None:
    example = {name: value.strip('"') for name, value in EXPLAINED if value}
    for name, operator, default in USED:
        if operator == ":-" and default:
            assert example[name] == default, name


def test_our_images_run_without_rights_they_do_not_need() -> None:
    for service in ("pipelines", "indexer", "encoder"):
        assert SERVICES[service]["read_only"] is True
        assert SERVICES[service]["cap_drop"] == ["ALL"]
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    stages = dockerfile.split("\nFROM ")[1:]
    assert all("USER 10001" in stage for stage in stages if " AS base" not in stage.splitlines()[0])


def test_what_the_dockerfile_copies_exists() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for line in re.findall(r"^COPY (?:--\S+ )*(.*)$", dockerfile, re.MULTILINE):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists(), source
