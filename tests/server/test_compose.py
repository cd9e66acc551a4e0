"""The compose file: every variable is read by something, every one is explained, no secret has a default."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from askwiki.configuration import NOT_SETTINGS, PREFIX, SHORT_NAMES, load_configuration, setting_names
from askwiki.doctor.prefixes import unprefixed
from tests.e2e.webui import compose_environment

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
SERVICES: dict[str, Any] = yaml.safe_load(COMPOSE)["services"]
USED = re.findall(r"\$\{(\w+)(:[-?])?([^}]*)\}", COMPOSE)
EXPLAINED = re.findall(r"^(\w+)=(.*)$", (ROOT / ".env.example").read_text(encoding="utf-8"), re.MULTILINE)
# Read by the libraries and servers in our own images, not by our settings.
READ_BY_OTHERS = {"HF_HUB_OFFLINE", "PIPELINES_API_KEY", "WEBUI_ADMIN_EMAIL", "WEBUI_ADMIN_PASSWORD", "TZ"}
READ_BY_OTHERS |= {"NO_PROXY", "no_proxy", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"}  # by Python's HTTP libraries
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


@pytest.mark.parametrize(
    "name", ["PIPELINES_API_KEY", "QDRANT_KEY", "QDRANT_READ_KEY", "WEBUI_SECRET_KEY", "WEBUI_ADMIN_PASSWORD"]
)
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


def test_an_image_is_built_by_one_service_and_never_looked_for_elsewhere() -> None:
    built = {service["image"] for service in SERVICES.values() if "build" in service}
    borrowed = [service for service in SERVICES.values() if service["image"] in built and "build" not in service]
    assert {service["image"] for service in borrowed} == {"askwiki-pipelines"}
    assert all(service["pull_policy"] == "never" for service in borrowed)


def test_a_health_check_asks_the_port_its_own_service_listens_on() -> None:
    """A service with another command would inherit the check of the image."""
    for name, service in SERVICES.items():
        if service["image"] == "askwiki-pipelines" and "command" in service:
            check = service["healthcheck"]
            assert check.get("disable") or service["command"][-1] in check["test"][-1], name


def test_volumes_of_our_user_are_shared_with_no_other() -> None:
    """What root writes into a folder of models, user 10001 could not change."""
    ours = {"askwiki-pipelines", "askwiki-indexer"}
    mounted = {
        name: {volume.split(":")[0] for volume in service.get("volumes", []) if volume[0] not in "./$"}
        for name, service in SERVICES.items()
    }
    for name, service in SERVICES.items():
        others = {volume for other, held in mounted.items() if SERVICES[other]["image"] not in ours for volume in held}
        assert service["image"] not in ours or not mounted[name] & others, name


# The lines of .env.example that somebody takes the # from to have the larger models.
LARGER = {
    name: value.strip('"')
    for name, value in re.findall(r"^#(\w+)=(.*)$", (ROOT / ".env.example").read_text(encoding="utf-8"), re.MULTILINE)
}


def test_the_encoder_service_makes_what_the_server_would_make_itself() -> None:
    """With the profile's settings the index is the same, and both know the one key."""
    secret = {
        **LARGER,
        "ENCODER_KEY": "k",
        "QDRANT_KEY": "q",
        "QDRANT_READ_KEY": "r",
        "PIPELINES_API_KEY": "p",
        "WIKI_URL": "https://w",
        "SOURCE": "x",
    }
    alone, service = (compose_environment(name, secret) for name in ("pipelines", "encoder"))
    ours, theirs = (
        load_configuration({"ASKWIKI_CONFIG": str(ROOT / "config"), **environ}).settings for environ in (alone, service)
    )
    assert replace(ours.embedding, key="") == replace(theirs.embedding, key="")
    assert (theirs.embedding.key, ours.embedding.key, ours.sparse.key) == ("k", "k", "k")
    assert (ours.sparse.kind, ours.sparse.model) == (theirs.sparse.kind, theirs.sparse.model)


def test_the_larger_models_get_the_words_in_front_that_they_were_trained_with() -> None:
    needed = dict.fromkeys(["QDRANT_KEY", "QDRANT_READ_KEY", "PIPELINES_API_KEY", "WIKI_URL", "SOURCE"], "x")
    variables = compose_environment("pipelines", {**needed, **LARGER})
    larger = load_configuration({"ASKWIKI_CONFIG": str(ROOT / "config"), **variables}).settings.embedding
    assert (larger.kind, unprefixed(larger)) == ("sentence-transformers", "")
    assert "'search_query: '" in unprefixed(replace(larger, query_prefix="query: "))


def test_a_switch_of_env_reaches_the_setting_it_names() -> None:
    """Each line: service, variable of .env, value, setting."""
    lines = [
        ("indexer", "VISION", "true", "context.vision", True),
        ("indexer", "LLM_MODEL_VISION", "qwen-vl", "llm.vision.model", "qwen-vl"),
        ("indexer", "LLM_MODEL_CONTEXT", "small", "llm.context.model", "small"),
        ("indexer", "LLM_MODEL_CUT", "small", "llm.cut.model", "small"),
        ("pipelines", "LLM_MODEL_CONDENSE", "small", "llm.condense.model", "small"),
        ("pipelines", "LLM_MODEL_RELEVANCE", "small", "llm.relevance.model", "small"),
        ("pipelines", "LLM_MODEL_ANSWER", "large", "llm.answer.model", "large"),
        ("pipelines", "RELEVANCE_GROUP", "6", "relevance.group", 6),
        ("pipelines", "RERANK_KIND", "endpoint", "rerank.kind", "endpoint"),
        ("pipelines", "RERANK_MODEL", "bge", "rerank.model", "bge"),
        ("pipelines", "RERANK_URL", "http://r/rerank", "rerank.url", "http://r/rerank"),
        ("pipelines", "RERANK_KEY", "k", "rerank.key", "k"),
        ("pipelines", "LOG_FORMAT", "json", "log_format", "json"),
        ("indexer", "LOG_FORMAT", "json", "log_format", "json"),
        ("pipelines", "SYNC_INTERVAL", "600", "schedule.interval", 600.0),
    ]
    needed = dict.fromkeys(["QDRANT_KEY", "QDRANT_READ_KEY", "PIPELINES_API_KEY", "WIKI_URL", "SOURCE"], "x")
    for service, variable, value, setting, read in lines:
        environ = compose_environment(service, {**needed, variable: value})
        settings: Any = load_configuration({"ASKWIKI_CONFIG": str(ROOT / "config"), **environ}).settings
        for step in setting.split("."):
            settings = getattr(settings, step)
        assert settings == read, variable


def test_a_chat_is_not_shared_by_link_unless_the_company_wants_it() -> None:
    secrets = ("PIPELINES_API_KEY", "WEBUI_SECRET_KEY", "WEBUI_ADMIN_EMAIL", "WEBUI_ADMIN_PASSWORD", "WIKI_URL")
    needed = dict.fromkeys(secrets, "x")
    shared = [compose_environment("open-webui", {**needed, **more}) for more in ({}, {"CHAT_SHARING": "true"})]
    assert [variables["USER_PERMISSIONS_CHAT_SHARE"] for variables in shared] == ["false", "true"]


def test_only_the_indexer_may_write_to_the_store() -> None:
    keys = {name: SERVICES[name]["environment"].get("ASKWIKI_QDRANT_KEY", "") for name in SERVICES}
    store = SERVICES["qdrant"]["environment"]
    assert keys["indexer"] == store["QDRANT__SERVICE__API_KEY"]
    assert keys["pipelines"] == store["QDRANT__SERVICE__READ_ONLY_API_KEY"] != keys["indexer"]
    assert {name for name, key in keys.items() if key == keys["indexer"]} == {"indexer"}


def test_the_connection_sends_what_tells_groups_apart() -> None:
    headers = json.loads(SERVICES["open-webui"]["environment"]["OPENAI_API_CONFIGS"])["0"]["headers"]
    assert headers["X-User-Groups"] == "{{USER_GROUPS}}"
    assert headers["X-User-Group-Ids"] == "{{USER_GROUP_IDS}}"


def test_the_browser_loads_pictures_from_the_chat_and_the_wiki_only() -> None:
    secrets = ("PIPELINES_API_KEY", "WEBUI_SECRET_KEY", "WEBUI_ADMIN_EMAIL", "WEBUI_ADMIN_PASSWORD")
    values = {**dict.fromkeys(secrets, "x"), "WIKI_URL": "https://wiki.example.com/wiki"}
    policy = compose_environment("open-webui", values)["CONTENT_SECURITY_POLICY"]
    rules = {words[0]: set(words[1:]) for part in policy.split(";") if (words := part.split())}
    ours = {"'self'", "data:", "blob:"}
    assert rules["img-src"] == ours | {"https://wiki.example.com/wiki", "https://wiki.example.com/wiki/"}
    assert rules["media-src"] == rules["frame-src"] == ours
    further = compose_environment("open-webui", {**values, "PICTURES_FROM": "https://media.example.com"})
    assert "https://media.example.com" in further["CONTENT_SECURITY_POLICY"].split(";")[0].split()


CLIENTS = (["docker", "compose"], ["docker-compose"])
CLIENT = next(
    (
        words
        for words in CLIENTS
        if shutil.which(words[0]) and not subprocess.run([*words, "version"], capture_output=True).returncode
    ),
    None,
)


@pytest.mark.skipif(CLIENT is None, reason="no compose client on this machine")
@pytest.mark.parametrize("empty", ["", "PIPELINES_API_KEY", "SOURCE"])
def test_a_compose_client_reads_the_file_and_names_what_is_empty(tmp_path: Path, empty: str) -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    needed = {name for name, operator, _ in USED if operator == ":?"} - {empty}
    filled = re.sub(
        r"^(\w+)=$", lambda line: f"{line[1]}='v$a#l'" if line[1] in needed else line[0], example, flags=re.M
    )
    (tmp_path / "env").write_text(filled, encoding="utf-8")
    words = [*(CLIENT or []), "--env-file", str(tmp_path / "env"), "--profile", "encoder", "--profile", "gpu", "config"]
    read = subprocess.run(
        words, cwd=ROOT, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False
    )
    if empty:
        assert (read.returncode != 0, f"set {empty} in .env" in read.stderr) == (True, True)
    else:
        assert read.returncode == 0, read.stderr
        resolved = yaml.safe_load(read.stdout)["services"]
        assert resolved["qdrant"]["environment"]["QDRANT__SERVICE__API_KEY"].replace("$$", "$") == "v$a#l"
        assert set(resolved) == set(SERVICES)


def test_what_the_dockerfile_copies_exists_and_is_sent_to_the_build() -> None:
    sent = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for line in re.findall(r"^COPY (?:--\S+ )*(.*)$", dockerfile, re.MULTILINE):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists(), source
            assert source == "." or f"!{source.split('/')[0]}" in sent, source


def test_nothing_else_is_sent_to_the_build() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()[1:]
    assert [line for line in lines if not line.startswith("!")] == ["*", "**/__pycache__"]
