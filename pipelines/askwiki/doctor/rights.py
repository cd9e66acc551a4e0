"""How long at most a right that was taken lives on, and whether the index's own are too old: lines for the doctor."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from askwiki.access.rights import names
from askwiki.access.rights_age import rights_age, young_sources
from askwiki.access.wiki_groups import ASK_AGAIN, TRUSTED
from askwiki.settings import Settings
from askwiki.store.port import Freshness


def longest(settings: Settings) -> str:
    """The longest time that a right lives on after it was taken, for each place it is kept in, with its setting."""
    return " ".join([_of_pages(settings), _of_groups(settings), _of_login()])


def _of_pages(settings: Settings) -> str:
    schedule, limit = settings.schedule, settings.access.max_age
    if schedule.source:
        between = f"schedule.cron {schedule.cron!r}" if schedule.cron else f"{_time(schedule.interval)} to a run"
        said = f"Page rights: {_time(schedule.reconcile)} (schedule.reconcile) and {between} (schedule.interval)"
        if schedule.rights and any(source.startswith("rest:") for source in schedule.source.split()):
            often = _time(schedule.rights)
            said = f"Page rights of a live wiki: {often} (schedule.rights), all others: as their sync runs"
    else:
        said = "Page rights: until the next sync, which nothing starts by itself (schedule.source is empty)"
    end = f"at most {_time(limit)} (access.max_age)" if limit else "without an end (access.max_age is 0)"
    again = " Found pages are asked of the wiki once more (access.recheck)." if settings.access.recheck else ""
    return f"{said}; when no run succeeds, {end}.{again}"


def _of_groups(settings: Settings) -> str:
    sources = {
        "header": "header: at once, as Open WebUI knows them (its own sync with the directory is at login)",
        "file": "file: at once after groups.yaml is saved",
        "rest": f"rest: {_time(ASK_AGAIN)}, {_time(TRUSTED)} while the wiki does not answer",
    }
    said = "; ".join(sources[name] for name in names(settings.access.groups_from) if name in sources)
    return f"Groups (access.groups_from): {said or 'none are known'}."


def _of_login() -> str:
    return "Login: as long as a session of Open WebUI (its JWT_EXPIRES_IN; without it, without an end)."


def closed_by_age(settings: Settings, runs: Sequence[Freshness]) -> str:
    """Which sources are closed because their rights were read too long ago; empty when none is."""
    now, limit = datetime.now(UTC), settings.access.max_age
    if not limit or young_sources(runs, limit, now) is None:
        return ""
    old = ", ".join(run.source for run in runs if rights_age(run, now) > limit)
    return f"Who may read {old} was read longer ago than access.max_age ({_time(limit)}): its pages are closed."


def _time(seconds: float) -> str:
    for size, name in ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.3g} {name}"
    return f"{seconds:g} s"
