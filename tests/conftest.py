"""Fixtures that several test files share; each is made once a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support import edge_wiki
from tests.support.running import Running, serving

# The same examples in every run (the long tests draw new ones); a busy machine is no fault of the code.
settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


@pytest.fixture(scope="session")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the index of ``tests/support/edge_wiki.py``."""
    return edge_wiki.index(tmp_path_factory.mktemp("edge"))


@pytest.fixture(scope="session")
def plugin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the two plugins: the server keeps its valves beside them."""
    folder = tmp_path_factory.mktemp("plugins")
    for name in ("wiki_answer.py", "wiki_condense.py"):
        (folder / name).write_bytes((Path(__file__).parents[1] / "pipelines" / name).read_bytes())
    return folder


@pytest.fixture(scope="session")
def served(small_store: Path, plugin_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The real server over the small wiki, without a language model."""
    environ = edge_wiki.variables(small_store, PIPELINES_DIR=str(plugin_folder))
    with serving(environ, tmp_path_factory.mktemp("log") / "server.log") as running:
        yield running
