"""When the next sync starts, and what the container's health check says of the schedule."""

from __future__ import annotations

import signal
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from askwiki.errors import SettingsError
from askwiki.settings import ScheduleSettings
from indexer.sync.health import Health, alive, at_work, complaint, read_health, write_health
from indexer.sync.schedule import check_schedule, next_start
from tests.support.running import ROOT, environment
from tests.support.waiting import until

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def test_the_first_run_starts_at_once() -> None:
    assert next_start(ScheduleSettings(interval=600), None, NOON) == NOON


def test_a_long_run_is_followed_by_one_run_not_by_those_it_missed() -> None:
    settings = ScheduleSettings(interval=600)
    assert next_start(settings, NOON - timedelta(seconds=100), NOON) == NOON + timedelta(seconds=500)
    assert next_start(settings, NOON - timedelta(hours=5), NOON) == NOON


def test_a_cron_expression_wins_over_the_interval() -> None:
    start = next_start(ScheduleSettings(interval=600, cron="*/15 * * * *"), None, NOON + timedelta(minutes=1))
    assert start == NOON + timedelta(minutes=15)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (ScheduleSettings(), "schedule.source is empty"),
        (ScheduleSettings(source="xml:a", cron="often"), "schedule.cron is 'often', which is no cron expression"),
        (ScheduleSettings(source="xml:a", interval=0), "schedule.interval is 0"),
    ],
)
def test_a_schedule_that_can_never_run_is_refused(settings: ScheduleSettings, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        check_schedule(settings)


@pytest.mark.parametrize(
    ("health", "sentence"),
    [
        (Health(), "No schedule has run here yet."),
        (Health(state="running"), ""),
        (Health(next_start="2026-11-30T11:55:00+00:00"), ""),
        (Health(next_start="2026-11-30T12:30:00+00:00"), ""),
        (
            Health(next_start="2026-11-30T11:45:00+00:00"),
            "A run was due at 2026-11-30T11:45:00+00:00 and did not start: the process is gone.",
        ),
        (Health(state="running", error="the export is empty"), "The last run failed: the export is empty"),
        (
            Health(state="running", last_started="2026-11-28T11:00:00+00:00"),
            "The run of 2026-11-28T11:00:00+00:00 has not ended for 2 days.",
        ),
        (
            Health(last_started="2027-11-28T11:00:00+00:00", next_start="2027-11-28T12:00:00+00:00"),
            "The last run is stamped 2027-11-28T11:00:00+00:00, which is ahead of the clock: set the clock right.",
        ),
    ],
)
def test_the_health_check_says_what_is_wrong(health: Health, sentence: str) -> None:
    assert complaint(health, datetime(2026, 11, 30, 12, 0, tzinfo=UTC)) == sentence


def test_a_schedule_is_alive_as_long_as_it_is_at_work(tmp_path: Path) -> None:
    file = tmp_path / "health.json"
    assert not alive(file)
    with at_work(file):
        assert alive(file)
    assert not alive(file)


def test_an_export_still_being_copied_does_not_end_the_schedule_and_a_killed_run_is_told(
    tmp_path: Path,
) -> None:
    """The file has its full size and its index already, the middle of it is still empty."""
    export, health = tmp_path / "export.zip", tmp_path / "health.json"
    with zipfile.ZipFile(export, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("entities.xml", "<hibernate-generic>" + "<object/>" * 999 + "</hibernate-generic>")
        archive.writestr("exportDescriptor.properties", "exportType=space\n")
    data = bytearray(export.read_bytes())
    data[60:90] = bytes(30)
    export.write_bytes(data)
    variables = environment(
        ASKWIKI_STORE_PATH=str(tmp_path / "store"),
        ASKWIKI_SYNC__CACHE=str(tmp_path / "cache"),
        ASKWIKI_SCHEDULE__HEALTH=str(health),
    )
    command = [sys.executable, "-m", "indexer", "schedule"]

    def look() -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, "--healthy"], env=variables, cwd=ROOT, capture_output=True, text=True)

    with (tmp_path / "log").open("w", encoding="utf-8") as log:
        running = subprocess.Popen([*command, "--source", f"xml:{export}"], env=variables, cwd=ROOT, stderr=log)
        try:
            until(lambda: read_health(health).error, "no failed run")
            assert running.poll() is None
            looked = look()
            assert (looked.returncode, looked.stdout[:20]) == (1, "The last run failed:")
        finally:
            running.send_signal(signal.SIGKILL)
            running.wait()
    write_health(health, Health(state="running", last_started="2026-11-30T12:00:00+00:00"))
    looked = look()
    assert (looked.returncode, looked.stdout) == (
        1,
        "The run of 2026-11-30T12:00:00+00:00 did not end: its process is gone.\n",
    )
