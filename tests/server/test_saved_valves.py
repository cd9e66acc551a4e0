"""Several servers over the same folders of valves: what is saved at one is in force in all."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import requests

from tests.support.running import ROOT, Running, environment, serving
from tests.support.waiting import PATIENCE


def valves(server: Running) -> dict[str, Any]:
    answer = requests.get(f"{server.url}/wiki_answer/valves", headers=server.headers, timeout=PATIENCE)
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def save(server: Running, **changed: Any) -> None:
    requests.post(
        f"{server.url}/wiki_answer/valves/update",
        json={**valves(server), **changed},
        headers=server.headers,
        timeout=PATIENCE,
    ).raise_for_status()


def test_valves_saved_at_one_server_are_in_force_at_the_other_and_half_a_file_changes_nothing(tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    for file in (ROOT / "pipelines").glob("wiki_*.py"):
        shutil.copy(file, plugins)
    environ = environment(
        ASKWIKI_STORE_PATH=str(tmp_path / "store"), PIPELINES_DIR=str(plugins), PIPELINES_API_KEY="the-same-key"
    )
    with serving(environ, tmp_path / "one.log") as one, serving(environ, tmp_path / "two.log") as two:
        before = valves(two)
        name = next(name for name, value in before.items() if isinstance(value, bool))
        save(one, **{name: not before[name]})
        assert valves(two) == {**before, name: not before[name]}
        save(two, **{name: before[name]})
        assert valves(one) == before
        (plugins / "wiki_answer" / "valves.json").write_text('{"half', encoding="utf-8")
        assert valves(two) == valves(one) == before
