"""Questions about pages themselves: which there are on something, who wrote one and when; answered by code."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from askwiki.data import Answer, Candidate, Event, Passage, Question, Rights
from askwiki.flow.messages import sources_for
from askwiki.flow.run import QuestionRun
from askwiki.language.page_wishes import PageWish, subject_of
from askwiki.language.stems import telling_stems
from askwiki.language.wording import language_of
from askwiki.stages.citations.links import escape, link
from askwiki.stages.passages.assemble import make_passages
from askwiki.stages.passages.spans import text_of
from askwiki.stages.sources import age_of

MOST_PAGES = 15  # of a list
FOREIGN = 5  # pages in another language than the question's that are taken by their rank alone
ENOUGH = 0.6  # of the subject's words that a page holds


def tell_pages(
    run: QuestionRun, question: Question, wish: PageWish, candidates: Sequence[Candidate], rights: Rights
) -> Generator[Event, None, Answer | None]:
    """The answer to a wish about pages; None where no page found is on its subject: then it is asked like any other."""
    if wish.kind == "news":
        yield run.token(run.say("pages_news"))
        return Answer(run.text)
    if wish.kind == "facts":  # of pages, not of the files below them
        candidates = [each for each in candidates if each.chunk.content in ("page", "blogpost")]
    about = _about(subject_of(question.text), question.language, candidates)
    if not about:
        return None
    passages = _as_pages(run, about[: MOST_PAGES if wish.kind == "list" else 1], rights)
    if not passages:
        return None
    yield from sources_for(run, passages)
    if wish.kind == "list":
        lines = [_line(run, passage) for passage in passages]
        more = len(about) - len(lines)
        lines += [run.say("pages_more", count=more)] if more > 0 else []
        yield run.token(f"{run.say('pages_title')}\n\n" + "\n".join(lines))
    else:
        yield run.token(_facts(run, passages[0]))
    return Answer(run.text, sources=sources_for(run, passages))


def _about(subject: str, language: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best chunk of each page that a judge found relevant, or that holds the words of the subject, best first.

    A page whose name holds a word of the subject goes before one that only speaks of it. A page in another language
    has none of the words; of those the first few that the search found count.
    """
    words = set(telling_stems(subject))
    pages: dict[str, Candidate] = {}
    named: set[str] = set()
    for candidate in candidates:
        chunk = candidate.chunk
        name = set(telling_stems("\n".join((chunk.title, *chunk.headings))))
        held = words & (name | set(telling_stems("\n".join((*chunk.path, chunk.text)))))
        foreign = len(pages) < FOREIGN and language_of(text_of(chunk), language) != language
        holds = foreign or (bool(words) and len(held) >= ENOUGH * len(words))
        if candidate.verdict == "yes" or (holds and candidate.verdict != "no"):
            pages.setdefault(chunk.page_id, candidate)
            if words & name:
                named.add(chunk.page_id)
    return sorted(pages.values(), key=lambda each: each.chunk.page_id not in named)


def _as_pages(run: QuestionRun, candidates: Sequence[Candidate], rights: Rights) -> list[Passage]:
    """Numbered passages that stand for their whole page."""
    settings = replace(run.settings.passages, siblings=False, count=len(candidates))
    found = make_passages(
        candidates, rights, reader=run.kit.reader, count=len, settings=settings, tokens=10**9
    ).passages
    return [replace(passage, headings=(), url=passage.url.partition("#")[0]) for passage in found]


def _line(run: QuestionRun, passage: Passage) -> str:
    told = [escape(" / ".join(passage.path)), age_of(passage.updated, run.kit.texts, run.language, datetime.now(UTC))]
    told += [run.say(f"state_{passage.state}")] if passage.state else []
    return " · ".join((f"{passage.number}. {link(passage.title, passage.url)}", *filter(None, told)))


def _facts(run: QuestionRun, passage: Passage) -> str:
    """Who and when, as far as the source says it; what it does not say is said to be unknown."""
    people = {"owner": passage.owner, "author": passage.author, "editor": passage.editor}
    told = [run.say(f"page_{role}", person=escape(person)) for role, person in people.items() if person]
    told = told or [run.say("page_people_unknown")]
    age = age_of(passage.updated, run.kit.texts, run.language, datetime.now(UTC))
    told.append(run.say("page_date", date=passage.updated[:10], age=age) if age else run.say("page_date_unknown"))
    told += [run.say(f"state_{passage.state}").capitalize() + "."] if passage.state else []
    return f"{link(passage.title, passage.url)} [{passage.number}]\n\n" + "\n".join(f"- {line}" for line in told)
