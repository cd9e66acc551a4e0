"""Candidates -> spans of their pages, neighbours joined; and a span as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from askwiki.data import Candidate, Chunk, Passage, PassagePart
from askwiki.markdown.fences import close_fences

GAP = "\n\n[…]\n\n"  # between parts of one passage that are not neighbours in the page


@dataclass(frozen=True, slots=True)
class Span:
    """Chunks of one page that are read as one passage, in page order, around the best candidate."""

    chunks: tuple[Chunk, ...]
    best: Chunk
    score: float
    place: int  # of the best candidate among all


def find_spans(candidates: Sequence[Candidate]) -> list[Span]:
    """The candidates as spans: those that touch in a page are one, the best place first."""
    by_page: dict[str, list[Span]] = {}
    for place, candidate in enumerate(candidates):
        span = Span((candidate.chunk,), candidate.chunk, candidate.score, place)
        by_page.setdefault(candidate.chunk.page_id, []).append(span)
    joined = [span for spans in by_page.values() for span in join_spans(spans)]
    return sorted(joined, key=lambda span: span.place)


def join_spans(spans: Sequence[Span]) -> list[Span]:
    """Spans of one page, neighbours (consecutive ordinals) joined, best place kept."""
    result: list[Span] = []
    for span in sorted(spans, key=lambda span: span.chunks[0].ordinal):
        if result and span.chunks[0].ordinal <= result[-1].chunks[-1].ordinal + 1:
            last = result[-1]
            chunks = {chunk.ordinal: chunk for chunk in (*last.chunks, *span.chunks)}
            best = min(last, span, key=lambda each: each.place)
            result[-1] = replace(best, chunks=tuple(chunks[ordinal] for ordinal in sorted(chunks)))
        else:
            result.append(span)
    return result


def passage_of(span: Span, shortened: bool = False) -> Passage:
    best, first, last = span.best, span.chunks[0], span.chunks[-1]
    part = (first.part, last.part, best.parts) if first.headings == last.headings else (1, 1, 1)
    return Passage(
        number=0,
        page_id=best.page_id,
        title=best.title,
        path=best.path,
        headings=best.headings,
        url=best.url,
        updated=max(chunk.updated for chunk in span.chunks),
        text=close_fences(join_texts(span.chunks)),
        chunk_ids=tuple(chunk.id for chunk in span.chunks),
        score=span.score,
        rebuilt=len(span.chunks) > 1,
        shortened=shortened,
        parts=tuple(PassagePart(chunk.headings, chunk.url, chunk.text[chunk.overlap :]) for chunk in span.chunks),
        part=part,
        content=best.content,
        author=best.author,
        editor=best.editor,
        owner=best.owner,
        state=best.state,
    )


def text_of(chunk: Chunk) -> str:
    """A chunk as it is searched and graded: where it stands, then what it says."""
    return "\n".join((" / ".join((*chunk.path, chunk.title, *chunk.headings)), chunk.text))


def join_texts(chunks: Sequence[Chunk]) -> str:
    """The text of chunks of one page in page order, what a chunk repeats of the one before it left out."""
    text = chunks[0].text
    for before, chunk in pairwise(chunks):
        if chunk.ordinal == before.ordinal + 1:
            text += chunk.text[chunk.overlap :]  # chunks joined are the page, letter for letter
        else:
            text += GAP + chunk.text
    return text
