"""``python -m indexer sync --source KIND:PATH [--json] [--limit N] [--allow-shrink]``"""

from __future__ import annotations

import argparse
import json
import os
import sys

from askwiki.configuration import load_configuration
from askwiki.masking import masked
from indexer.commands.calibrate import after_sync
from indexer.opening import open_source
from indexer.sync.run import bar, run_sources
from indexer.sync.sync import Rules


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", metavar="KIND:PATH", required=True, help="html, xml, rest or markdown, and where")
    parser.add_argument("--json", action="store_true", help="the ledger as JSON on stdout")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="only the first N pages; removes nothing")
    parser.add_argument("--allow-shrink", action="store_true", help="even if the source lost most of its pages")


def run(options: argparse.Namespace) -> int:
    """0 = all is in, 1 = some pages are not, 2 = nothing could be done."""
    configuration = load_configuration(os.environ)
    source = open_source(options.source, configuration)
    rules = Rules(limit=max(options.limit, 0), allow_shrink=options.allow_shrink)
    with bar(options.source) as progress:
        [ledger] = run_sources([source], rules, configuration, progress=progress)
    print(ledger.to_text(), file=sys.stderr)
    after_sync(configuration)
    if options.json:
        print(masked(json.dumps(ledger.to_json(), ensure_ascii=False, indent=1)))
    return ledger.exit_code
