"""The last successful run of every source, in a file beside the embedded index."""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Iterable
from pathlib import Path

from askwiki.errors import StoreError
from askwiki.store.embedded.files import read_json, write_text
from askwiki.store.payload import to_run
from askwiki.store.port import Freshness

FILE = "runs.json"

logger = logging.getLogger(__name__)


def read_runs(root: Path) -> list[Freshness]:
    """By name; StoreError when the file is damaged."""
    try:
        runs = [to_run(item) for _, item in sorted(read_json(root / FILE).items())]
        if all(
            isinstance(value, str) for run in runs for value in (run.source, run.started, run.reconciled, run.rights)
        ):
            return runs
    except (StoreError, TypeError, KeyError, AttributeError) as error:
        logger.debug("%s: %s", FILE, error)
    raise StoreError(f"{root / FILE} of the index is damaged; run: python -m indexer sync")


def trusted_runs(root: Path) -> list[Freshness]:
    """For the writer: what cannot be read counts as never run, so that the next run reads everything."""
    try:
        return read_runs(root)
    except StoreError as error:
        logger.warning("every source will be read anew: %s", error)
        return []


def write_runs(root: Path, runs: Iterable[Freshness]) -> None:
    by_name = {run.source: dataclasses.asdict(run) for run in sorted(runs, key=lambda run: run.source)}
    write_text(root / FILE, json.dumps(by_name))


def compare_again(root: Path) -> None:
    """The next run of every source reads everything: what the writer holds may be less than the runs left there."""
    if runs := trusted_runs(root):
        write_runs(root, [dataclasses.replace(run, digest="", reconciled="") for run in runs])
