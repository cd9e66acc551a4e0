"""What the eval commands are given: files of questions, and the wiki behind ``--source``.

The package ``indexer`` stands beside askwiki and may be missing where only questions are answered.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from askwiki.configuration import PREFIX, load_configuration
from askwiki.data import Page
from askwiki.errors import AskWikiError, SourceError

FINE, FAULTS = 0, 1  # exit codes


def only_file(files: Sequence[Path], usage: str) -> Path:
    if len(files) != 1:
        raise AskWikiError(f"Usage: {usage}. Got {len(files)} files.")
    return files[0]


def pages_of_source(spec: str) -> Iterator[Page]:
    """Every page that can be converted, one at a time."""
    try:
        sources = importlib.import_module("indexer.opening")
    except ModuleNotFoundError as error:
        raise AskWikiError("--source needs the package indexer, which is not installed here.") from error
    source = sources.open_source(spec, load_configuration(os.environ))
    return (page for page in source.pages() if isinstance(page, Page))


def index_variant(spec: str, changes: Mapping[str, Any], store: Path) -> Mapping[str, str]:
    """Index ``spec`` into ``store`` with changed settings; gives back the environment they stand in."""
    variables = {PREFIX + key.upper().replace(".", "__"): _written(value) for key, value in changes.items()}
    kept = {name: value for name, value in os.environ.items() if name != "ASKWIKI_QDRANT_URL"}
    environment = {**kept, **variables, "ASKWIKI_STORE_PATH": str(store)}
    command = [sys.executable, "-m", "indexer", "sync", "--source", spec, "--json"]
    done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        raise SourceError(f"{spec} could not be indexed for a variant: {done.stderr.strip()[-500:]}")
    return environment


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
