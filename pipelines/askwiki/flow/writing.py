"""What a model writes: streamed, checked sentence by sentence, and ended with a word on what went wrong."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from datetime import date

from askwiki.data import Answer, Candidate, Event, Passage, Question, Rights, Turn
from askwiki.errors import Cancelled, ContextOverflow, ModelError, NoWords
from askwiki.flow.messages import Speech, finish, not_continued, quote, sources_for
from askwiki.flow.refusing import nearest, refuse
from askwiki.flow.run import QuestionRun
from askwiki.language.wording import asks_for_all
from askwiki.llm.port import Llm, Message
from askwiki.llm.tokens import make_counter
from askwiki.stages.answer import (
    HISTORY_CHARACTERS,
    NO_ANSWER,
    Written,
    answer_messages,
    dialogue_messages,
    says_no,
    write,
)
from askwiki.stages.citations.checked_stream import SentenceGate
from askwiki.stages.citations.cited import as_cited_for, with_places
from askwiki.stages.citations.links import named_hosts, page_addresses, wiki_hosts
from askwiki.stages.citations.support import excused, known
from askwiki.stages.dialogue import UNSUPPORTED
from askwiki.stages.dialogue import source_list as source_list_of
from askwiki.stages.passages.assemble import renumbered
from askwiki.stages.passages.budget import halve
from askwiki.stages.refusal import kind_of_refusal
from askwiki.stages.sources import label_of

logger = logging.getLogger(__name__)

# Why a model that did answer said nothing -> the sentence of the chat.
NO_WORDS = {"thought": "llm_thought", "withheld": "llm_withheld", "nothing": "llm_silent"}
REWORKED_CHARACTERS = 3 * HISTORY_CHARACTERS  # of the dialogue, where it is all that the model reads


def rework(run: QuestionRun, question: Question, turns: Sequence[Turn]) -> Speech:
    """What was said, put another way: from the dialogue alone. The links of the answer stay with it."""
    llm = run.llm
    if llm is None:
        if run.refused:
            yield run.missing("answer", "llm_down_dialogue")
        yield run.token(run.say("llm_down_dialogue" if run.refused else "no_dialogue"))
        return Answer(run.text)
    yield run.status("answer", "writing")
    result = Written()
    try:
        with run.stage("answer"):
            yield from _reworked(run, llm, question, result)
    except Cancelled:
        if not run.stopped() or not run.text.strip():
            raise
        result.broken = "the server ends"
    except ModelError as error:
        logger.warning("the dialogue could not be reworked: %s", error)
        name = "dialogue_failed" if isinstance(error, NoWords) else "llm_down_dialogue"
        yield run.missing("answer", name)
        yield run.token(run.say(name))
        return Answer(run.text)
    if not run.text.strip():
        yield run.token(run.say("dialogue_failed"))
        return Answer(run.text)
    yield from _ended(run, result)
    last = next((turn.content for turn in reversed(turns) if turn.role == "assistant"), "")
    if links := source_list_of(last).strip():
        yield run.token(f"\n\n{links}")
    return Answer(run.text)


def _reworked(run: QuestionRun, llm: Llm, question: Question, result: Written) -> Generator[Event, None, None]:
    """The stream; a dialogue that the model finds too long is tried once more with half of it."""
    try:
        messages = dialogue_messages(question, REWORKED_CHARACTERS, kit=run.kit)
        yield from _stream(run, llm, messages, _gate(run, ()), result)
    except ContextOverflow:
        yield run.missing("answer", "shortening_dialogue")
        read = sum(len(turn.content) for turn in question.history)
        messages = dialogue_messages(question, min(read, REWORKED_CHARACTERS) // 2, kit=run.kit)
        yield from _stream(run, llm, messages, _gate(run, ()), result)


def write_answer(
    run: QuestionRun, question: Question, passages: Sequence[Passage], candidates: Sequence[Candidate], rights: Rights
) -> Speech:
    """The model's answer, streamed and checked; without the model the best passages are quoted."""
    llm = run.llm
    if llm is None:
        if run.refused:
            yield run.missing("answer", "llm_down")
        return (yield from quote(run, question, passages, candidates))
    yield run.status("answer", "writing")
    gate, result = _gate(run, passages, question), Written()
    try:
        with run.stage("answer"):
            yield from _with_retry(run, llm, question, passages, gate, result)
    except Cancelled:
        if not run.stopped() or not run.text.strip():
            raise
        result.broken = "the server ends"
    except ModelError as error:
        logger.warning("no answer of the model: %s", error)
        if question.begun:
            yield run.missing("answer", "no_continue")
            return (yield from not_continued(run))
        yield run.missing("answer", NO_WORDS[error.why] if isinstance(error, NoWords) else "llm_down")
        return (yield from quote(run, question, passages, candidates))
    if question.begun and (result.refused or not run.text.strip()):
        return (yield from not_continued(run, "nothing_more"))
    if result.refused:
        return (
            yield from refuse(run, question, kind_of_refusal(question, candidates), candidates, rights, result.lacking)
        )
    if not run.text.strip():
        yield run.missing("answer", "llm_down")
        return (yield from quote(run, question, passages, candidates))
    yield from _ended(run, result)
    if gate.flagged:
        yield run.token(f"\n\n*{run.say('unsupported', mark=UNSUPPORTED)}*")
    if says_no(result, set(gate.numbers) - set(gate.listed)):
        yield run.token(nearest(run, question, candidates, rights))
        return Answer(run.text, refused="insufficient")
    shown = _as_cited(gate, passages)
    yield from _on_lists(run, question, shown[: len(gate.numbers)])
    return (yield from finish(run, shown, len(gate.numbers)))


def _on_lists(run: QuestionRun, question: Question, cited: Sequence[Passage]) -> Iterator[Event]:
    """Of a list that was asked for: that there may be more, where something was cut."""
    if not asks_for_all(question.text):
        return
    if run.left_out:
        yield run.token(f"\n\n*{run.say('list_may_be_longer', count=run.left_out)}*")
    elif any(passage.shortened for passage in cited):
        yield run.token(f"\n\n*{run.say('list_in_part')}*")


def _with_retry(
    run: QuestionRun, llm: Llm, question: Question, passages: Sequence[Passage], gate: SentenceGate, result: Written
) -> Generator[Event, None, None]:
    """The stream; a prompt that the model finds too long is tried once more with half of the text."""
    messages = answer_messages(question, passages, kit=run.kit, today=date.today(), left_out=run.left_out)
    try:
        yield from _stream(run, llm, messages, gate, result, passages)
    except ContextOverflow:
        yield run.missing("answer", "shortening")
        fewer = halve(passages, make_counter(run.settings.llm))
        run.left_out += len(passages) - len(fewer)
        messages = answer_messages(
            replace(question, history=()), fewer, kit=run.kit, today=date.today(), left_out=run.left_out
        )
        yield from _stream(run, llm, messages, gate, result, passages)


def _ended(run: QuestionRun, result: Written) -> Iterator[Event]:
    """A word on an answer that has no end."""
    if result.broken:
        logger.warning("the answer broke off: %s", result.broken)
        name = "answer_stopped" if run.stopped() else "answer_broken"
        yield run.missing("answer", name)
        yield run.token(f"\n\n*{run.say(name)}*")
    elif result.reply is not None and result.reply.cut:
        yield run.token(f"\n\n*{run.say('answer_cut')}*")
    elif result.reply is not None and result.reply.withheld:
        yield run.missing("answer", "answer_withheld")
        yield run.token(f"\n\n*{run.say('answer_withheld')}*")


def _stream(
    run: QuestionRun,
    llm: Llm,
    messages: Sequence[Message],
    gate: SentenceGate,
    result: Written,
    passages: Sequence[Passage] = (),
) -> Generator[Event, None, None]:
    """Tokens; a source goes out just before the first sentence that cites it, so the chat shows what the list says."""
    sent = 0
    for text in write(llm, messages, gate, result, run.cancel):
        if len(gate.numbers) > sent:
            yield from sources_for(run, _as_cited(gate, passages)[sent : len(gate.numbers)])
            sent = len(gate.numbers)
        yield run.token(text)
    yield from sources_for(run, _as_cited(gate, passages)[sent : len(gate.numbers)])
    if result.reply is not None:
        run.tokens["prompt"] = run.tokens.get("prompt", 0) + result.reply.prompt_tokens
        run.tokens["completion"] = run.tokens.get("completion", 0) + result.reply.completion_tokens


def _as_cited(gate: SentenceGate, passages: Sequence[Passage]) -> Sequence[Passage]:
    """The passages with the numbers of the text: the cited ones first, in the order in which it cites them."""
    plain = {passage.number: passage for passage in passages}
    known_as = dict(plain)
    for number, sentence in gate.cited_for.items():
        again = [as_cited_for(plain[one], further) for one, further in gate.cited_again.get(number, ())]
        known_as[number] = with_places(as_cited_for(plain[number], sentence), again)
    return renumbered(list(known_as.values()), [known_as[number] for number in gate.numbers])


def _same_places(passages: Sequence[Passage]) -> dict[int, int]:
    """Passage -> the first one of the same label and address: their lines of the list would be the same."""
    first: dict[tuple[str, str], int] = {}
    return {passage.number: first.setdefault((label_of(passage), passage.url), passage.number) for passage in passages}


def _gate(run: QuestionRun, passages: Sequence[Passage], question: Question | None = None) -> SentenceGate:
    own = (question.text, question.original, str(date.today().year)) if question else ()
    return SentenceGate(
        {passage.number: known(passage) for passage in passages},
        hosts=_may_lead_to(run, passages),
        least_share=run.settings.sources.support,
        broken_diagram=run.say("diagram_broken"),
        excused=excused(*own, NO_ANSWER),
        unsupported=UNSUPPORTED if run.settings.sources.mark_unsupported else "",
        same=_same_places(passages),
    )


def _may_lead_to(run: QuestionRun, passages: Sequence[Passage]) -> frozenset[str]:
    """Hosts, and single addresses that stand in the passages, to which a link of the model may lead.

    Quotations and windows show what pages hold, hostile ones too: there only hosts are open.
    """
    settings = run.settings.sources
    own = wiki_hosts(passages, run.settings.wiki.url) | named_hosts(settings.hosts)
    return own | page_addresses(passages) if settings.page_addresses else own
