"""A page into chunks: whole thoughts, letter for letter, each knowing its place and its length."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from askwiki.data import Chunk, Page
from askwiki.errors import PageError
from askwiki.markdown.blocks import Block, parse_blocks
from askwiki.markdown.plain_text import PlainPage, plain_text
from askwiki.settings import ChunkingSettings
from indexer.chunking.anchors import page_of_file, with_anchor
from indexer.chunking.breadcrumb import Fits, breadcrumb, few_bytes, few_tokens
from indexer.chunking.cuts import Cutter, PageSpan, Thought, filled
from indexer.chunking.groups import Group, group_of, group_sections
from indexer.chunking.packer import Piece, Size
from indexer.chunking.screens import Screens, is_labelled, state_of
from indexer.chunking.sections import split_sections
from indexer.chunking.token_limit import Count, Ruler, Stretch, fit_stretches, length_of

HASH_BYTES = 10  # 80 bits: no collisions among the chunks of one page
BETWEEN_VALUES, BETWEEN_ITEMS = "\x1e", "\x1f"  # ASCII's own separators, which no wiki lets through
LEAST_TOKENS = 40  # of a chunk beside what the encoder adds; below that nothing sensible can be embedded


class _Place(NamedTuple):
    """A group of sections, where it stands in the page, and what stands before it when embedded."""

    group: Group
    start: int
    end: int
    head: str
    head_tokens: int


class _Cut(NamedTuple):
    """A piece of a group, and whether it tells of a screen."""

    piece: Piece
    screen: bool


def chunk_page(
    page: Page,
    *,
    count: Count,
    limit: int,
    settings: ChunkingSettings,
    acl: str = "",
    cutter: Cutter | None = None,
) -> list[Chunk]:
    """All chunks of a page in order, context and hash still empty: ``with_context`` fills them.

    ``count`` is the embedder's (prefix and special tokens included) and is called a few times with many
    texts; ``limit`` is what the encoder takes, its safety margin off: no chunk has more, nor more than
    ``chunking.tokens``, the way to it included.
    ``cutter`` names the borders of thoughts in what is too long for one chunk; a chunk holds as many thoughts as fit,
    for one of a few sentences is found less often (docs/measurements.md). Without it long sections are cut by rule.
    """
    blocks = parse_blocks(page.markdown)
    plain = PlainPage(page.markdown)
    screens = Screens(page.markdown, blocks)
    if page.content in ("attachment", "comments"):  # a page of a file or a comment is never joined with the next one
        settings = dataclasses.replace(settings, merge_below=0)
    ruler = _ruler(page, count, min(limit, settings.tokens), settings.overlap_sentences)
    places = _places(page, blocks, plain, screens, ruler, settings)
    thoughts = _thoughts(page, places, plain, ruler, cutter)
    stretches = [
        stretch for place, ends in zip(places, thoughts, strict=True) for stretch in _stretches(place, ends, ruler)
    ]
    fitted = iter(fit_stretches(plain, blocks, stretches, ruler))
    cuts = [
        _screens_told(place.group, [_Cut(piece, end.screen) for end in ends for piece in next(fitted)], screens)
        for place, ends in zip(places, thoughts, strict=True)
    ]
    return list(_assemble(page, [place.group for place in places], cuts, acl, settings))


def _screens_told(group: Group, cuts: list[_Cut], screens: Screens) -> list[_Cut]:
    """Each part by the rules too: what it says, and what it repeats of a table's header."""
    if len(cuts) == 1:
        return [_Cut(cuts[0].piece, True)] if group.screen else cuts
    return [
        _Cut(
            cut.piece,
            cut.screen
            or any(
                screens.rule(start, end, group.headings)
                for start, end in (*cut.piece.lead, (cut.piece.start, cut.piece.end))
            ),
        )
        for cut in cuts
    ]


def _places(
    page: Page, blocks: Sequence[Block], plain: PlainPage, screens: Screens, ruler: Ruler, settings: ChunkingSettings
) -> list[_Place]:
    """The page's groups; paths and sections are counted in one batch."""
    sections = split_sections(page, blocks)
    starts = list(accumulate([len(section.markdown) for section in sections], initial=0))
    stretches = list(pairwise(starts))
    fits = few_tokens(ruler.measure, ruler.limit)
    paths = [breadcrumb(page.path, page.title, section.headings, fits) for section in sections]
    counted = ruler.measure([*paths, *map(plain.of, stretches)])
    heads, bodies = counted[: len(paths)], counted[len(paths) :]
    alone = [
        group_of(
            section,
            tokens=length_of(body - ruler.special, end - start),
            room=ruler.limit - head,
            screen=bool(screens.rule(start, end, section.headings)),
        )
        for section, (start, end), head, body in zip(sections, stretches, heads, bodies, strict=True)
    ]
    groups = group_sections(alone, settings)
    shared = [breadcrumb(page.path, page.title, group.headings, fits) for group in groups]
    places = []
    for group, own, tokens in zip(groups, shared, ruler.measure(shared), strict=True):
        ways = [(tokens, own), *list(zip(heads, paths, strict=True))[group.first : group.last + 1]]
        head, path = max(ways)
        places.append(_Place(group, starts[group.first], starts[group.last + 1], path, head))
    return places


def _ruler(page: Page, count: Count, limit: int, overlap: int) -> Ruler:
    [special] = count([""])
    if limit - special < LEAST_TOKENS:
        raise PageError(
            f"Path and title of «{page.title}» leave no room for its text in {limit} tokens: chunking.tokens (and "
            f"embedding.limit) must be {LEAST_TOKENS + special} at least."
        )
    return Ruler(count, special, limit, overlap)


def _thoughts(
    page: Page, places: Sequence[_Place], plain: PlainPage, ruler: Ruler, cutter: Cutter | None
) -> list[list[Thought]]:
    """Of each place what belongs together: all of it, or where that is too long as many thoughts as fit."""
    whole = [[Thought(place.end)] for place in places]
    long = [number for number, place in enumerate(places) if place.group.tokens > _room(place, ruler)]
    if cutter and long:
        spans = [PageSpan(places[number].start, places[number].end, places[number].group.headings) for number in long]
        for number, thoughts in zip(long, cutter(page, spans), strict=True):
            place = places[number]
            whole[number] = list(filled(place.start, thoughts, _room(place, ruler), plain, ruler))
    return whole


def _room(place: _Place, ruler: Ruler) -> int:
    """Tokens that the text of a chunk may have there."""
    return ruler.limit - place.head_tokens - 1  # the line's end


def _stretches(place: _Place, thoughts: Sequence[Thought], ruler: Ruler) -> Iterator[Stretch]:
    room = _room(place, ruler)
    start = place.start
    for thought in thoughts:
        share = (thought.end - start) / max(place.end - place.start, 1)
        yield Stretch(start, thought.end, place.group.tokens * share, Size(room, room), place.head)
        start = thought.end


def _assemble(
    page: Page, groups: Sequence[Group], cuts: Sequence[Sequence[_Cut]], acl: str, settings: ChunkingSettings
) -> Iterator[Chunk]:
    seen: dict[tuple[str, ...], int] = {}
    labelled, state = is_labelled(page.labels, settings.screen_labels), state_of(page, settings)
    ordinal = 0
    for group, parts in zip(groups, cuts, strict=True):
        url = with_anchor(page.url, group.anchor)
        if page.content in ("attachment", "comments"):
            url = page_of_file(page.url, group.headings)
        before = seen.get(group.place, 0)
        seen[group.place] = before + 1
        for part, cut in enumerate(parts, start=1):
            yield Chunk(
                id=f"{page.id}#{_digest((*group.place, str(before), str(part)))}",
                page_id=page.id,
                space=page.space,
                title=page.title,
                path=page.path,
                headings=group.headings,
                url=url,
                kind="comment" if page.content == "comments" else group.kind,
                screen=labelled or cut.screen,
                ordinal=ordinal,
                part=part,
                parts=len(parts),
                text=cut.piece.text(page.markdown),
                overlap=cut.piece.overlap,
                updated=page.updated,
                labels=page.labels,
                acl=acl,
                content=page.content,
                author=page.author,
                editor=page.editor,
                owner=page.owner,
                state=state,
            )
            ordinal += 1


def whole_text(chunk: Chunk, fits: Fits = few_bytes) -> str:
    """The chunk without marks and addresses behind the way to it: what the limit of tokens counts.

    ``fits``: how long a way there is room for.
    """
    return f"{breadcrumb(chunk.path, chunk.title, chunk.headings, fits)}\n{plain_text(chunk.text)}".strip()


def with_context(chunk: Chunk, context: str) -> Chunk:
    """The chunk with its context and the hash of all that the store keeps of it: another hash, another point."""
    *fields, _ = described = chunk._replace(context=context)
    return described._replace(hash=_digest([value if isinstance(value, str) else _line(value) for value in fields]))


def _line(value: object) -> str:
    return BETWEEN_ITEMS.join(value) if isinstance(value, tuple) else str(value)


def _digest(values: Sequence[str]) -> str:
    """A short hash of texts; a control character keeps their borders apart."""
    whole = BETWEEN_VALUES.join(values).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(whole, digest_size=HASH_BYTES).hexdigest()
