"""An honest "no": one sentence on what is missing, the nearest pages, and whom to ask."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from askwiki.data import Answer, Candidate, Passage, Question, Refusal, Rights
from askwiki.flow.messages import Speech, harmless
from askwiki.flow.run import QuestionRun
from askwiki.language import en, ru
from askwiki.language.stems import telling_stems
from askwiki.stages.citations.links import escape, link
from askwiki.stages.evidence import polarity
from askwiki.stages.passages.assemble import make_passages
from askwiki.stages.sources import label_of, link_list

NEAR_PAGES = 3  # links that a refusal names
PHRASE_WORDS = 12  # of a gap that is named in one phrase; what is longer is a sentence of its own
# «В источниках нет цены» says what the sentence around it says already: «нет», then "the sources do not give".
_SAID_ALREADY = re.compile(rf"\A(?:{ru.NOT_THERE}|{en.NOT_THERE})[:\s]+", re.IGNORECASE)


def refuse(
    run: QuestionRun,
    question: Question,
    refused: Refusal,
    candidates: Sequence[Candidate],
    rights: Rights,
    lacking: str = "",
) -> Speech:
    """One sentence, then the nearest pages where there are any, named as not answering."""
    sentence = {"nothing_found": "refused_nothing", "outside": "refused_outside"}.get(refused, "refused_insufficient")
    text = _with_gap(run, lacking) if refused == "insufficient" and lacking else run.say(sentence)
    if refused == "insufficient":
        text += nearest(run, question, candidates, rights)
    yield run.token(text)
    return Answer(run.text, refused=refused)


def _with_gap(run: QuestionRun, lacking: str) -> str:
    """The gap as the model names it: a phrase goes into the sentence, a sentence stands behind it."""
    said = lacking.strip().rstrip(".")
    phrase = _SAID_ALREADY.sub("", said)
    is_phrase = phrase and len(phrase.split()) <= PHRASE_WORDS and not re.search(r"[.!?;:]\s", phrase)
    if is_phrase and not polarity.denies(phrase):
        return run.say("refused_lacking", lacking=harmless(run, (), phrase, begins=False).strip())
    return run.say("refused_told", lacking=harmless(run, (), said, begins=False).strip())


def nearest(run: QuestionRun, question: Question, candidates: Sequence[Candidate], rights: Rights) -> str:
    """The nearest pages as a list, named as not answering, and who answers for them; empty when there are none."""
    near = _near(run, candidates, rights)
    if not near:
        return ""
    links = link_list(near, texts=run.kit.texts, language=run.language, now=datetime.now(UTC))
    asked = _whom_to_ask(run, question, near)
    return f"\n\n**{run.say('near_title')}**\n\n{links}" + (f"\n\n{asked}" if asked else "")


def _near(run: QuestionRun, candidates: Sequence[Candidate], rights: Rights) -> Sequence[Passage]:
    settings = replace(run.settings.passages, siblings=False, count=NEAR_PAGES)
    pages: dict[str, Candidate] = {}
    for candidate in candidates:
        pages.setdefault(candidate.chunk.page_id, candidate)
    best = list(pages.values())[:NEAR_PAGES]
    return make_passages(best, rights, reader=run.kit.reader, count=len, settings=settings, tokens=10**9).passages


def _whom_to_ask(run: QuestionRun, question: Question, near: Sequence[Passage]) -> str:
    """The owner of a near page, else who wrote it last, or first; of a page on something else nobody is named."""
    words = set(telling_stems(question.text))
    for passage in near:
        if words.isdisjoint(telling_stems("\n".join((passage.title, *passage.headings)))):
            continue
        known_as = {"ask_owner": passage.owner, "ask_editor": passage.editor, "ask_author": passage.author}
        for name, person in known_as.items():
            if person:
                return run.say(name, person=escape(person), page=link(label_of(passage), passage.url))
    return ""
