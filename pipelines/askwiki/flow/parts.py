"""A question of several parts: what the first search did not bring of one of them is looked for once more."""

from __future__ import annotations

import logging
from collections.abc import Generator, Sequence
from dataclasses import replace

from askwiki.data import Candidate, Identity, Question, Status
from askwiki.errors import ModelError, StoreError
from askwiki.flow.lookup import drain
from askwiki.flow.retrieve import check_relevance, pass_gates, recheck, search_question
from askwiki.flow.run import QuestionRun

logger = logging.getLogger(__name__)

PART_CANDIDATES = 8  # best finds of a part's own search: where none of them is relevant yet, they are judged
LEAST_SECONDS = 2.0  # of the time for judging; with less the parts are not looked for


def look_for_parts(
    run: QuestionRun, question: Question, identity: Identity, judged: Sequence[Candidate]
) -> Generator[Status, None, list[Candidate]]:
    """``judged`` with what was found for the parts that it holds nothing relevant about; once for each part."""
    found = list(judged)
    if run.llm is None or not run.settings.relevance.enabled:
        return found
    for text in question.searches:
        if run.settings.relevance.total_timeout - run.timings.get("relevance", 0.0) < LEAST_SECONDS or run.refused:
            break
        part = replace(question, text=text, original=text, previous="", terms=(), searches=(), intent=None)
        try:
            best = drain(_best(run, part, identity))[:PART_CANDIDATES]
        except (StoreError, ModelError) as error:
            logger.warning("a part was not looked for: %s", error)
            yield run.missing("search", "part_down", part=text)
            continue
        verdicts = {each.chunk.id: each.verdict for each in found}
        new = [each for each in best if each.chunk.id not in verdicts]
        if not new or any(verdicts.get(each.chunk.id) == "yes" for each in best):
            continue
        yield run.status("search", "searching_more", part=text)
        found += yield from check_relevance(run, part, new)
    order = ("yes", "unanswered", None, "no")
    return sorted(found, key=lambda each: order.index(each.verdict))


def _best(run: QuestionRun, part: Question, identity: Identity) -> Generator[Status, None, list[Candidate]]:
    found, _ = yield from search_question(run, part, identity, None)
    return (yield from recheck(run, identity, (yield from pass_gates(run, part, found))))
