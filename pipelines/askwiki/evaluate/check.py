"""What is wrong with a file of questions: one sentence a fault."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from askwiki.data import Page
from askwiki.evaluate.matching import normalise, same_page
from askwiki.evaluate.questions import GoldPlace, GoldQuestion

SHOWN = 60  # letters of a snippet in a sentence


@dataclass(frozen=True, slots=True)
class PageText:
    """What the check keeps of a page: its names and its text as snippets are compared with it."""

    id: str
    title: str
    path: tuple[str, ...]
    text: str


def faults_of(questions: Sequence[GoldQuestion], pages: Iterable[Page] | None = None) -> list[str]:
    """All faults of what the lines say; with ``pages`` also pages and snippets that do not exist."""
    faults = [*_repeated(questions), *_mixed_splits(questions)]
    for question in questions:
        faults += [f"{_name(question)}: {fault}." for fault in _alone(question)]
    if pages is not None:
        kept = _keep(questions, pages)
        for question in questions:
            faults += [f"{_name(question)}: {fault}." for fault in _in_wiki(question, kept)]
    return faults


def _alone(question: GoldQuestion) -> Iterator[str]:
    if question.answerable and not question.gold:
        yield "it is answerable but names no gold page"
    if not question.answerable and question.gold:
        yield "it is unanswerable but names gold pages"
    if question.answerable and not question.answer.strip():
        yield "it is answerable but has no reference answer"
    if question.kind == "unanswerable" and question.answerable:
        yield "its kind is unanswerable but answerable is true"
    if question.kind == "followup" and not question.history:
        yield "its kind is followup but it has no history"
    if question.history and question.history[-1].role == "user":
        yield "its history ends with a user's turn; the question itself must not be part of it"
    seen: set[tuple[str, str]] = set()
    for place in _places(question):
        key = (place.page, normalise(place.snippet))
        if not key[1]:
            yield f"a snippet of {place.page} holds nothing but marks and white space"
        elif key in seen:
            yield f"the snippet «{_short(place)}» of {place.page} is listed twice"
        seen.add(key)


def _repeated(questions: Sequence[GoldQuestion]) -> Iterator[str]:
    ids: dict[str, GoldQuestion] = {}
    asked: dict[tuple[str, ...], GoldQuestion] = {}
    for question in questions:
        if (first := ids.setdefault(question.id, question)) is not question:
            yield f"Line {question.line}: the id {question.id} is already that of line {first.line}."
        words = tuple(" ".join(turn.content.casefold().split()).rstrip("?!. ") for turn in question.turns)
        if (first := asked.setdefault(words, question)) is not question:
            yield f"{_name(question)}: it asks the same as {first.id} in line {first.line}."


def _mixed_splits(questions: Sequence[GoldQuestion]) -> Iterator[str]:
    """A page whose questions stand on both sides lets tuning see the hold-out. (Not so alternatives.)"""
    sides: dict[str, dict[str, str]] = defaultdict(dict)
    for question in questions:
        for page in {entry.places[0].page for entry in question.gold} if question.split else ():
            sides[page].setdefault(question.split, question.id)
    for page, split in sides.items():
        if len(split) > 1:
            yield f"{page} is asked for by {split['tuning']} (tuning) and by {split['holdout']} (holdout)."


def _in_wiki(question: GoldQuestion, pages: Sequence[PageText]) -> Iterator[str]:
    for place in _places(question):
        of = [page for page in pages if _is(place, page.id, page.title, page.path)]
        if not of:
            yield f"there is no page {place.page}"
        elif (snippet := normalise(place.snippet)) and not any(snippet in page.text for page in of):
            yield f"{place.page} does not hold the snippet «{_short(place)}»"


def _keep(questions: Sequence[GoldQuestion], pages: Iterable[Page]) -> list[PageText]:
    """Only the gold pages: a wiki may be larger than memory."""
    places = {place.page: place for question in questions for place in _places(question)}
    kept = []
    for page in pages:
        if any(_is(place, page.id, page.title, page.path) for place in places.values()):
            kept.append(PageText(page.id, page.title, page.path, normalise(page.markdown)))
    return kept


def _places(question: GoldQuestion) -> Iterator[GoldPlace]:
    return (place for entry in question.gold for place in entry.places)


def _is(place: GoldPlace, page_id: str, title: str, path: Sequence[str]) -> bool:
    return same_page(place.page, page_id=page_id, title=title, path=path)


def _name(question: GoldQuestion) -> str:
    return f"Line {question.line} ({question.id})"


def _short(place: GoldPlace) -> str:
    words = " ".join(place.snippet.split())
    return words if len(words) <= SHOWN else words[: SHOWN - 1] + "…"
