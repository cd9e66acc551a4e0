"""The second half of the flow: what the chat is told, streamed by a model, quoted, or refused."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import lru_cache, partial

from askwiki.data import Answer, Candidate, Event, Passage, Question, Refusal, Rights, Source, Turn
from askwiki.errors import ContextOverflow, ModelError
from askwiki.flow_run import Run
from askwiki.llm import Llm, Message
from askwiki.stages.answer import Written, answer_messages, dialogue_messages, write
from askwiki.stages.budget import halve
from askwiki.stages.dialogue import source_list as source_list_of
from askwiki.stages.extract import as_markdown, extract
from askwiki.stages.gate import SentenceGate
from askwiki.stages.links import link, wiki_hosts
from askwiki.stages.passages import OLDER, make_passages, note_of, renumbered
from askwiki.stages.search import search_terms
from askwiki.stages.smalltalk import kind_of_talk
from askwiki.stages.sources import cited_sources, label_of, link_list, source_list, source_of
from askwiki.stages.support import known
from askwiki.tokens import make_counter

logger = logging.getLogger(__name__)

NEAR_PAGES = 3  # links that a refusal names
Speech = Generator[Event, None, Answer]


def talk(run: Run, question: Question) -> Speech:
    """A friendly line, no search."""
    kind = kind_of_talk(question.original)
    refused: Refusal = "empty" if kind == "refused_empty" else "smalltalk"
    yield run.token(run.say(kind))
    return Answer(run.text, refused=refused)


def rework(run: Run, question: Question, turns: Sequence[Turn]) -> Speech:
    """What was said, put another way: from the dialogue alone. The links of the answer stay with it."""
    if run.kit.llm is None:
        yield run.token(run.say("no_dialogue"))
        return Answer(run.text)
    yield run.status("answer", "writing")
    gate = _gate(run, ())
    result = Written()
    try:
        with run.stage("answer"):
            messages = dialogue_messages(question, kit=run.kit)
            yield from _stream(run, run.kit.llm, messages, gate, result)
        last = next((turn.content for turn in reversed(turns) if turn.role == "assistant"), "")
        if links := source_list_of(last).strip():
            yield run.token(f"\n\n{links}")
    except ModelError as error:
        logger.warning("the dialogue could not be reworked: %s", error)
        yield run.missing("answer", "llm_down_dialogue")
        yield run.token(run.say("llm_down_dialogue"))
    return Answer(run.text)


def refuse(run: Run, refused: Refusal, candidates: Sequence[Candidate], rights: Rights, lacking: str = "") -> Speech:
    """An honest "no", with the nearest pages where there are any, named as not answering."""
    sentence = {"nothing_found": "refused_nothing", "outside": "refused_outside"}.get(refused, "refused_insufficient")
    text = run.say(sentence)
    if lacking:
        text += f" {run.say('refused_lacking', lacking=_harmless(run, (), lacking))}"
    near = _near(run, candidates, rights) if refused == "insufficient" else ()
    if near:
        links = link_list(near, texts=run.kit.texts, language=run.language, now=datetime.now(UTC))
        text += f"\n\n**{run.say('near_title')}**\n\n{links}"
    yield run.token(text)
    return Answer(run.text, refused=refused)


def _near(run: Run, candidates: Sequence[Candidate], rights: Rights) -> Sequence[Passage]:
    settings = replace(run.settings.passages, siblings=False, count=NEAR_PAGES)
    pages: dict[str, Candidate] = {}
    for candidate in candidates:
        pages.setdefault(candidate.chunk.page_id, candidate)
    best = list(pages.values())[:NEAR_PAGES]
    return make_passages(best, rights, reader=run.kit.reader, count=len, settings=settings, tokens=10**9).passages


def quote(run: Run, question: Question, passages: Sequence[Passage], candidates: Sequence[Candidate]) -> Speech:
    """The answer without a model: the nearest sentences of the best passages, with caution where it is due."""
    with run.stage("answer"):
        terms = search_terms(question, run.kit.glossary, run.kit.everyday)
        settings = run.settings.answer
        clean = partial(_harmless, run, passages)
        quoted = extract(passages, candidates, question.text, terms, settings, clean)
    passages = renumbered(passages, [passage for passage, _ in quoted])
    shown = passages[: len(quoted)]
    yield from _sources(run, shown)
    quotations = as_markdown([(passage, text) for passage, (_, text) in zip(shown, quoted, strict=True)])
    opening = f"{run.say('extract_weak' if run.weak else 'extract_title')}\n\n{quotations}"
    yield run.token(f"\n\n{opening}" if run.text else opening)
    return (yield from _finish(run, passages, {passage.number for passage in shown}))


def _sources(run: Run, passages: Sequence[Passage]) -> tuple[Source, ...]:
    """Passages as the chat shows them beside the answer: it renders their text, so that must be harmless too."""
    sources = map(source_of, passages)
    return tuple(replace(source, text=_harmless(run, passages, source.text)) for source in sources)


def _harmless(run: Run, passages: Sequence[Passage], text: str) -> str:
    """Wiki text as it may be shown: no foreign addresses, no HTML, no numbers that look like our marks."""
    return _shown_as(text, wiki_hosts(passages, run.settings.wiki.url), run.say("diagram_broken"))


@lru_cache(maxsize=256)  # a cited passage is shown twice: beside the answer's first word and as its source
def _shown_as(text: str, hosts: frozenset[str], broken_diagram: str) -> str:
    gate = SentenceGate({}, hosts=hosts, least_share=0.0, broken_diagram=broken_diagram)
    return gate.feed(text) + gate.finish()


def write_answer(
    run: Run, question: Question, passages: Sequence[Passage], candidates: Sequence[Candidate], rights: Rights
) -> Speech:
    """The model's answer, streamed and checked; without the model the best passages are quoted."""
    llm = run.kit.llm
    if llm is None:
        return (yield from quote(run, question, passages, candidates))
    yield run.status("answer", "writing")
    gate, result = _gate(run, passages), Written()
    try:
        with run.stage("answer"):
            yield from _with_retry(run, llm, question, passages, gate, result)
    except ModelError as error:
        logger.warning("no answer of the model: %s", error)
        yield run.missing("answer", "llm_down")
        return (yield from quote(run, question, passages, candidates))
    if result.refused:
        return (yield from refuse(run, "insufficient", candidates, rights, result.lacking))
    if result.broken:
        logger.warning("the answer broke off: %s", result.broken)
        yield run.missing("answer", "answer_broken")
        yield run.token(f"\n\n*{run.say('answer_broken')}*")
    elif result.reply is not None and result.reply.cut:
        yield run.token(f"\n\n*{run.say('answer_cut')}*")
    return (yield from _finish(run, passages, gate.cited))


def _with_retry(
    run: Run, llm: Llm, question: Question, passages: Sequence[Passage], gate: SentenceGate, result: Written
) -> Generator[Event, None, None]:
    """The stream; a prompt that the model finds too long is tried once more with half of the text."""
    messages = answer_messages(question, passages, kit=run.kit, today=date.today())
    try:
        yield from _stream(run, llm, messages, gate, result, passages)
    except ContextOverflow:
        yield run.missing("answer", "shortening")
        fewer = halve(passages, make_counter(run.settings.llm))
        messages = answer_messages(replace(question, history=()), fewer, kit=run.kit, today=date.today())
        yield from _stream(run, llm, messages, gate, result, passages)


def _stream(
    run: Run,
    llm: Llm,
    messages: Sequence[Message],
    gate: SentenceGate,
    result: Written,
    passages: Sequence[Passage] = (),
) -> Generator[Event, None, None]:
    """Tokens; a source goes out just before the first sentence that cites it or a later one.

    So the chat counts few that were not cited, a refusal shows none, and the numbers stay in order.
    """
    sources, sent = _sources(run, passages), 0
    for text in write(llm, messages, gate, result, run.cancel):
        needed = max(gate.cited, default=0)
        yield from (source for source in sources if sent < source.number <= needed)
        sent = max(sent, needed)
        yield run.token(text)
    if result.reply is not None:
        run.tokens["prompt"] = run.tokens.get("prompt", 0) + result.reply.prompt_tokens
        run.tokens["completion"] = run.tokens.get("completion", 0) + result.reply.completion_tokens


def _finish(run: Run, passages: Sequence[Passage], cited: set[int]) -> Speech:
    """What code adds after the text: a word on earlier editions, the list of links."""
    listed = cited_sources(passages, cited, list_all=run.settings.sources.list_all)
    if not cited:
        yield from _sources(run, listed)
    for note in _notes(run, passages, {passage.number for passage in listed}):
        yield run.token(f"\n\n{note}")
    title = run.say("sources_title" if cited else "sources_given")
    text = source_list(listed, title=title, texts=run.kit.texts, language=run.language, now=datetime.now(UTC))
    if text:
        yield run.token(text)
    return Answer(run.text, sources=_sources(run, listed))


def _notes(run: Run, passages: Sequence[Passage], listed: set[int]) -> Iterator[str]:
    """A sentence for each pair of editions or of pages that differ, where one of both is a source of this answer."""
    numbers = {passage.number: passage for passage in passages}
    for passage in passages:
        kind, number = note_of(passage)
        if number in numbers and listed & {passage.number, number}:
            name = "edition" if kind == OLDER else "differing"
            yield run.say(name, older=_named(passage), newer=_named(numbers[number]))


def _named(passage: Passage) -> str:
    return link(label_of(passage), passage.url)


def _gate(run: Run, passages: Sequence[Passage]) -> SentenceGate:
    return SentenceGate(
        {passage.number: known(passage) for passage in passages},
        hosts=wiki_hosts(passages, run.settings.wiki.url),
        least_share=run.settings.sources.support,
        broken_diagram=run.say("diagram_broken"),
    )
