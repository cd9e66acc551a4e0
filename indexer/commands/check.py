"""``python -m indexer check KIND:PATH``: the ledger of a source without indexing it."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time

from tqdm import tqdm

from askwiki.configuration import load_configuration
from askwiki.data import Loss
from askwiki.masking import masked
from askwiki.settings import AttachmentSettings
from indexer.attachments.documents import documents_of
from indexer.opening import open_source
from indexer.sources import PageFailure, PageSource
from indexer.sync.ledger import Ledger


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="KIND:PATH", help="html, xml, rest or markdown, a colon, and where it is")
    parser.add_argument("--json", action="store_true", help="the ledger as JSON on stdout")


def run(options: argparse.Namespace) -> int:
    configuration = load_configuration(os.environ)
    ledger = check(open_source(options.source, configuration), configuration.settings.attachments)
    print(masked(json.dumps(ledger.to_json(), ensure_ascii=False, indent=2)) if options.json else ledger.to_text())
    return ledger.exit_code


def check(source: PageSource, attachments: AttachmentSettings = AttachmentSettings()) -> Ledger:
    """Read every page once and count; nothing is stored."""
    started = time.monotonic()
    expected = source.expected()
    losses: tuple[Loss, ...] = getattr(source, "losses", ())
    ledger = Ledger(source=source.name).with_losses(losses)
    arrived: list[str] = []
    for page in tqdm(
        source.pages(), total=len(expected), unit="page", file=sys.stderr, disable=not sys.stderr.isatty()
    ):
        if isinstance(page, PageFailure):
            arrived.append(page.ref.id)
            ledger = ledger.with_failure(page)
            continue
        ledger = ledger.with_page(page)
        arrived.append(page.id)
        for document in documents_of(page, attachments):
            ledger = ledger.with_failure(document) if isinstance(document, PageFailure) else ledger.with_page(document)
    ledger = ledger.with_missing(expected, arrived)
    return dataclasses.replace(ledger, collisions=len(arrived) - len(set(arrived)), seconds=time.monotonic() - started)
