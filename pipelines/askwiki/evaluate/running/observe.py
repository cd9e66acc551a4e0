"""From what the flow did with one question to the outcome that is kept of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from askwiki.data import Answer, Candidate, Passage, Source, Trace
from askwiki.evaluate.matching import gold_of, is_of, normalise
from askwiki.evaluate.outcome import Hit, Link, Outcome
from askwiki.evaluate.questions import Gold, GoldQuestion
from askwiki.evaluate.running.quoted import quoted_of
from askwiki.evaluate.running.supported import supported_share
from askwiki.language.wording import language_of


def blank(question: GoldQuestion, run: str) -> Outcome:
    """The outcome before anything happened."""
    return Outcome(
        id=question.id,
        kind=question.kind,
        question=question.question,
        reference=question.answer,
        answerable=question.answerable,
        entries=len(question.gold),
        split=question.split,
        dialogue="\n".join(f"{turn.role}: {turn.content}" for turn in question.history),
        run=run,
    )


def searched(outcome: Outcome, trace: Trace, gold: Sequence[Gold]) -> Outcome:
    """With the stages of the search: what was found, and what the gates left of it."""
    stages = {"found": _hits(trace.found, gold), "gated": _hits(trace.gated, gold)}
    return replace(
        outcome,
        asked=trace.question.text,
        stages=stages,
        seconds=trace.timings,
        confidence=trace.confidence,
    )


def answered(outcome: Outcome, answer: Answer, question: GoldQuestion, least_share: float) -> Outcome:
    """With all stages and the answer; ``least_share`` as the flow's own check of sentences has it."""
    trace, gold = answer.trace, question.gold
    if trace is not None:
        outcome = searched(outcome, trace, gold)
    passages = trace.passages if trace else ()
    cited = _cited(passages, answer.sources)
    stages: dict[str, tuple[Hit, ...]] = {
        **outcome.stages,
        "judged": _hits(_relevant(trace), gold),
        "prompt": _passage_hits(passages, gold),
        "cited": _passage_hits(cited.values(), gold),
    }
    return replace(
        outcome,
        stages=stages,
        answer=answer.text,
        links=tuple(_link(source, cited.get(source.number), gold) for source in answer.sources),
        quoted=None if answer.refused else quoted_of(answer.text, gold),
        supported=None if answer.refused else supported_share(answer.text, list(cited.values()), least_share),
        language_kept=not answer.text or language_of(answer.text) == language_of(question.question),
        refused=answer.refused,
        degraded=answer.degraded,
        seconds=dict(answer.timings),
        tokens=dict(answer.tokens),
    )


def _cited(passages: Sequence[Passage], sources: Sequence[Source]) -> dict[int, Passage]:
    """The passages behind the sources, with the numbers that the text gives them."""
    behind = ((source.number, _behind(source, passages)) for source in sources)
    return {number: replace(passage, number=number) for number, passage in behind if passage}


def _behind(source: Source, passages: Sequence[Passage]) -> Passage | None:
    """The passage of the source's page that holds most of what the source shows: it is named after one part of it."""
    of_page = [passage for passage in passages if source.id == f"wiki-{source.number}-{passage.page_id}"]
    lines = [line for line in source.text.splitlines() if line.strip()]
    return max(of_page, key=lambda passage: sum(line in passage.text for line in lines), default=None)


def _relevant(trace: Trace | None) -> Iterable[Candidate]:
    """What the filter let through; all that the gates left where no filter ran."""
    if trace is None:
        return ()
    return [each for each in trace.judged if each.verdict != "no"] if trace.judged else trace.gated


def _hits(candidates: Iterable[Candidate], gold: Sequence[Gold]) -> tuple[Hit, ...]:
    return tuple(Hit(each.chunk.id, each.chunk.page_id, each.score, *gold_of(each.chunk, gold)) for each in candidates)


def _passage_hits(passages: Iterable[Passage], gold: Sequence[Gold]) -> tuple[Hit, ...]:
    return tuple(Hit(str(each.number), each.page_id, each.score, *gold_of(each, gold)) for each in passages)


def _link(source: Source, passage: Passage | None, gold: Sequence[Gold]) -> Link:
    if passage is None:
        return Link(source.title, source.url)
    snippets, pages = gold_of(passage, gold)
    return Link(source.title, source.url, bool(pages), bool(snippets) or _under_gold_heading(passage, gold))


def _under_gold_heading(passage: Passage, gold: Sequence[Gold]) -> bool:
    headings: Mapping[str, None] = dict.fromkeys(normalise(heading) for heading in passage.headings)
    places = (place for entry in gold for place in entry.places if is_of(passage, place))
    return any(normalise(place.heading) in headings for place in places if place.heading)
