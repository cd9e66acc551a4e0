"""How old what the index knows of rights may be: a right taken in the wiki must not live on in a copy for ever.

Closed are all pages of a source whose rights were read too long ago, also those that everybody could read then:
they may have been restricted since.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from datetime import UTC, datetime

from askwiki.access.rights import rights_of
from askwiki.data import Identity, Rights
from askwiki.settings import AccessSettings
from askwiki.store.port import Freshness, Reader

AHEAD = 600.0  # seconds; a stamp further ahead was written by a wrong clock and says nothing


def current_rights(identity: Identity, reader: Reader, settings: AccessSettings) -> Rights:
    """What the person may read now, limited to the sources whose rights are young enough."""
    rights = rights_of(identity, reader.conjunctions(), settings)
    if not settings.max_age:
        return rights
    return dataclasses.replace(rights, sources=young_sources(reader.freshness(), settings.max_age, datetime.now(UTC)))


def young_sources(runs: Iterable[Freshness], max_age: float, now: datetime) -> frozenset[str] | None:
    """The sources to be read; None = every one, as long as no noted run is too old."""
    ages = {run.source: rights_age(run, now) for run in runs}
    young = frozenset(source for source, age in ages.items() if age <= max_age)
    return None if len(young) == len(ages) else young


def rights_age(run: Freshness, now: datetime) -> float:
    """Seconds since the run that last read the rights of all pages began; endless when that cannot be told."""
    try:
        read = datetime.fromisoformat(run.rights or run.reconciled or run.started)
        age = (now - (read if read.tzinfo else read.replace(tzinfo=UTC))).total_seconds()
    except ValueError:
        return float("inf")
    return age if age >= -AHEAD else float("inf")
