"""Rights that the index read too long ago are closed, also of pages that everybody could read then."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from askwiki.access.rights_age import current_rights, young_sources
from askwiki.data import PUBLIC, Identity, Rights
from askwiki.doctor.rights import closed_by_age, longest
from askwiki.settings import AccessSettings, ScheduleSettings, Settings
from askwiki.store.port import Freshness, Leg
from tests.support.stores import EMBEDDER, Store, embedded, in_memory, make_chunk, write_page

NOW = datetime(2026, 5, 1, tzinfo=UTC)
DAY = 86_400.0


def run(source: str, *, days: float, now: datetime = NOW, **fields: str) -> Freshness:
    read = (now - timedelta(days=days)).isoformat()
    return Freshness(source, fields.get("started", read), 1, 1, fields.get("reconciled", read))


def test_while_no_run_is_too_old_every_source_is_read_the_ones_without_a_note_too() -> None:
    assert young_sources([], DAY, NOW) is None
    assert young_sources([run("rest:a", days=0.5), run("xml:b", days=1)], DAY, NOW) is None


def test_rights_read_between_two_full_comparisons_count() -> None:
    fresh = dataclasses.replace(run("rest:a", days=3), rights=(NOW - timedelta(minutes=5)).isoformat())
    assert young_sources([fresh], DAY, NOW) is None


def test_only_sources_that_are_young_enough_are_read() -> None:
    assert young_sources([run("rest:a", days=0.5), run("xml:b", days=1.01)], DAY, NOW) == {"rest:a"}


@pytest.mark.parametrize("stamp", ["", "yesterday", (NOW + timedelta(hours=1)).isoformat()])
def test_a_time_that_says_nothing_is_too_old(stamp: str) -> None:
    assert young_sources([run("rest:a", days=0, started=stamp, reconciled=stamp)], DAY, NOW) == frozenset()


@pytest.mark.parametrize(("ahead", "believed"), [(600, None), (601, frozenset())])
def test_clocks_may_differ_by_ten_minutes(ahead: float, believed: frozenset[str] | None) -> None:
    assert young_sources([run("rest:a", days=-ahead / DAY)], DAY, NOW) == believed


def test_a_stamp_without_a_zone_is_in_utc() -> None:
    assert young_sources([run("rest:a", days=0, reconciled="2026-04-30T00:00:00")], DAY, NOW) is None
    assert young_sources([run("rest:a", days=0, reconciled="2026-04-29T23:59:59")], DAY, NOW) == frozenset()


def test_a_run_that_notes_no_comparison_counts_from_its_start() -> None:
    assert young_sources([run("rest:a", days=0.5, reconciled="")], DAY, NOW) is None


def test_a_run_that_asked_only_for_changes_does_not_make_rights_younger() -> None:
    """It sees edits; whom a page was taken from it need not see."""
    item = run("rest:a", days=2, started=NOW.isoformat())
    assert young_sources([item], DAY, NOW) == frozenset()


@pytest.fixture(params=["embedded", "server"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return embedded(tmp_path) if request.param == "embedded" else in_memory()


def test_pages_of_a_source_with_old_rights_are_found_by_no_way(store: Store) -> None:
    writer = store.writer()
    write_page(writer, make_chunk("1", 0, "первый"), source="rest:young")
    write_page(writer, make_chunk("2", 0, "второй"), source="xml:old")
    now = datetime.now(UTC)
    writer.finish(run("rest:young", days=0, now=now))
    writer.finish(run("xml:old", days=2, now=now))
    writer.commit()
    writer.close()
    reader, person = store.reader(), Identity(email="anna@example.org", known=True)
    rights = current_rights(person, reader, AccessSettings(max_age=DAY))
    assert rights.sources == {"rest:young"}
    found = reader.search([Leg("text", EMBEDDER.query("второй"), 10)], rights)["text"]
    assert list(found) == ["1#0"]
    assert list(reader.fetch(["1#0", "2#0"], rights)) == ["1#0"]
    assert [len(chunks) for chunks in reader.chunks_of(["1", "2"], rights).values()] == [1, 0]
    assert reader.visible_urls(["https://wiki/1#h", "https://wiki/2#h"], rights) == {"https://wiki/1#h"}
    assert current_rights(person, reader, AccessSettings(max_age=3 * DAY)) == Rights(frozenset({PUBLIC}))
    assert current_rights(person, reader, AccessSettings(max_age=0)).sources is None
    reader.close()


def test_the_doctor_names_each_time_with_its_setting() -> None:
    settings = Settings(
        access=AccessSettings(max_age=DAY, groups_from="rest,file"), schedule=ScheduleSettings(source="xml:a.zip")
    )
    assert longest(settings) == (
        "Page rights: 1 d (schedule.reconcile) and 1 h to a run (schedule.interval); when no run succeeds, at most 1 d "
        "(access.max_age). Groups (access.groups_from): file: at once after groups.yaml is saved; rest: 10 min, 1 d "
        "while the wiki does not answer. Login: as long as a session of Open WebUI (its JWT_EXPIRES_IN; without it, "
        "without an end)."
    )
    live = dataclasses.replace(settings, schedule=ScheduleSettings(source="rest:a xml:b.zip", rights=600.0))
    assert longest(live).startswith("Page rights of a live wiki: 10 min (schedule.rights), all others:")
    without = dataclasses.replace(settings, access=AccessSettings(max_age=0), schedule=ScheduleSettings())
    assert "without an end (access.max_age is 0)" in longest(without)


def test_the_doctor_names_the_sources_that_are_closed() -> None:
    settings = Settings(access=AccessSettings(max_age=DAY))
    assert closed_by_age(settings, [run("rest:a", days=3, now=datetime.now(UTC))]) == (
        "Who may read rest:a was read longer ago than access.max_age (1 d): its pages are closed."
    )
    assert closed_by_age(settings, [run("rest:a", days=0, now=datetime.now(UTC))]) == ""
