"""The file that says how the schedule does, and what the container's health check makes of it.

Whether the process of a schedule still lives is not written but held: it keeps a lock beside the file,
which the system frees however the process ends. A process id would be that of another process after a
restart, above all in a container.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

from askwiki.errors import SettingsError
from askwiki.store.embedded.files import write_text

LATE = timedelta(minutes=10)  # a start later than that means that nobody starts runs any more
LONGEST = timedelta(days=1)  # a run longer than that hangs, or will never keep pace


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


def read_health(file: Path) -> Health:
    """What an earlier process left, else nothing known."""
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return Health()
    if not isinstance(known, dict):
        return Health()
    default = asdict(Health())
    fitting = {name: known[name] for name in default if type(known.get(name)) is type(default[name])}
    stamps = {"last_started", "last_success", "next_start"}
    return Health(**{name: value for name, value in fitting.items() if name not in stamps or _moment(value)})


def write_health(file: Path, health: Health) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps(asdict(health), ensure_ascii=False, indent=1) + "\n")
    except OSError as error:
        raise SettingsError(f"schedule.health: {file} cannot be written ({error.strerror}).") from error


def replaced(health: Health, **changes: object) -> Health:
    return Health(**{**asdict(health), **changes})


@contextlib.contextmanager
def at_work(file: Path) -> Iterator[None]:
    """While it lasts, ``alive`` says yes of this file; SettingsError when another schedule is at work on it."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        held = _lock_of(file).open("a")
    except OSError as error:
        raise SettingsError(f"schedule.health: {file} cannot be written ({error.strerror}).") from error
    with held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SettingsError(
                f"Another schedule is at work on {file}; end it first, or set schedule.health to another file."
            ) from None
        yield


def alive(file: Path) -> bool:
    """Whether the process of the schedule that writes this file still runs."""
    try:
        with _lock_of(file).open() as held:
            fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def complaint(health: Health, now: datetime, *, alive: bool = True) -> str:
    """What is wrong with the schedule, empty when nothing is."""
    if health.error:
        return f"The last run failed: {health.error}"
    started = _moment(health.last_started)
    if started and started > now + LATE:
        return f"The last run is stamped {health.last_started}, which is ahead of the clock: set the clock right."
    if health.state == "running":
        if not alive:
            return f"The run of {health.last_started or 'an unknown time'} did not end: its process is gone."
        if started and now > started + LONGEST:
            return f"The run of {health.last_started} has not ended for {(now - started).days} days."
        return ""
    due = _moment(health.next_start)
    if due is None:
        return "No schedule has run here yet."
    if now > due + LATE:
        return f"A run was due at {health.next_start} and did not start: the process is gone."
    return ""


def _lock_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.lock")


def _moment(written: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
