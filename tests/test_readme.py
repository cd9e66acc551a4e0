"""The README knows every setting, command and make target; what it names exists."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from askwiki.__main__ import COMMANDS as ASKWIKI_COMMANDS
from askwiki.configuration import NOT_SETTINGS, SHORT_NAMES, setting_names
from askwiki.settings import RoleSettings, Settings
from indexer.__main__ import COMMANDS as INDEXER_COMMANDS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([a-z_.0-9]+)` \| (.*?) \|", README, re.MULTILINE))


def value_of(name: str) -> Any:
    record: Any = Settings()
    for step in name.split("."):
        record = getattr(record, step)
    return record


def shown(name: str, secret: bool) -> str:
    value = value_of(name)
    if secret:
        return "secret"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`" if value != "" else ""


ROLE_FIELDS = {field.name for field in dataclasses.fields(RoleSettings)}
PLAIN = [(name, secret) for name, _, secret in setting_names() if not re.fullmatch(r"llm\.\w+\.\w+", name)]


@pytest.mark.parametrize(("name", "secret"), PLAIN, ids=[name for name, _ in PLAIN])
def test_every_setting_stands_in_the_table_with_its_default(name: str, secret: bool) -> None:
    assert ROWS.get(name) == shown(name, secret)


def test_the_table_names_no_setting_that_does_not_exist() -> None:
    assert set(ROWS) - {name for name, _ in PLAIN} == set()


def test_every_role_and_what_can_be_set_for_it_is_named() -> None:
    roles = [
        field.name
        for field in dataclasses.fields(Settings().llm)
        if isinstance(value_of(f"llm.{field.name}"), RoleSettings)
    ]
    for word in [*roles, *ROLE_FIELDS]:
        assert f"`{word}`" in README, word


def test_every_variable_with_a_name_of_its_own_is_named() -> None:
    for variable in [*SHORT_NAMES, *NOT_SETTINGS, "PIPELINES_API_KEY", "PIPELINES_DIR"]:
        assert f"`{variable}`" in README, variable


def test_every_command_is_named() -> None:
    for command in ASKWIKI_COMMANDS:
        assert re.search(rf"askwiki {command}\b", README), command
    for command in INDEXER_COMMANDS:
        assert re.search(rf"indexer {command}\b", README), command


def test_every_make_target_is_named() -> None:
    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for target in targets:
        assert f"make {target}" in README, target


def test_what_the_readme_links_to_exists() -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)]+)\)", README):
        assert (ROOT / target).exists(), target
