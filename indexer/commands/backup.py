"""``python -m indexer backup [FOLDER|FILE]``: the whole index in one file."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from askwiki.configuration import load_configuration
from askwiki.store.backup import backup


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "where", metavar="FOLDER|FILE", nargs="?", default=".", help="a new file, or a folder for one; default: here"
    )


def run(options: argparse.Namespace) -> int:
    """0 and the file's name on stdout. It holds pages that not everybody may read: only this account can."""
    path = backup(load_configuration(os.environ).settings.store, Path(options.where))
    print(path)
    print(f"{path.stat().st_size / 1e6:.0f} MB; back with: python -m indexer restore {path}", file=sys.stderr)
    return 0
