"""``python -m indexer restore FILE``: the index of a backup takes over in one step."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from askwiki.configuration import load_configuration
from askwiki.store.backup import restore


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="written by `python -m indexer backup`")


def run(options: argparse.Namespace) -> int:
    """0 when the restored index answers; before that the old one does, and goes on where the backup is not whole."""
    about = restore(load_configuration(os.environ).settings.store, Path(options.file))
    sources = ", ".join(str(run["source"]) for run in about.runs) or "no source"
    print(f"The index of {about.made} answers: {about.chunks} chunks of {sources}.", file=sys.stderr)
    return 0
