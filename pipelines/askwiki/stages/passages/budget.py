"""What has room in the prompt: every candidate in its order, then siblings from what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from askwiki.data import Chunk, Passage
from askwiki.markdown.fences import close_fences
from askwiki.stages.passages.reading import as_read, place_of
from askwiki.stages.passages.siblings import STEPS, Pages, beginning, neighbours
from askwiki.stages.passages.spans import Span, join_spans, passage_of

HEAD_TOKENS = 40  # of a passage in the prompt beside its place: date, part, marks around it
ROLE_TOKENS = 8  # of the word before each person that it names
LEAST_PIECE = 60  # tokens; a smaller rest of the budget is left empty rather than filled with a torso


@dataclass(slots=True)
class Room:
    """The budget while it is filled: tokens that are left, passages that may still be begun."""

    budget: int  # for what was judged relevant
    others: int  # the part of it that everything else may fill up
    passages: int
    steps: int = STEPS  # neighbours on each side of a candidate
    relevant: frozenset[str] = frozenset()  # ids of chunks
    whole: bool = False  # neighbours from all of the page: a list may go on under other headings
    taken: dict[tuple[str, int], Chunk] = field(default_factory=dict)  # by page and ordinal
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.budget

    def left_for(self, chunk: Chunk) -> int:
        return self.left if chunk.id in self.relevant else self.left - self.budget + self.others

    def touches(self, chunk: Chunk) -> bool:
        return any((chunk.page_id, chunk.ordinal + step) in self.taken for step in (-1, 1))

    def take(self, chunk: Chunk, needed: int) -> None:
        self.passages -= not self.touches(chunk)
        self.left -= needed
        self.taken[chunk.page_id, chunk.ordinal] = chunk

    def cost(self, chunk: Chunk, count: Callable[[str], int]) -> int:
        """Tokens of the chunk where it would stand."""
        after = (chunk.page_id, chunk.ordinal - 1) in self.taken
        text = as_read(chunk.text[chunk.overlap if after else 0 :], chunk.url)
        return count(text) + (0 if self.touches(chunk) else head_tokens(chunk, count))


def fit(
    spans: Sequence[Span],
    places: Mapping[str, int],
    pages: Pages,
    count: Callable[[str], int],
    room: Room,
    *,
    judged: bool,
) -> tuple[list[Passage], int]:
    """(passages of the spans in their order, number of candidates without room).

    ``places``: chunk id -> place among the candidates. A candidate that is too long for what is left is cut once all
    that fit whole stand; none takes more than half of what is there for all from the others.
    """
    found = _by_place(spans, places)
    cut: dict[str, str] = {}
    waiting: list[Chunk] = []
    for chunk in found:
        needed = room.cost(chunk, count)
        if room.passages <= 0 and not room.touches(chunk):
            waiting.append(chunk)
        elif needed <= room.left_for(chunk) and (needed <= room.others // 2 or len(found) == 1):
            room.take(chunk, needed)
            if not judged:
                _add_siblings([chunk], pages, count, room)
        elif not room.taken:
            most = room.others // 2 if len(found) > 1 else room.others
            _take_cut(chunk, max(most - head_tokens(chunk, count), LEAST_PIECE), count, room, cut)
        else:
            waiting.append(chunk)
    left_out = []
    for chunk in waiting:
        rest = min(room.left_for(chunk), room.others // 2) - head_tokens(chunk, count)
        if rest >= LEAST_PIECE and (room.passages > 0 or room.touches(chunk)):
            _take_cut(chunk, rest, count, room, cut)
        else:
            left_out.append(chunk)
    _add_siblings([chunk for chunk in found if (chunk.page_id, chunk.ordinal) in room.taken], pages, count, room)
    return _written(spans, found, room, cut), len(left_out)


def head_tokens(chunk: Chunk, count: Callable[[str], int]) -> int:
    people = [person for person in (chunk.owner, chunk.author, chunk.editor) if person]
    return count(place_of(chunk)) + HEAD_TOKENS + sum(count(person) + ROLE_TOKENS for person in people)


def _by_place(spans: Sequence[Span], places: Mapping[str, int]) -> list[Chunk]:
    """All candidates, best first: the best of each span at the place of its span, the others at their own."""
    bests = sorted(places[span.best.id] for span in spans)
    ranked = [
        (bests[rank] if chunk.id == span.best.id else places[chunk.id], chunk)
        for rank, span in enumerate(spans)
        for chunk in span.chunks
    ]
    return [chunk for _, chunk in sorted(ranked, key=lambda item: item[0])]


def _take_cut(chunk: Chunk, tokens: int, count: Callable[[str], int], room: Room, cut: dict[str, str]) -> None:
    text = shorten(chunk.text, tokens, count) if count(as_read(chunk.text, chunk.url)) > tokens else chunk.text
    if text != chunk.text:
        cut[chunk.id] = text
    room.take(chunk, count(as_read(text, chunk.url)) + head_tokens(chunk, count))


def _add_siblings(chunks: Sequence[Chunk], pages: Pages, count: Callable[[str], int], room: Room) -> None:
    """The nearest first, of the better candidates first, their section before their page; then how each page begins."""
    for whole in (False, True) if room.whole else (False,):
        for step in range(1, room.steps + 1):
            for chunk in chunks:
                for each in neighbours(chunk, pages, step, whole=whole):
                    if room.touches(each):
                        _take_if_it_fits(each, count, room)
    for chunk in chunks:
        if first := beginning(chunk, pages):
            _take_if_it_fits(first, count, room)


def _take_if_it_fits(chunk: Chunk, count: Callable[[str], int], room: Room) -> None:
    needed = room.cost(chunk, count)
    if (chunk.page_id, chunk.ordinal) not in room.taken and needed <= room.left_for(chunk):
        room.left -= needed
        room.taken[chunk.page_id, chunk.ordinal] = chunk


def _written(spans: Sequence[Span], found: Sequence[Chunk], room: Room, cut: Mapping[str, str]) -> list[Passage]:
    """The taken chunks as passages, touching ones joined, in the order of their best candidates."""
    scores = {chunk.id: span.score for span in spans for chunk in span.chunks}
    ranks = {chunk.id: rank for rank, chunk in enumerate(found)}
    by_page: dict[str, list[Span]] = {}
    for (page, _), chunk in sorted(room.taken.items()):
        rank = ranks.get(chunk.id, len(ranks))
        text = cut.get(chunk.id, chunk.text)
        shown = chunk._replace(text=text)
        by_page.setdefault(page, []).append(Span((shown,), shown, scores.get(chunk.id, 0.0), rank))
    joined = [span for page in by_page.values() for span in _with_beginning(join_spans(page), len(ranks))]
    ordered = sorted(joined, key=lambda span: span.place)
    return [passage_of(span, shortened=_is_part(span, cut)) for span in ordered]


def _with_beginning(spans: Sequence[Span], no_rank: int) -> Iterator[Span]:
    """The page's beginning belongs to the best passage of the page: it is none of its own."""
    loose = [span for span in spans if span.place == no_rank]
    first = min((span for span in spans if span.place != no_rank), key=lambda span: span.place)
    for span in spans:
        if span is first and loose:
            chunks = sorted(
                (*span.chunks, *(chunk for each in loose for chunk in each.chunks)), key=lambda c: c.ordinal
            )
            yield replace(span, chunks=tuple(chunks))
        elif span.place != no_rank:
            yield span


def _is_part(span: Span, cut: Mapping[str, str]) -> bool:
    """Whether more of what was found stands in the page: a text that was cut, a section that goes on."""
    first, last = span.chunks[0], span.chunks[-1]
    return any(chunk.id in cut for chunk in span.chunks) or first.part > 1 or last.part < last.parts


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
