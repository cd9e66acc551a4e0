"""Which gold pages the run cannot find at all: not in the index, or not for this person's eyes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from askwiki.access.rights import rights_of
from askwiki.data import PUBLIC, Identity, Rights
from askwiki.evaluate.outcome import Outcome
from askwiki.evaluate.questions import GoldQuestion
from askwiki.evaluate.split import pages_of
from askwiki.kit import Kit


@dataclass(frozen=True, slots=True)
class Unseen:
    """Gold pages by name: hidden from the person who asks, and missing from the index."""

    hidden: tuple[str, ...]
    missing: tuple[str, ...]


def unseen(questions: Sequence[GoldQuestion], outcomes: Sequence[Outcome], *, kit: Kit, identity: Identity) -> Unseen:
    """Pages named by a path of titles count as seen when a search found them, else as missing."""
    conjunctions = kit.reader.conjunctions()
    rights = rights_of(identity, conjunctions, kit.settings.access)
    everything = Rights(frozenset((*conjunctions, PUBLIC)))
    found = _found(questions, outcomes)
    named = dict.fromkeys(page for question in questions for page in pages_of(question) if page not in found)
    read = kit.reader.chunks_of(named, rights) if named else {}
    unread = [page for page in named if not read[page]]
    stored = kit.reader.chunks_of(unread, everything) if unread else {}
    hidden = tuple(page for page in unread if stored[page])
    return Unseen(hidden, tuple(page for page in unread if not stored[page]))


def _found(questions: Sequence[GoldQuestion], outcomes: Sequence[Outcome]) -> set[str]:
    """Pages of single-place gold entries that some search found."""
    by_id = {each.id: each for each in outcomes}
    seen: set[str] = set()
    for question in questions:
        entries = {entry for hit in by_id[question.id].ranking for entry in hit.pages}
        for entry in entries:
            if len(question.gold[entry].places) == 1:
                seen.add(question.gold[entry].places[0].page)
    return seen
