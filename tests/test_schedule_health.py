"""When the next sync starts, and what the container's health check says of the schedule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from askwiki.errors import SettingsError
from askwiki.settings import ScheduleSettings
from indexer.schedule import Health, check_schedule, complaint, next_start

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
    ],
)
def test_the_health_check_says_what_is_wrong(health: Health, sentence: str) -> None:
    assert complaint(health, datetime(2026, 11, 30, 12, 0, tzinfo=UTC)) == sentence
