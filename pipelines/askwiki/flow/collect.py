"""From judged candidates to the passages of the prompt: as many as the model's context leaves room for."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from askwiki.data import Candidate, Question, Rights, Status
from askwiki.errors import ModelError, StoreError
from askwiki.flow.run import QuestionRun
from askwiki.language.wording import asks_for_all
from askwiki.llm.tokens import make_counter
from askwiki.settings import PassagesSettings
from askwiki.stages.answer import room_for_passages
from askwiki.stages.passages.assemble import Cut, make_passages


def collect(
    run: QuestionRun, question: Question, judged: Sequence[Candidate], rights: Rights
) -> Generator[Status, None, Cut]:
    """Passages of what was not judged irrelevant, as many as the prompt has room for."""
    yield run.status("passages", "collecting")
    kit, settings = run.kit, run.settings.passages
    kept = [candidate for candidate in judged if candidate.verdict != "no"]
    with run.stage("passages"):
        try:
            cut = kit.guard.call(
                "store",
                lambda: _fitting(run, question, kept, rights, settings),
                seconds=run.settings.search.timeout,
                cancel=run.cancel,
            )
        except (StoreError, ModelError):
            yield run.missing("passages", "siblings_down")
            cut = _fitting(run, question, kept, rights, replace(settings, siblings=False))
    shown = {chunk_id for passage in cut.passages for chunk_id in passage.chunk_ids}
    relevant = [candidate for candidate in kept if candidate.verdict == "yes" and candidate.chunk.id not in shown]
    run.left_out = min(cut.left_out, len(relevant))
    return cut


def _fitting(
    run: QuestionRun, question: Question, kept: Sequence[Candidate], rights: Rights, settings: PassagesSettings
) -> Cut:
    """As many passages as the model's context leaves room for beside everything else in the prompt."""
    llm, count, wide = run.settings.llm, make_counter(run.settings.llm), asks_for_all(question.text)

    def made(tokens: int | None) -> Cut:
        reader = run.kit.reader
        return make_passages(kept, rights, reader=reader, count=count, settings=settings, tokens=tokens, wide=wide)

    if run.llm is None:
        return made(None)
    context, answer = run.llm.context("answer"), llm.answer.max_tokens
    room = room_for_passages(question, kit=run.kit, count=count, context=context, answer=answer)
    cut = made(room)
    left = room_for_passages(question, cut.passages, kit=run.kit, count=count, context=context, answer=answer)
    return cut if left >= 0 else made(room + left)
