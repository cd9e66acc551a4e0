"""What of the spans has room in the prompt: whole ones first, of a long one what stands around its best chunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from askwiki.data import Passage
from askwiki.markdown.fences import close_fences
from askwiki.stages.passages.spans import Span, join_texts, passage_of

PASSAGE_OVERHEAD = 40  # tokens of a passage's head and fence in the prompt
LEAST_PIECE = 60  # tokens; a smaller rest of the budget is left empty rather than filled with a torso


def fit(spans: Sequence[Span], count: Callable[[str], int], budget: int) -> list[Passage]:
    """Passages in order while there is room; one that is too long keeps what stands around its best chunk."""
    kept: list[Passage] = []
    left = budget
    for span in spans:
        room = min(left, max(left // 2, budget // 2) if len(spans) > 1 else left) - PASSAGE_OVERHEAD
        if room < LEAST_PIECE and kept:
            continue
        passage = passage_of(span)
        needed = count(passage.text)
        if needed > room:
            passage = _window(span, max(room, LEAST_PIECE), count)
            needed = count(passage.text)
        kept.append(passage)
        left -= needed + PASSAGE_OVERHEAD
    return kept


def _window(span: Span, tokens: int, count: Callable[[str], int]) -> Passage:
    """The best chunk and as many of its neighbours as fit, the nearer first; the best itself cut if need be."""
    place = next(place for place, chunk in enumerate(span.chunks) if chunk.id == span.best.id)
    first = last = place
    for step in range(1, len(span.chunks)):
        for wider in ((first, min(place + step, len(span.chunks) - 1)), (max(place - step, 0), last)):
            low, high = min(first, wider[0]), max(last, wider[1])
            if count(join_texts(span.chunks[low : high + 1])) <= tokens:
                first, last = low, high
    passage = passage_of(replace(span, chunks=span.chunks[first : last + 1]), shortened=True)
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
