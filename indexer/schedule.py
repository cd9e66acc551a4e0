"""When the next sync starts, and the file that says how the last one went."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from croniter import croniter

from askwiki.errors import AskWikiError, SettingsError
from askwiki.settings import ScheduleSettings
from askwiki.store.versions import write_text
from indexer.ledger import Ledger

LATE = timedelta(minutes=10)  # a start later than that means that nobody starts runs any more

Clock = Callable[[], datetime]
Job = Callable[[], Sequence[Ledger]]


@dataclass(frozen=True, slots=True)
class Health:
    """How the schedule does; times are ISO 8601 in UTC. ``state``: running | waiting."""

    state: str = "waiting"
    last_started: str = ""
    last_success: str = ""
    next_start: str = ""
    pages: int = 0  # read by the last successful run
    chunks: int = 0
    failed: int = 0  # pages
    error: str = ""  # why the last run failed, empty after a success


def next_start(settings: ScheduleSettings, started: datetime | None, now: datetime) -> datetime:
    """At once for the first run; never two runs for the times that passed during a long one."""
    if settings.cron:
        return _next_cron(settings.cron, now)
    if started is None:
        return now
    return max(started + timedelta(seconds=settings.interval), now)


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


def run_schedule(job: Job, settings: ScheduleSettings, *, clock: Clock, stop: threading.Event) -> None:
    """Run the job again and again, one run at a time, until ``stop`` is set. A failed run is not the end."""
    check_schedule(settings)
    file, started = Path(settings.health), None
    health = read_health(file)
    while not stop.is_set():
        start = next_start(settings, started, clock())
        health = _replace(health, state="waiting", next_start=_written(start))
        write_health(file, health)
        if stop.wait(max((start - clock()).total_seconds(), 0.0)):
            break
        started = clock()
        write_health(file, _replace(health, state="running", last_started=_written(started)))
        health = _after(_replace(health, last_started=_written(started)), job)


def read_health(file: Path) -> Health:
    """What an earlier process left, else nothing known."""
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        return Health(**{name: known[name] for name in asdict(Health()) if name in known})
    except (OSError, ValueError, TypeError):
        return Health()


def complaint(health: Health, now: datetime) -> str:
    """What is wrong with the schedule as a sentence, empty when nothing is."""
    if health.error:
        return f"The last run failed: {health.error}"
    if health.state == "running":
        return ""
    if not health.next_start:
        return "No schedule has run here yet."
    due = datetime.fromisoformat(health.next_start)
    if now > due + LATE:
        return f"A run was due at {health.next_start} and did not start: the process is gone."
    return ""


def write_health(file: Path, health: Health) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps(asdict(health), ensure_ascii=False, indent=1) + "\n")
    except OSError as error:
        raise SettingsError(f"schedule.health: {file} cannot be written ({error.strerror}).") from error


def _after(health: Health, job: Job) -> Health:
    try:
        ledgers = job()
    except AskWikiError as error:
        return _replace(health, error=str(error))
    failed = sum(ledger.failed for ledger in ledgers)
    nothing = [ledger.source for ledger in ledgers if ledger.exit_code > 1]
    if nothing:
        return _replace(health, failed=failed, error=f"No page of {', '.join(nothing)} could be read.")
    return _replace(
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


def _replace(health: Health, **changes: object) -> Health:
    return Health(**{**asdict(health), **changes})
