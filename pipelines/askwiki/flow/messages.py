"""What code itself tells the chat: friendly lines, quotations, the list of links under an answer."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache, partial

from askwiki.data import Answer, Candidate, Event, Passage, Question, Refusal, Source
from askwiki.flow.meaning import similar_to
from askwiki.flow.run import QuestionRun
from askwiki.stages.asked import not_told
from askwiki.stages.citations.checked_stream import SentenceGate
from askwiki.stages.citations.links import escape, goal, link, named_hosts, wiki_hosts
from askwiki.stages.extractive.counts import counted_in
from askwiki.stages.extractive.quotations import as_markdown, extract
from askwiki.stages.passages.assemble import renumbered
from askwiki.stages.passages.versions import OLD
from askwiki.stages.question_vector import own_words
from askwiki.stages.refusal import unheard
from askwiki.stages.search import search_terms
from askwiki.stages.smalltalk import kind_of_talk
from askwiki.stages.sources import label_of, source_list, source_of

Speech = Generator[Event, None, Answer]


def talk(run: QuestionRun, question: Question) -> Speech:
    """A friendly line, no search."""
    kind = kind_of_talk(question.original)
    refused: Refusal = "empty" if kind == "refused_empty" else "smalltalk"
    yield run.token(run.say(kind))
    return Answer(run.text, refused=refused)


def repeat_sources(run: QuestionRun, listed: str) -> Speech:
    """The links of the last answer once more, for who wants them or doubts; ``listed`` as that answer had them."""
    yield run.token(f"{run.say('check_sources')}\n\n{listed.strip()}" if listed else run.say("no_sources"))
    return Answer(run.text)


def not_shown(candidates: Sequence[Candidate], shown: str) -> tuple[Candidate, ...]:
    """Those whose place the list of the last answer does not name: what was found and not told yet."""
    return tuple(each for each in candidates if goal(each.chunk.url) not in shown)


def not_continued(run: QuestionRun, name: str = "no_continue") -> Speech:
    """The chat wants an answer to go on, and it does not: excerpts would be no continuation."""
    yield run.token(run.say(name))
    return Answer(run.text)


def quote(run: QuestionRun, question: Question, passages: Sequence[Passage], candidates: Sequence[Candidate]) -> Speech:
    """The answer without a model: the nearest sentences of the best passages, with caution where it is due."""
    with run.stage("answer"):
        terms = search_terms(question, run.kit.glossary, run.kit.synonyms)
        settings = run.settings.answer
        clean = partial(harmless, run, passages)
        count, similar = counted_in(run.kit.texts, run.language), similar_to(run, question)
        own = own_words(question)  # of a follow-up they tell more than the question before it
        asked, terms = (own, (*terms, question.previous)) if own else (question.text, terms)
        quoted = extract(passages, candidates, asked, terms, settings, count, clean, similar)
    passages = renumbered(passages, [replace(passage, cited_for=text) for passage, text in quoted])
    shown = passages[: len(quoted)]
    yield from sources_for(run, shown)
    quotations = as_markdown([(passage, text) for passage, (_, text) in zip(shown, quoted, strict=True)])
    told = [f"{label_of(passage)}\n{text}" for passage, text in quoted]
    opening = f"{_opening(run, question, candidates, told)}\n\n{quotations}"
    yield run.token(f"\n\n{opening}" if run.text else opening)
    return (yield from finish(run, passages, len(shown)))


def _opening(run: QuestionRun, question: Question, candidates: Sequence[Candidate], told: Sequence[str]) -> str:
    """What the quotations are worth, as far as code can tell."""
    kit = run.kit
    names = unheard(question.text, candidates)
    if strange := [name for name in names if not search_terms(Question(name), kit.glossary, kit.synonyms)]:
        return run.say("extract_unheard", names=", ".join(f"«{escape(name)}»" for name in strange))
    kind, side = not_told(own_words(question) or question.text, told)
    if kind:
        lacking = run.say(f"lacking_{kind}", **({"side": escape(side)} if side else {}))
        return run.say("extract_lacking", lacking=lacking)
    return run.say("extract_weak" if run.weak else "extract_title")


def sources_for(run: QuestionRun, passages: Sequence[Passage]) -> tuple[Source, ...]:
    """Passages as the chat shows them beside the answer: it renders their text, so that must be harmless too."""
    sources = map(source_of, passages)
    return tuple(replace(source, text=harmless(run, passages, source.text)) for source in sources)


def harmless(run: QuestionRun, passages: Sequence[Passage], text: str, *, begins: bool = True) -> str:
    """Wiki text as it may be shown: no foreign addresses, no HTML, no numbers that look like our marks."""
    hosts = wiki_hosts(passages, run.settings.wiki.url) | named_hosts(run.settings.sources.hosts)
    return _shown_as(text, hosts, run.say("diagram_broken"), begins)


@lru_cache(maxsize=256)  # a cited passage is shown twice: beside the answer's first word and as its source
def _shown_as(text: str, hosts: frozenset[str], broken_diagram: str, begins: bool) -> str:
    gate = SentenceGate({}, hosts=hosts, least_share=0.0, broken_diagram=broken_diagram, begins=begins)
    return gate.feed(text) + gate.finish()


def finish(run: QuestionRun, passages: Sequence[Passage], cited: int) -> Speech:
    """What code adds after the text: a word on earlier editions, the list of links.

    The first ``cited`` passages were cited; where none was, all that were given are listed, if the settings want it.
    """
    listed = passages[:cited] if cited or not run.settings.sources.list_all else passages
    if not cited:
        yield from sources_for(run, listed)
    for passage in listed:  # under the same id, so that the chat's window shows all that is cited of it
        yield from sources_for(run, [replace(each, number=passage.number) for each in passage.also])
    for note in _notes(run, passages, {passage.number for passage in listed}):
        yield run.token(f"\n\n{note}")
    title = run.say("sources_title" if cited else "sources_given")
    text = source_list(listed, title=title, texts=run.kit.texts, language=run.language, now=datetime.now(UTC))
    if text:
        yield run.token(text)
    return Answer(run.text, sources=sources_for(run, listed))


def _notes(run: QuestionRun, passages: Sequence[Passage], listed: set[int]) -> Iterator[str]:
    """A sentence for each pair of editions or of pages that differ, where one of both is a source of this answer."""
    numbers = {passage.number: passage for passage in passages}
    superseded = {passage.number for passage in passages if passage.note and passage.note.kind == "older"}
    for passage in passages:
        if passage.state in OLD and passage.number in listed - superseded:
            yield run.say("old_page", page=_named(passage))
        note = passage.note
        if note and note.number in numbers and listed & {passage.number, note.number}:
            name = "edition" if note.kind == "older" else "differing"
            yield run.say(name, older=_named(passage), newer=_named(numbers[note.number]))


def _named(passage: Passage) -> str:
    return link(label_of(passage), passage.url)
