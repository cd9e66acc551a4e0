"""``python -m indexer schedule``: sync again and again; what the indexer's container runs."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from askwiki.configuration import Configuration, load_configuration
from askwiki.errors import SourceError
from askwiki.logs import set_up_logging
from indexer.commands.calibrate import after_sync
from indexer.opening import open_source
from indexer.sync.forecast import forecast
from indexer.sync.health import alive, complaint, read_health
from indexer.sync.ledger import Ledger
from indexer.sync.rights import RightsSource, run_rights
from indexer.sync.run import run_sources
from indexer.sync.schedule import check_schedule, run_schedule, told
from indexer.sync.sync import Rules

logger = logging.getLogger(__name__)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", metavar="KIND:PATH", help="instead of schedule.source of the settings")
    parser.add_argument("--healthy", action="store_true", help="only say how the schedule does; exit 1 when badly")


def run(options: argparse.Namespace) -> int:
    """Until the process is told to end (SIGTERM, Ctrl-C)."""
    environment = dict(os.environ)
    if options.source:
        environment["ASKWIKI_SCHEDULE__SOURCE"] = options.source
    configuration = load_configuration(environment)
    settings = configuration.settings.schedule
    if options.healthy:
        return _report(Path(settings.health))
    check_schedule(settings)
    set_up_logging(configuration.settings.log_level, configuration.settings.log_format)
    signal.signal(signal.SIGTERM, lambda *_: _end())
    run_schedule(
        lambda: _job(configuration),
        settings,
        clock=lambda: datetime.now(UTC),
        stop=threading.Event(),
        rights=lambda: _rights(configuration),
    )
    return 0


def _report(file: Path) -> int:
    """What the container's health check asks."""
    health = read_health(file)
    sentence = complaint(health, datetime.now(UTC), alive=alive(file))
    print(sentence or f"{health.pages} pages, last success {health.last_success or 'not yet'}.")
    return 1 if sentence else 0


def _job(configuration: Configuration) -> Sequence[Ledger]:
    """Every source, even when another one cannot be read."""
    settings = configuration.settings.schedule
    ledgers: list[Ledger] = []
    broken: list[str] = []
    for name in settings.source.split():
        try:
            source, rules = open_source(name, configuration), Rules(between=settings.reconcile)
            ledgers += run_sources([source], rules, configuration, progress=forecast(name, logger.info))
        except Exception as error:  # whatever it is, the other sources are not to wait for it
            broken.append(told(error))
    for ledger in ledgers:
        logger.info("%s", ledger.to_text())
    after_sync(configuration)
    if broken:
        raise SourceError(" ".join(broken))
    return ledgers


def _rights(configuration: Configuration) -> Sequence[Ledger]:
    """Of every live wiki among the sources; an export says nothing new before it is made again."""
    names = [name for name in configuration.settings.schedule.source.split() if name.startswith("rest:")]
    sources = [open_source(name, configuration) for name in names]
    return run_rights([one for one in sources if isinstance(one, RightsSource) and one.live], configuration)


def _end() -> NoReturn:
    """A run under way ends here: whatever it wrote is whole pages, the next run goes on from there."""
    raise SystemExit(0)
