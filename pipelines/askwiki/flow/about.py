"""What the assistant says of itself: what it knows, how old that is, what one could ask; from the index alone."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from datetime import UTC, datetime

from askwiki.data import Answer, Chunk, Event, Identity, Question
from askwiki.flow.lookup import drain, look_up
from askwiki.flow.run import QuestionRun
from askwiki.stages.citations.links import escape
from askwiki.stages.sources import age_of

EXAMPLES = 3
MOST_SPACES = 8


def introduce(run: QuestionRun, identity: Identity) -> Generator[Event, None, Answer]:
    """The lines of the introduction. Spaces and examples are of pages that this person may read.

    Raises what the search raises.
    """
    runs = run.kit.reader.freshness()
    trace, _ = drain(look_up(run, Question(run.say("about_examples"), language=run.language), identity, None))
    seen = [candidate.chunk for candidate in trace.gated]
    told = [run.say("about_us")]
    if run.llm is None:
        told.append(run.say("about_quotes"))
    if runs:
        latest = max(each.started for each in runs)
        age = age_of(latest, run.kit.texts, run.language, datetime.now(UTC))
        told.append(run.say("about_size", pages=sum(each.pages for each in runs), age=age))
    if spaces := sorted({chunk.space for chunk in seen if chunk.space}):
        told.append(run.say("about_spaces", spaces=", ".join(map(escape, spaces[:MOST_SPACES]))))
    told.append(run.say("about_rights") if identity.known else identity.note or run.say("public_only"))
    text = " ".join(told)
    if examples := _examples(seen):
        text += f"\n\n{run.say('about_examples')}\n\n" + "\n".join(f"- {example}" for example in examples)
    yield run.token(text)
    return Answer(run.text)


def _examples(chunks: Sequence[Chunk]) -> list[str]:
    """What one could ask: «page: section», one a page."""
    found: dict[str, str] = {}
    for chunk in chunks:
        heading = next((heading for heading in reversed(chunk.headings) if heading != chunk.title), "")
        found.setdefault(chunk.page_id, escape(f"{chunk.title}: {heading}" if heading else chunk.title))
    return list(found.values())[:EXAMPLES]
