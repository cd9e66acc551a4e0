"""Candidates -> numbered passages: split sections rebuilt, neighbours joined, copies dropped, within a budget."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from askwiki.data import Candidate, Chunk, Passage, Rights
from askwiki.settings import PassagesSettings
from askwiki.stages.versions import find_twins
from askwiki.store.port import Reader

logger = logging.getLogger(__name__)

PASSAGE_OVERHEAD = 40  # tokens of a passage's head and fence in the prompt
LOOKED_AT = 2  # candidates for each passage that is wanted: more would join whole pages around weak finds
OLDER = "older"  # note of a passage: "older:2" = an earlier edition of passage 2
LEAST_PIECE = 60  # tokens; a smaller rest of the budget is left empty rather than filled with a torso
_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})", re.MULTILINE)
GAP = "\n\n[…]\n\n"  # between parts of one passage that are not neighbours in the page


@dataclass(frozen=True, slots=True)
class Cut:
    """Passages for the prompt, and what did not fit."""

    passages: tuple[Passage, ...]
    left_out: int = 0  # passages that found no room
    shortened: int = 0


@dataclass(frozen=True, slots=True)
class _Span:
    """Chunks of one page that are read as one passage, in page order, around the best candidate."""

    chunks: tuple[Chunk, ...]
    best: Chunk
    score: float
    place: int  # of the best candidate among all


def make_passages(
    candidates: Sequence[Candidate],
    rights: Rights,
    *,
    reader: Reader,
    count: Callable[[str], int],
    settings: PassagesSettings,
    tokens: int | None = None,
) -> Cut:
    """At most ``settings.count`` passages of together ``tokens`` tokens, as ``count`` counts them."""
    candidates = candidates[: LOOKED_AT * settings.count]
    spans = _spans(candidates, _siblings(candidates, rights, reader) if settings.siblings else {})
    kept = _without_copies(spans)
    budget = settings.tokens if tokens is None else min(tokens, settings.tokens)
    fitting = _fit(kept[: settings.count], count, budget)
    numbers = {passage.page_id: number for number, passage in reversed([*enumerate(fitting, 1)])}
    numbered = tuple(
        replace(passage, number=number, note=_note(passage.note, numbers)) for number, passage in enumerate(fitting, 1)
    )
    shortened = sum(passage.shortened for passage in numbered)
    logger.info("passages: %d of %d spans, %d shortened", len(numbered), len(spans), shortened)
    return Cut(numbered, len(kept) - len(numbered), shortened)


def _siblings(candidates: Sequence[Candidate], rights: Rights, reader: Reader) -> dict[str, list[Chunk]]:
    """All chunks of every page that has a split section among the candidates, fetched once a page."""
    pages = dict.fromkeys(each.chunk.page_id for each in candidates if each.chunk.parts > 1)
    return {page_id: reader.page_chunks(page_id, rights) for page_id in pages}


def _spans(candidates: Sequence[Candidate], pages: Mapping[str, Sequence[Chunk]]) -> list[_Span]:
    """Each candidate with its siblings; spans that touch or overlap in a page become one."""
    by_page: dict[str, list[_Span]] = {}
    for place, candidate in enumerate(candidates):
        chunk = candidate.chunk
        family = [each for each in pages.get(chunk.page_id, ()) if _one_section(each, chunk)] or [chunk]
        by_page.setdefault(chunk.page_id, []).append(_Span(tuple(family), chunk, candidate.score, place))
    joined = [span for spans in by_page.values() for span in _join(spans)]
    return sorted(joined, key=lambda span: span.place)


def _one_section(one: Chunk, other: Chunk) -> bool:
    return (
        one.headings == other.headings
        and one.parts == other.parts
        and one.ordinal - one.part == other.ordinal - other.part
    )


def _join(spans: Sequence[_Span]) -> list[_Span]:
    """Spans of one page, neighbours (consecutive ordinals) joined, best place kept."""
    result: list[_Span] = []
    for span in sorted(spans, key=lambda span: span.chunks[0].ordinal):
        if result and span.chunks[0].ordinal <= result[-1].chunks[-1].ordinal + 1:
            last = result[-1]
            chunks = {chunk.ordinal: chunk for chunk in (*last.chunks, *span.chunks)}
            best = min(last, span, key=lambda each: each.place)
            result[-1] = replace(best, chunks=tuple(chunks[ordinal] for ordinal in sorted(chunks)))
        else:
            result.append(span)
    return result


def _passage(span: _Span, note: str = "", shortened: bool = False) -> Passage:
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
        note=note,
        part=part,
    )


def join_texts(chunks: Sequence[Chunk]) -> str:
    """The text of chunks of one page in page order, what a chunk repeats of the one before it left out."""
    text = chunks[0].text
    for before, chunk in pairwise(chunks):
        if chunk.ordinal == before.ordinal + 1:
            text += chunk.text[chunk.overlap :]  # chunks joined are the page, letter for letter
        else:
            text += GAP + chunk.text
    return text


def close_fences(text: str) -> str:
    """``text`` with its last code block closed, so that nothing after it reads as code."""
    fence = ""
    for match in _FENCE.finditer(text):
        if not fence:
            fence = match[1]
        elif match[1].startswith(fence):
            fence = ""
    return f"{text.rstrip()}\n{fence}" if fence else text


def _without_copies(spans: Sequence[_Span]) -> list[tuple[_Span, str]]:
    """Spans with a note, copies dropped. Of two editions the newer stands before the older, which says so."""
    order = list(range(len(spans)))
    notes: dict[int, str] = {}
    dropped: set[int] = set()
    for twin in find_twins([_passage(span) for span in spans]):
        if twin.newer in dropped or twin.older in dropped:
            continue
        place_newer, place_older = order.index(twin.newer), order.index(twin.older)
        if place_older < place_newer:
            order[place_newer], order[place_older] = twin.older, twin.newer
        if twin.same:
            dropped.add(twin.older)
        else:
            notes[twin.older] = f"{OLDER}:{spans[twin.newer].best.page_id}"
    return [(spans[place], notes.get(place, "")) for place in order if place not in dropped]


def _note(note: str, numbers: Mapping[str, int]) -> str:
    """``older:PAGE`` as ``older:NUMBER``; empty when the newer one is not among the passages."""
    number = numbers.get(note.removeprefix(f"{OLDER}:"))
    return f"{OLDER}:{number}" if note and number else ""


def _fit(spans: Sequence[tuple[_Span, str]], count: Callable[[str], int], budget: int) -> list[Passage]:
    """Passages in order while there is room; one that is too long keeps what stands around its best chunk."""
    kept: list[Passage] = []
    left = budget
    for span, note in spans:
        room = min(left, max(left // 2, budget // 2) if len(spans) > 1 else left) - PASSAGE_OVERHEAD
        if room < LEAST_PIECE and kept:
            continue
        passage = _passage(span, note)
        needed = count(passage.text)
        if needed > room:
            passage = _window(span, note, max(room, LEAST_PIECE), count)
            needed = count(passage.text)
        kept.append(passage)
        left -= needed + PASSAGE_OVERHEAD
    return kept


def _window(span: _Span, note: str, tokens: int, count: Callable[[str], int]) -> Passage:
    """The best chunk and as many of its neighbours as fit, the nearer first; the best itself cut if need be."""
    place = next(place for place, chunk in enumerate(span.chunks) if chunk.id == span.best.id)
    first = last = place
    for step in range(1, len(span.chunks)):
        for wider in ((first, min(place + step, len(span.chunks) - 1)), (max(place - step, 0), last)):
            low, high = min(first, wider[0]), max(last, wider[1])
            if count(join_texts(span.chunks[low : high + 1])) <= tokens:
                first, last = low, high
    passage = _passage(replace(span, chunks=span.chunks[first : last + 1]), note, shortened=True)
    if count(passage.text) <= tokens:
        return passage
    return replace(passage, text=shorten(passage.text, tokens, count))


def halve(passages: Sequence[Passage], count: Callable[[str], int]) -> tuple[Passage, ...]:
    """The first passages with half of the text of all, their numbers kept: for a prompt that was too long."""
    left = sum(count(passage.text) for passage in passages) // 2
    kept: list[Passage] = []
    for passage in passages:
        needed = count(passage.text)
        if needed <= left:
            kept.append(passage)
        elif not kept or left >= LEAST_PIECE:
            kept.append(replace(passage, text=shorten(passage.text, max(left, LEAST_PIECE), count), shortened=True))
        left -= needed
        if left <= 0:
            break
    return tuple(kept)


def shorten(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """The beginning of ``text`` of at most ``tokens`` tokens, cut at the end of a line where there is one."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle]) <= tokens:
            low = middle
        else:
            high = middle - 1
    end = text.rfind("\n", low // 2, low)
    return close_fences(text[: end if end > 0 else low].rstrip() + "\n…")
