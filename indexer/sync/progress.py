"""The progress bar of the command line, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from indexer.sync.sync import Progress


@contextmanager
def bar(title: str) -> Iterator[Progress]:
    """Shows pages done of pages expected; silent where stderr is not a terminal."""
    with tqdm(desc=title, unit="page", file=sys.stderr, disable=None, dynamic_ncols=True) as shown:

        def progress(done: int, total: int) -> None:
            shown.total = total
            shown.update(done - shown.n)

        yield progress
