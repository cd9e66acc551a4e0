"""``python -m indexer rebuild [--source KIND:PATH …] [--json]``: a new index beside the old one."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from askwiki.configuration import Configuration, load_configuration
from askwiki.errors import SettingsError
from askwiki.masking import masked
from askwiki.store import open_reader
from indexer.commands.calibrate import after_sync
from indexer.opening import open_source
from indexer.sync.run import bar, run_sources
from indexer.sync.sync import Rules


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source", metavar="KIND:PATH", action="append", default=[],
        help="what to fill the new index from, may be given several times; default: what the old one was filled from",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="one ledger a source as a JSON list on stdout")


def run(options: argparse.Namespace) -> int:
    """The old index answers until the new one is complete. Exit codes as of ``sync``, the worst of all sources."""
    configuration = load_configuration(os.environ)
    names = options.source or known_sources(configuration)
    sources = [open_source(name, configuration) for name in names]
    with bar("rebuild") as progress:
        ledgers = run_sources(sources, Rules(), configuration, rebuild=True, progress=progress)
    for ledger in ledgers:
        print(ledger.to_text(), file=sys.stderr)
    after_sync(configuration)
    if options.json:
        print(masked(json.dumps([ledger.to_json() for ledger in ledgers], ensure_ascii=False, indent=1)))
    return max(ledger.exit_code for ledger in ledgers)


def known_sources(configuration: Configuration) -> Sequence[str]:
    """The sources of the index that answers now, else those of the schedule."""
    reader = open_reader(configuration.settings.store)
    names = [run.source for run in reader.freshness()]
    reader.close()
    names = names or configuration.settings.schedule.source.split()
    if not names:
        raise SettingsError("There is no index yet that names its sources; give --source KIND:PATH.")
    return names
