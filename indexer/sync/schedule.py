"""When the next sync starts, and how a run's outcome is remembered."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from croniter import croniter

from askwiki.errors import AskWikiError, SettingsError
from askwiki.settings import ScheduleSettings
from indexer.sync.health import Health, at_work, read_health, replaced, write_health
from indexer.sync.ledger import Ledger

RETRY = timedelta(minutes=5)  # after the first failed run; each further one waits twice as long
LONGEST_RETRY = timedelta(hours=1)

Clock = Callable[[], datetime]
Job = Callable[[], Sequence[Ledger]]

logger = logging.getLogger(__name__)


def next_start(settings: ScheduleSettings, started: datetime | None, now: datetime, failures: int = 0) -> datetime:
    """At once for the first run; never two runs for the times that passed during a long one.

    After ``failures`` failed runs in a row it does not wait for the next regular time.
    """
    if settings.cron:
        regular = _next_cron(settings.cron, now)
    elif started is None:
        return now
    else:  # a start that lies ahead is one of a clock that has been set back since
        regular = max(min(started, now) + timedelta(seconds=settings.interval), now)
    if not failures:
        return regular
    return min(regular, now + min(RETRY * (1 << min(failures - 1, 10)), LONGEST_RETRY))


def check_schedule(settings: ScheduleSettings) -> None:
    """SettingsError for a schedule that can never run."""
    if not settings.source.split():
        raise SettingsError("schedule.source is empty; name what to sync, for example rest:https://wiki.example.org.")
    if settings.cron and not croniter.is_valid(settings.cron):
        raise SettingsError(
            f"schedule.cron is {settings.cron!r}, which is no cron expression; "
            "it has five fields, for example '0 6 * * 1-5'."
        )
    if not settings.cron and settings.interval <= 0:
        raise SettingsError("schedule.interval is 0; give seconds between runs, or a cron expression in schedule.cron.")


def run_schedule(
    job: Job, settings: ScheduleSettings, *, clock: Clock, stop: threading.Event, rights: Job | None = None
) -> None:
    """Run the job again and again, one run at a time, until ``stop`` is set. A failed run is not the end.

    ``rights`` is a short run between the others, every ``settings.rights`` seconds: page rights alone.
    """
    check_schedule(settings)
    file, started, compared, failures = Path(settings.health), None, None, 0
    health = read_health(file)
    trouble = ""  # of the last comparison of rights
    with at_work(file):
        write_health(file, health)  # a place that cannot be written is told at once, a disk that fills up later is not
        while not stop.is_set():
            start = next_start(settings, started, clock(), failures)
            health = replaced(health, state="waiting", next_start=_written(start))
            _keep(file, replaced(health, error=health.error or trouble))
            due = min(start, _next_rights(settings, compared, clock())) if rights and settings.rights > 0 else start
            if stop.wait(max((due - clock()).total_seconds(), 0.0)):
                break
            if rights and due < start:
                compared = clock()
                trouble = _after(health, rights).error
                continue
            started = clock()
            health = replaced(health, last_started=_written(started))
            _keep(file, replaced(health, state="running"))
            health = _after(health, job)
            failures = failures + 1 if health.error else 0


def _next_rights(settings: ScheduleSettings, compared: datetime | None, now: datetime) -> datetime:
    return now if compared is None else max(min(compared, now) + timedelta(seconds=settings.rights), now)


def told(error: Exception) -> str:
    """What a run ended with, as a sentence. Whatever is no sentence by itself leaves its trace in the log."""
    if isinstance(error, AskWikiError):
        return str(error)
    logger.error("A run failed.", exc_info=error)
    return f"The run broke off ({type(error).__name__}: {error}); the log says where. It is tried again."


def _keep(file: Path, health: Health) -> None:
    """The health check meets an old file then, and says so; the runs go on."""
    try:
        write_health(file, health)
    except SettingsError as error:
        logger.error("%s", error)


def _after(health: Health, job: Job) -> Health:
    try:
        ledgers = job()
    except Exception as error:  # a file that is still being copied, a full disk: the next run may find it mended
        return replaced(health, error=told(error))
    failed = sum(ledger.failed for ledger in ledgers)
    nothing = [ledger.source for ledger in ledgers if ledger.exit_code > 1]
    if nothing:
        return replaced(health, failed=failed, error=f"No page of {', '.join(nothing)} could be read.")
    return replaced(
        health,
        last_success=health.last_started,
        pages=sum(ledger.read for ledger in ledgers),
        chunks=sum(ledger.chunks for ledger in ledgers),
        failed=failed,
        error="",
    )


def _next_cron(expression: str, now: datetime) -> datetime:
    """In the machine's own time zone, as everybody writes such expressions."""
    found: datetime = croniter(expression, now.astimezone()).get_next(datetime)
    return found


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")
