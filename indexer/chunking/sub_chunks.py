"""A chunk as the dense encoder sees it: small pieces, each with the way to it in front.

A question is near one statement, not near a page of them: the store keeps all pieces of a chunk and
scores the chunk by its best one (late interaction over passages, as in Khattab, Zaharia: ColBERT, 2020,
with pieces in the place of tokens). What is found and read stays the whole chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from askwiki.data import Chunk
from askwiki.language.stems import fold
from askwiki.markdown.blocks import Block, parse_blocks
from askwiki.markdown.plain_text import plain_text
from indexer.chunking.breadcrumb import Fits, few_tokens, near_way
from indexer.chunking.faq import question_of
from indexer.chunking.packer import HEADER_SHARE, Size, pack_runs
from indexer.chunking.sections import plain
from indexer.chunking.sentences import language_of, sentence_ends, word_ends

Count = Callable[[Sequence[str]], list[int]]
_HEADER_LINES = 2  # of a Markdown table: names and ruler


class _Part(NamedTuple):
    """Something that is packed whole: a paragraph, an item, a row with its table's header."""

    text: str
    path: tuple[str, ...]
    header: str = ""


def piece_texts(chunk: Chunk, *, count: Count, tokens: int, limit: int) -> list[str]:
    """What is embedded of a chunk: texts of about ``tokens`` with their path line, none above ``limit``.

    Without ``tokens`` the chunk is one piece. A chunk without text is its path line.
    """
    fits = few_tokens(count, limit)
    if not tokens:
        return [_with_path(chunk, chunk.headings, plain_text(chunk.text), fits)]
    [special] = count([""])
    parts = list(_parts(chunk))
    ways = dict.fromkeys(near_way(chunk.path, chunk.title, part.path, fits) for part in parts)
    room = limit - max(count(list(ways)), default=0) - 1  # the line's end
    parts, repeated = _narrow_headers(parts, count, room * HEADER_SHARE + special)
    tokens = min(tokens, room - max(repeated - special, 0))
    parts = [small for part in parts for small in _small(part, count, tokens + special)]
    sizes = [size - special for size in count([plain_text(part.text) for part in parts])]
    found = [_with_path(chunk, path, text, fits) for path, text in _packed(parts, sizes, tokens)]
    found = found or [_with_path(chunk, chunk.headings, "", fits)]
    lengths = count(found)
    return [
        text if length <= limit else _shortened(text, count, limit) for text, length in zip(found, lengths, strict=True)
    ]


def _parts(chunk: Chunk) -> Iterator[_Part]:
    """The chunk in order, each part under the headings, and the bold question of a FAQ, that stand above it."""
    above, inside, asked = list(chunk.headings), list[tuple[int, str]](), list[str]()
    for block in parse_blocks(chunk.text):
        text = chunk.text[block.start : block.end]
        if block.kind == "heading":
            title, asked = plain(block.title), []
            if above and not inside and fold(above[-1]) == fold(title):
                above.pop()  # the chunk's own heading: from here on it is among those inside
            inside = [(level, name) for level, name in inside if level < block.level]
            if fold(title) != fold(chunk.title):
                inside.append((block.level, title))
        elif block.kind == "paragraph" and (question := question_of(text)):
            asked = [question]
        path = (*above, *(name for _, name in inside), *asked)
        yield from _of_block(block, text, path)


def _of_block(block: Block, text: str, path: tuple[str, ...]) -> Iterator[_Part]:
    lines = text.splitlines(keepends=True)
    if block.kind == "table" and len(lines) > _HEADER_LINES:
        header = "".join(lines[:_HEADER_LINES])
        yield from (_Part(line, path, header) for line in lines[_HEADER_LINES:] if line.strip())
    elif block.kind == "list":
        yield from (_Part(line, path) for line in lines if line.strip())
    elif text.strip():
        yield _Part(text, path)


def _narrow_headers(parts: Sequence[_Part], count: Count, most: float) -> tuple[list[_Part], int]:
    """A header of more than ``most`` tokens stands once, as a part of its own; the longest of the others."""
    headers = list(dict.fromkeys(part.header for part in parts if part.header))
    sizes = dict(zip(headers, count([*map(plain_text, headers)]), strict=True))
    wide = {header for header, size in sizes.items() if size > most}
    found, said = list[_Part](), set[str]()
    for part in parts:
        if part.header not in wide:
            found.append(part)
            continue
        if part.header not in said:
            found.append(_Part(part.header, part.path))
            said.add(part.header)
        found.append(part._replace(header=""))
    return found, max((size for header, size in sizes.items() if header not in wide), default=0)


def _small(part: _Part, count: Count, tokens: int) -> list[_Part]:
    """The part itself, or its lines, sentences or words when it is longer than a piece."""
    words = plain_text(part.text)
    if count([words])[0] <= tokens:
        return [part]
    ends = [0]
    if words.count("\n"):
        for line in words.splitlines(keepends=True):
            ends.append(ends[-1] + len(line))
    else:
        sentences = sentence_ends(words, language_of(words))
        ends += sentences if len(sentences) > 1 else word_ends(words, max(len(words) // 2, 1))
    pieces = [words[start:end] for start, end in pairwise(ends) if words[start:end].strip()]
    if len(pieces) < 2:
        return [part]
    return [small for piece in pieces for small in _small(part._replace(text=piece), count, tokens)]


def _packed(parts: Sequence[_Part], sizes: Sequence[int], tokens: int) -> Iterator[tuple[tuple[str, ...], str]]:
    """Neighbours under the same headings together while they fit: nobody reads a piece, so no border is dearer."""
    for first, after in pack_runs([part.path for part in parts], sizes, Size(tokens, tokens)):
        yield parts[first].path, plain_text("".join(_with_headers(parts[first:after])))


def _with_headers(parts: Sequence[_Part]) -> list[str]:
    """Texts that end their lines; a table's header before its first row."""
    texts: list[str] = []
    for part in parts:
        if part.header and part.header not in texts:
            texts.append(part.header)
        texts.append(part.text if part.text.endswith("\n") else part.text + "\n")
    return texts


def _with_path(chunk: Chunk, headings: Sequence[str], text: str, fits: Fits) -> str:
    return f"{near_way(chunk.path, chunk.title, headings, fits)}\n{text}".strip()


def _shortened(text: str, count: Count, limit: int) -> str:
    """A path that leaves no room goes first; what is left is cut at a word."""
    shorter = text.partition("\n")[2] or text
    while count([shorter])[0] > limit and len(shorter) > 1:
        shorter = shorter[: word_ends(shorter, max(len(shorter) * 3 // 4, 1))[0]].rstrip() or shorter[:1]
    return shorter
