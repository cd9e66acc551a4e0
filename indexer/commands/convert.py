"""``python -m indexer convert FILE``: one file to Markdown on stdout, what was lost on stderr."""

from __future__ import annotations

import argparse
import os
import sys

from askwiki.configuration import load_configuration
from indexer.confluence.sources.forms import FORMS, convert_file


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a body, a page or entities.xml")
    parser.add_argument("--form", choices=FORMS, help="form of the file; guessed when not given")


def run(options: argparse.Namespace) -> int:
    markdown, losses = convert_file(options.file, options.form, load_configuration(os.environ))
    print(markdown)
    for loss in losses:
        times = f" x {loss.count}" if loss.count > 1 else ""
        print(f"lost: {loss.kind} {loss.name}{times}" + (f" ({loss.detail})" if loss.detail else ""), file=sys.stderr)
    return 0
