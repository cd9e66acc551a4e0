"""What the encoders are given of a chunk: the one place that says it, for the sync and for whoever looks."""

from __future__ import annotations

from typing import NamedTuple

from askwiki.data import Chunk
from askwiki.markdown.plain_text import plain_text
from askwiki.settings import Settings
from indexer.chunking.breadcrumb import breadcrumb
from indexer.chunking.sub_chunks import piece_texts
from indexer.chunking.token_limit import Count, chunk_tokens


class EmbeddedTexts(NamedTuple):
    """Exactly what is embedded of a chunk: dense 1 (a vector for each text), dense 2 where there is one, sparse."""

    text: tuple[str, ...]
    context: str
    sparse: str

    def dense(self) -> tuple[str, ...]:
        return (*self.text, self.context) if self.context else self.text


def embedded_texts(chunk: Chunk, settings: Settings, *, count: Count, reads: int) -> EmbeddedTexts:
    """``count`` and ``reads`` (tokens of a text) are the dense encoder's."""
    limit = chunk_tokens(reads, settings.chunking.tokens)
    pieces = piece_texts(chunk, count=count, tokens=settings.chunking.sub_chunks, limit=limit)
    return EmbeddedTexts(tuple(pieces), chunk.context, sparse_text(chunk, settings.sparse.path))


def sparse_text(chunk: Chunk, path: bool) -> str:
    """The words of the chunk behind its title and headings; ``path``: behind the whole way to it."""
    way = breadcrumb(chunk.path if path else (), chunk.title, chunk.headings)
    return plain_text(f"{way}\n{plain_text(chunk.text)}")
