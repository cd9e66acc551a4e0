"""Every setting is read by the code, and a test sets it to see that it acts."""

from __future__ import annotations

import ast
import dataclasses
import re
import typing
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from askwiki.configuration import SHORT_NAMES, setting_names, variable_of
from askwiki.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
NAMES = [name for name, _, _ in setting_names()]
# Set in a way that is not seen below: by a helper's own parameter, or by what the helper does.
BY_KIND = "server/test_access.py::test_every_kind_of_source_is_opened_and_closed_by_its_own_setting"
BY_A_HELPER = {
    "log_format": "server/test_logs.py::test_a_json_log_takes_warnings_of_libraries_as_lines_of_its_own_and_no_bars",
    "log_level": "server/test_logs.py::test_a_log_says_as_much_as_its_level",
    "access.unknown_markdown": BY_KIND,
    "access.unknown_backstage": BY_KIND,
    "wiki.domain": "server/test_valves_act.py::test_a_valve_acts",
    "embedding.trust_remote_code": "server/test_supply.py::test_trust_is_given_to_a_model_by_name_not_by_a_switch",
    "sparse.trust_remote_code": "server/test_supply.py::test_trust_is_given_to_a_model_by_name_not_by_a_switch",
    "server.max_body": "server/test_server.py::test_a_body_over_the_limit_is_refused",
    "server.threads": "server/test_server.py::test_the_thread_limit_is_raised_at_start_up",
    "server.metrics": "server/test_server.py::test_metrics_need_the_key_and_can_be_switched_off",
}
# What a test on this machine cannot tell apart: there is one device, and how texts are batched changes no vector.
NOT_TRIED = {"embedding.device", "sparse.device", "rerank.device", "embedding.batch_tokens", "sparse.batch_tokens"}
# Read by a name that is put together: ``access.unknown_`` and the kind of the source.
READ_BY_KIND = "access.unknown_"
_DOTTED = re.compile(r"\b[a-z]\w*(?:\.[a-z]\w*)+\b")
_VARIABLE = re.compile(r"\bASKWIKI_\w+\b")


def sections(kind: type = Settings, above: str = "") -> Iterator[tuple[str, str]]:
    """Name of a group of settings -> name of its class."""
    for field in dataclasses.fields(kind):
        found: Any = typing.get_type_hints(kind)[field.name]
        if dataclasses.is_dataclass(found):
            yield f"{above}{field.name}", found.__name__
            yield from sections(found, f"{above}{field.name}.")


CLASSES: dict[str, list[str]] = defaultdict(list)
for _section, _class in [("", "Settings"), *sections()]:
    CLASSES[_class].append(_section)


@cache
def trees(folder: str) -> tuple[tuple[Path, ast.Module], ...]:
    paths = [path for path in sorted((ROOT / folder).rglob("*.py")) if "__pycache__" not in path.parts]
    return tuple((path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths)


@cache
def set_in_tests() -> frozenset[str]:
    variables = {**{variable_of(name): name for name in NAMES}, **SHORT_NAMES}
    found = set[str]()
    for path, tree in trees("tests"):
        if "bench" in path.parts or path.name == Path(__file__).name:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                found.update(_set_by(node))
            elif isinstance(node, ast.keyword) and node.arg in variables:
                found.add(variables[node.arg])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update(_DOTTED.findall(node.value))
                found.update(variables[name] for name in _VARIABLE.findall(node.value) if name in variables)
    return frozenset(found)


def _set_by(call: ast.Call) -> Iterator[str]:
    """The settings that a call gives by keyword to their class, or to ``replace``."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = [word.arg for word in call.keywords if word.arg]
    if name in CLASSES:
        yield from (f"{section}.{word}".removeprefix(".") for section in CLASSES[name] for word in given)
    elif name == "replace":
        yield from (full for word in given if len(full_names(word)) == 1 for full in full_names(word))


@cache
def full_names(field: str) -> tuple[str, ...]:
    return tuple(name for name in NAMES if name.rpartition(".")[2] == field)


@cache
def read_by_the_code() -> frozenset[str]:
    """Every attribute that is read anywhere but in the settings themselves."""
    return frozenset(
        node.attr
        for folder in ("pipelines", "indexer")
        for path, tree in trees(folder)
        if path.name != "settings.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_setting_is_read_and_a_test_sets_it(name: str) -> None:
    assert name.startswith(READ_BY_KIND) or name.rpartition(".")[2] in read_by_the_code(), f"{name} is read nowhere"
    assert name in set_in_tests() or name in BY_A_HELPER or name in NOT_TRIED, f"no test sets {name}"


@pytest.mark.parametrize("name", BY_A_HELPER)
def test_the_test_that_is_named_is_there(name: str) -> None:
    file, _, function = BY_A_HELPER[name].partition("::")
    assert f"def {function}(" in (ROOT / "tests" / file).read_text(encoding="utf-8")
    assert name not in set_in_tests()
