"""Which part of a passage a sentence of the answer speaks of: its label, its address and what the chat shows of it.

A passage is several sections joined; named after its best-ranked one, a source would lead to a heading under which the
cited words do not stand, and show a beginning in which they are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from urllib.parse import quote

from askwiki.data import Passage, PassagePart
from askwiki.language.stems import telling_stems
from askwiki.markdown.blocks import Block, parse_blocks
from askwiki.markdown.plain_text import plain_text

CUT = "…"
WINDOW = 1_200  # characters of a passage in the chat's window beside the answer
# How an anchor is made of a heading: Confluence leaves blanks out, Markdown lowers it and joins it by dashes.
_ANCHORS: tuple[Callable[[str], str], ...] = (
    lambda heading: "".join(heading.split()),
    lambda heading: re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()),
)


@lru_cache(maxsize=256)  # asked for with each source of an answer that is told, and once more for the list
def as_cited_for(passage: Passage, sentence: str) -> Passage:
    """The passage with headings and address of the section that holds what ``sentence`` says."""
    words = frozenset(telling_stems(sentence))
    part = _best_part(passage, words)
    if part is None:
        return replace(passage, cited_for=sentence)
    headings, url = part.headings, part.url
    blocks = parse_blocks(part.text)
    best = _best_block(part.text, blocks, words)
    inner = next((block.title for block in reversed(blocks[: best + 1]) if block.kind == "heading"), "")
    heading = plain_text(inner).strip()
    if heading and heading not in headings[-1:] and heading != passage.title:
        headings, url = (*headings[:-1], heading), _anchored(url, headings[-1] if headings else "", heading)
    return replace(passage, headings=headings, url=url, cited_for=sentence)


def with_places(first: Passage, again: Sequence[Passage]) -> Passage:
    """A cited passage with the further places of its page that the answer speaks of, none of them shown twice."""
    also: list[Passage] = []
    for place in again:
        shown = [shown_part(each.text, each.cited_for, WINDOW) for each in (first, *also)]
        named = {(each.headings, each.url) for each in (first, *also)}
        if (place.headings, place.url) not in named or shown_part(place.text, place.cited_for, WINDOW) not in shown:
            also.append(place)
    return replace(first, also=tuple(also))


def shown_part(text: str, sentence: str, characters: int) -> str:
    """At most about ``characters`` of ``text`` around what ``sentence`` says, with the heading above it."""
    if len(text) <= characters:
        return text
    blocks = parse_blocks(text)
    best = _best_block(text, blocks, frozenset(telling_stems(sentence)))
    start, end = blocks[best].start, min(blocks[best].end, blocks[best].start + characters)
    if end - start == characters:
        start, end = _window(text, blocks[best], sentence, characters)
    after, before = best + 1, best - 1
    while after < len(blocks) and blocks[after].end - start <= characters:
        end, after = blocks[after].end, after + 1
    while before >= 0 and end - blocks[before].start <= characters:
        start, before = blocks[before].start, before - 1
    above = next((block for block in reversed(blocks[:best]) if block.kind == "heading"), None)
    opening = "" if start == 0 else f"{CUT}\n\n"
    if above is not None and above.start < start:
        opening = f"{text[above.start : above.end].strip()}\n\n{CUT}\n\n"
    return f"{opening}{text[start:end].strip()}{f' {CUT}' if end < len(text) else ''}"


def _window(text: str, block: Block, sentence: str, characters: int) -> tuple[int, int]:
    """Of a block that is too long the lines around the one that says it."""
    words = frozenset(telling_stems(sentence))
    lines = text[block.start : block.end].split("\n")
    best = max(range(len(lines)), key=lambda place: (_share(lines[place], words), -place))
    start = block.start + sum(len(line) + 1 for line in lines[: max(0, best - 1)])
    return start, min(block.end, start + characters)


def _best_part(passage: Passage, words: frozenset[str]) -> PassagePart | None:
    """The section whose best block holds most of the words; of equal ones the first."""
    held = [part for part in passage.parts if part.text.strip() and part.text.strip()[:80] in passage.text]
    scored = [(_share_of_best(part.text, words), -place, part) for place, part in enumerate(held)]
    return max(scored, key=lambda each: each[:2])[2] if scored else None


def _share_of_best(text: str, words: frozenset[str]) -> float:
    return max((_share(text[block.start : block.end], words) for block in parse_blocks(text)), default=0.0)


def _best_block(text: str, blocks: Sequence[Block], words: frozenset[str]) -> int:
    """The place of the block that holds most of the words; a heading only where no other holds as many."""
    return max(
        range(len(blocks)),
        key=lambda place: (
            _share(text[blocks[place].start : blocks[place].end], words),
            blocks[place].kind != "heading",
            -place,
        ),
    )


def _share(text: str, words: frozenset[str]) -> float:
    return len(words.intersection(telling_stems(text))) / len(words) if words else 0.0


def _anchored(url: str, old: str, new: str) -> str:
    """The address with the anchor of another heading of the page, as far as it is seen how its anchors are made."""
    page, sign, anchor = url.partition("#")
    for written in _ANCHORS:
        for coded in (written, lambda heading, written=written: quote(written(heading))):
            if old and sign and coded(old) and anchor.endswith(coded(old)):
                return f"{page}#{anchor.removesuffix(coded(old))}{coded(new)}"
    return url
