"""Quotations of pages, as the flow makes them of passages: every section asked by its heading and by its own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from askwiki.data import Page, Passage, Section
from askwiki.settings import AnswerSettings
from askwiki.stages.extractive.quotations import extract
from askwiki.stages.extractive.written import Count
from askwiki.stages.sources import label_of
from indexer.chunking.sections import split_sections

EVERY = 9  # of the sentences of a passage, one is a question where no other number is wished
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORDS = re.compile(r"\w{4,}")


@dataclass(frozen=True, slots=True)
class Quotation:
    page: Page
    question: str
    label: str
    text: str


def quotations(page: Page, settings: AnswerSettings, count: Count, every: int = EVERY) -> Iterator[Quotation]:
    """Quotations of every section of a page, of every two that follow on each other, and of the whole page."""
    sections = split_sections(page)
    places = [(at, at + length) for length in sorted({1, 2, len(sections)}) for at in range(len(sections) - length + 1)]
    for start, end in places:
        passage = _passage(page, sections[start:end])
        for question in _questions(passage, every):
            for quoted, text in extract([passage], (), question, (), settings, count):
                yield Quotation(page, question, label_of(quoted), text)


def _passage(page: Page, sections: Sequence[Section]) -> Passage:
    return Passage(
        number=1,
        page_id=page.id,
        title=page.title,
        path=page.path,
        headings=sections[0].headings,
        url=page.url,
        updated=page.updated,
        text="".join(section.markdown for section in sections),
        chunk_ids=(),
    )


def _questions(passage: Passage, every: int) -> Iterator[str]:
    yield " ".join((passage.title, *passage.headings))
    for sentence in _SENTENCE.split(passage.text)[::every]:
        if words := _WORDS.findall(sentence):
            yield " ".join(words[:8])
