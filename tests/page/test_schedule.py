"""When syncs run, and what the health file says of them; the clock is the test's."""

from __future__ import annotations

import json
import threading
import zipfile
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from askwiki.errors import SettingsError, SourceError
from askwiki.settings import ScheduleSettings
from indexer.sync.health import Health, at_work, read_health, write_health
from indexer.sync.ledger import Ledger
from indexer.sync.schedule import check_schedule, next_start, run_schedule

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


class Clock:
    """Time passes only when somebody waits; stops the schedule after some waits."""

    def __init__(self, waits: int) -> None:
        self.now = NOON
        self.stop = _Stop(self, waits)

    def __call__(self) -> datetime:
        return self.now


class _Stop(threading.Event):
    def __init__(self, clock: Clock, waits: int) -> None:
        super().__init__()
        self.clock, self.waits, self.seconds = clock, waits, list[float]()

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout or 0.0)
        self.clock.now += timedelta(seconds=timeout or 0.0)
        if len(self.seconds) > self.waits:
            self.set()
        return self.is_set()


def settings(tmp_path: Path, **fields: object) -> ScheduleSettings:
    values = {"source": "markdown:wiki", "interval": 600.0, "health": str(tmp_path / "deep" / "health.json"), **fields}
    return ScheduleSettings(**values)  # type: ignore[arg-type]


def test_the_first_run_is_at_once_and_the_next_after_the_interval(tmp_path: Path) -> None:
    clock, runs = Clock(3), list[datetime]()

    def job() -> Sequence[Ledger]:
        runs.append(clock.now)
        clock.now += timedelta(seconds=100)
        return [Ledger(source="markdown:wiki", read=5, chunks=9)]

    run_schedule(job, settings(tmp_path), clock=clock, stop=clock.stop)
    assert clock.stop.seconds == [0.0, 500.0, 500.0, 500.0]
    assert runs == [NOON, NOON + timedelta(seconds=600), NOON + timedelta(seconds=1200)]


def test_a_run_longer_than_the_interval_is_followed_by_one_not_by_many() -> None:
    long = next_start(ScheduleSettings(interval=600.0), NOON, NOON + timedelta(hours=5))
    assert long == NOON + timedelta(hours=5)


def test_a_cron_expression_is_read_in_the_machines_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    start = next_start(ScheduleSettings(cron="30 6 * * 1-5", interval=0.0), NOON, NOON)
    local = start.astimezone()
    assert (local.hour, local.minute) == (6, 30)
    assert timedelta(0) < start - NOON <= timedelta(days=1)


def test_the_health_file_tells_of_the_last_success(tmp_path: Path) -> None:
    clock, seen = Clock(1), list[Health]()
    file = tmp_path / "deep" / "health.json"

    def job() -> Sequence[Ledger]:
        seen.append(read_health(file))
        return [Ledger(source="a", read=5, chunks=9, failed=1), Ledger(source="b", read=2, chunks=3)]

    run_schedule(job, settings(tmp_path), clock=clock, stop=clock.stop)
    assert (seen[0].state, seen[0].last_started) == ("running", "2026-03-02T12:00:00+00:00")
    assert json.loads(file.read_text(encoding="utf-8")) == {
        "state": "waiting",
        "last_started": "2026-03-02T12:00:00+00:00",
        "last_success": "2026-03-02T12:00:00+00:00",
        "next_start": "2026-03-02T12:10:00+00:00",
        "pages": 7,
        "chunks": 12,
        "failed": 1,
        "error": "",
    }


def test_a_failed_run_is_told_and_not_the_end(tmp_path: Path) -> None:
    clock = Clock(2)
    outcomes = iter([SourceError("The wiki does not answer."), Ledger(source="a", expected=3, failed=3)])

    def job() -> Sequence[Ledger]:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return [outcome]

    file = tmp_path / "deep" / "health.json"
    write_health(file, Health(last_success="2026-03-01T00:00:00+00:00", pages=4))
    run_schedule(job, settings(tmp_path), clock=clock, stop=clock.stop)
    health = read_health(file)
    assert (health.last_success, health.pages) == ("2026-03-01T00:00:00+00:00", 4)
    assert (health.error, health.failed) == ("No page of a could be read.", 3)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"source": " "}, "schedule.source is empty"),
        ({"cron": "61 * * * *"}, "no cron expression"),
        ({"cron": "every hour"}, "no cron expression"),
        ({"interval": 0.0}, "schedule.interval is 0"),
    ],
)
def test_a_schedule_that_can_never_run_is_refused(tmp_path: Path, fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        check_schedule(settings(tmp_path, **fields))


def test_a_damaged_health_file_is_as_none(tmp_path: Path) -> None:
    (tmp_path / "health.json").write_text("[1", encoding="utf-8")
    assert read_health(tmp_path / "health.json") == Health()


@pytest.mark.parametrize(
    "fault",
    [zipfile.BadZipFile("no end"), zlib.error("-3"), OSError(5, "gone"), KeyError("x"), EOFError(), MemoryError()],
    ids=lambda fault: type(fault).__name__,
)
def test_any_fault_of_a_run_is_a_failed_run_and_the_next_one_comes_soon(tmp_path: Path, fault: Exception) -> None:
    clock, outcomes = Clock(2), iter([fault, None])

    def job() -> Sequence[Ledger]:
        outcome = next(outcomes)
        told.append(read_health(file).error)
        if outcome:
            raise outcome
        return [Ledger(source="a", read=1)]

    file, told = tmp_path / "deep" / "health.json", list[str]()
    run_schedule(job, settings(tmp_path, interval=86_400.0), clock=clock, stop=clock.stop)
    assert clock.stop.seconds == [0.0, 300.0, 86_400.0]
    assert told[1].startswith(f"The run broke off ({type(fault).__name__}: ")
    assert read_health(file).error == ""


def test_runs_that_keep_failing_wait_longer_up_to_an_hour(tmp_path: Path) -> None:
    clock = Clock(6)

    def job() -> Sequence[Ledger]:
        raise SourceError("The wiki does not answer.")

    run_schedule(job, settings(tmp_path, interval=0.0, cron="0 6 1 1 *"), clock=clock, stop=clock.stop)
    assert clock.stop.seconds[1:] == [300.0, 600.0, 1200.0, 2400.0, 3600.0, 3600.0]


def test_a_clock_that_was_set_back_does_not_put_the_next_run_off() -> None:
    start = next_start(ScheduleSettings(interval=600.0), NOON + timedelta(days=30), NOON)
    assert start == NOON + timedelta(seconds=600)


def test_a_health_file_that_can_no_longer_be_written_is_not_the_end(tmp_path: Path) -> None:
    clock, runs = Clock(2), list[datetime]()

    def job() -> Sequence[Ledger]:
        runs.append(clock.now)
        (tmp_path / "deep" / "health.json").unlink(missing_ok=True)
        (tmp_path / "deep" / "health.json").mkdir(exist_ok=True)  # nothing can be renamed to it
        return [Ledger(source="a", read=1)]

    run_schedule(job, settings(tmp_path), clock=clock, stop=clock.stop)
    assert len(runs) == 2


def test_a_second_schedule_on_the_same_health_file_is_refused(tmp_path: Path) -> None:
    clock = Clock(0)
    with at_work(tmp_path / "deep" / "health.json"), pytest.raises(SettingsError, match="Another schedule is at work"):
        run_schedule(lambda: [], settings(tmp_path), clock=clock, stop=clock.stop)


@pytest.mark.parametrize("content", ['{"state": 5, "next_start": "soon"}', '"x"', "null", '{"last_started": "2026"}'])
def test_odd_fields_of_a_health_file_are_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "health.json").write_text(content, encoding="utf-8")
    assert read_health(tmp_path / "health.json") == Health()


def test_page_rights_have_a_clock_of_their_own(tmp_path: Path) -> None:
    clock, order = Clock(5), list[str]()

    def job() -> Sequence[Ledger]:
        order.append(f"pages {(clock.now - NOON).seconds}")
        return [Ledger(source="a", read=1)]

    def rights() -> Sequence[Ledger]:
        order.append(f"rights {(clock.now - NOON).seconds}")
        return []

    run_schedule(job, settings(tmp_path, rights=250.0), clock=clock, stop=clock.stop, rights=rights)
    assert order == ["pages 0", "rights 0", "rights 250", "rights 500", "pages 600"]


def test_rights_that_could_not_be_compared_are_told_until_they_can(tmp_path: Path) -> None:
    clock, told = Clock(4), list[str]()
    outcomes = iter([SourceError("The wiki does not answer."), None, None])
    file = tmp_path / "deep" / "health.json"

    def rights() -> Sequence[Ledger]:
        told.append(read_health(file).error)
        if outcome := next(outcomes):
            raise outcome
        return []

    run_schedule(
        lambda: [Ledger(source="a", read=1)],
        settings(tmp_path, rights=100.0, interval=86_400.0),
        clock=clock,
        stop=clock.stop,
        rights=rights,
    )
    assert told == ["", "The wiki does not answer.", ""]
