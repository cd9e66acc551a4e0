"""What ``sync``, ``rebuild`` and ``schedule`` share: several sources in a row, one commit; the bar that shows them."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tqdm import tqdm

from askwiki.configuration import Configuration
from indexer.sources import PageSource
from indexer.sync.digest import run_digest
from indexer.sync.forecast import forecast
from indexer.sync.ledger import Ledger
from indexer.sync.sync import Progress, Rules, sync
from indexer.sync.tools import open_tools


def run_sources(
    sources: Sequence[PageSource],
    rules: Rules,
    configuration: Configuration,
    *,
    rebuild: bool = False,
    progress: Progress = lambda done, total: None,
) -> list[Ledger]:
    """Sync the sources one after another, then make all of it visible in one step.

    An index built anew from a source that gave no page would lose what the old one holds of it: the old one stays.
    """
    ledgers = []
    with open_tools(configuration, rebuild=rebuild) as (tools, fingerprint):
        for source in sources:
            own = dataclasses.replace(rules, digest=run_digest(source.name, fingerprint, configuration))
            ledgers.append(sync(source, own, using=tools, progress=progress))
        if not (rebuild and any(ledger.exit_code > 1 for ledger in ledgers)):
            tools.writer.commit()
    return ledgers


@contextmanager
def bar(title: str) -> Iterator[Progress]:
    """Shows on stderr the pages done of those expected; where that is not a terminal, a sentence every few minutes."""
    if not sys.stderr.isatty():
        yield forecast(title, lambda sentence: tqdm.write(sentence, file=sys.stderr))
        return
    with tqdm(desc=title, unit="page", file=sys.stderr, dynamic_ncols=True) as shown:

        def progress(done: int, total: int) -> None:
            shown.total = total
            shown.update(done - shown.n)

        yield progress
