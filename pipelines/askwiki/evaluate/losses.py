"""Where the gold text of a question was lost: at a stage of the flow, or before it, on a page nobody finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from askwiki.access.rights import rights_of
from askwiki.data import PUBLIC, Identity, Rights
from askwiki.evaluate.outcome import STAGES, Outcome
from askwiki.evaluate.questions import GoldQuestion
from askwiki.evaluate.split import pages_of
from askwiki.kit import Kit

PLACES = (*STAGES[:-1], "answer")  # the stages before the answer, then the answer itself


def entries_at(outcome: Outcome, stage: str) -> frozenset[int]:
    """Gold entries whose text some chunk or passage of this stage holds."""
    return frozenset(entry for hit in outcome.stages.get(stage, ()) for entry in hit.snippets)


def recall_by_stage(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """Mean share of a question's gold entries that is still there after each stage that ran."""
    asked = [each for each in outcomes if each.entries and not each.fault]
    ran = [stage for stage in STAGES if any(stage in each.stages for each in asked)]
    return {stage: fmean(len(entries_at(each, stage)) / each.entries for each in asked) for stage in ran}


def failed(outcome: Outcome) -> bool:
    """Graded 0; without a grade: refused or asked without all it needed, though the wiki has the answer."""
    if outcome.grade is not None or not outcome.answerable:
        return outcome.grade == 0
    return bool(outcome.refused) or len(entries_at(outcome, "prompt")) < outcome.entries


def lost_at(outcome: Outcome) -> str:
    """The first stage that let a gold entry go; ``answer`` when the model had all it needed."""
    for stage in STAGES[:-1]:
        if stage in outcome.stages and len(entries_at(outcome, stage)) < outcome.entries:
            return stage
    return "answer"


def lost_questions(outcomes: Sequence[Outcome]) -> dict[str, list[str]]:
    """Ids of the failed questions by the place where they were lost; what never ran is lost nowhere."""
    lost: dict[str, list[str]] = {place: [] for place in PLACES}
    for outcome in outcomes:
        if failed(outcome) and not outcome.fault:
            lost[lost_at(outcome)].append(outcome.id)
    return lost


@dataclass(frozen=True, slots=True)
class Unseen:
    """Gold pages by name that no search can find: hidden from the person who asks, and missing from the index."""

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
