"""``python -m indexer show KIND:PATH PAGE|--all [--chunks] [--json]``: pages as they would be indexed."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from textwrap import indent
from typing import Any, NamedTuple

from askwiki.configuration import load_configuration
from askwiki.data import Chunk, Clause, Page
from askwiki.encoders.factory import make_embedder
from askwiki.encoders.port import Embedder
from askwiki.errors import SourceError
from askwiki.settings import AttachmentSettings, Settings
from indexer.attachments.documents import documents_of
from indexer.chunking.breadcrumb import SEPARATOR, few_tokens
from indexer.chunking.chunks import whole_text
from indexer.chunking.embedded import embedded_texts
from indexer.chunking.screens import Screens, is_labelled
from indexer.chunking.sections import same_title, split_sections
from indexer.chunking.token_limit import chunk_tokens
from indexer.opening import open_source
from indexer.sources import PageFailure, PageRef, PageSource
from indexer.sync.prepare import prepare_page
from indexer.sync.tools import make_desk

SUGGESTIONS = 5  # titles offered when no page has the name
REPEATED = "┄" * 40 + " repeated up to here"
BORDER = "─" * 100


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="KIND:PATH", help="html, xml, rest or markdown, and where it is")
    parser.add_argument("page", metavar="PAGE", nargs="?", help="id, path (A / B / Title) or title of one page")
    parser.add_argument("--all", action="store_true", help="every page of the source")
    parser.add_argument("--chunks", action="store_true", help="the chunks: borders, kinds, tokens, contexts")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(options: argparse.Namespace) -> int:
    """0, or 1 when some pages could not be read; the others are printed."""
    if (options.page is None) != options.all:
        raise SourceError("Name one page, or give --all for every page of the source.")
    configuration = load_configuration(os.environ)
    source = open_source(options.source, configuration)
    pages = source.pages() if options.all else iter([find_page(source, options.page)])
    pages = _with_documents(pages, configuration.settings.attachments)
    if not (options.json or options.chunks):
        return _print(pages, page_text)
    settings, desk = configuration.settings, make_desk(configuration)
    embedder = make_embedder(settings.embedding)
    form = to_json if options.json else chunks_text

    def shown(page: Page) -> str:
        return form(*prepare_page(page, "", settings=settings, embedder=embedder, desk=desk), settings, embedder)

    try:
        return _print(pages, shown)
    finally:
        desk.cache.close()


def _with_documents(pages: Iterator[Page | PageFailure], settings: AttachmentSettings) -> Iterator[Page | PageFailure]:
    for page in pages:
        yield page
        if isinstance(page, Page):
            yield from documents_of(page, settings)


def _print(pages: Iterator[Page | PageFailure], form: Callable[[Page], str]) -> int:
    failed = 0
    for page in pages:
        if isinstance(page, PageFailure):
            failed += not page.skipped
            print(f"{page.ref.title} ({page.ref.id}): {page.reason}", file=sys.stderr)
        else:
            print(form(page))
    return 1 if failed else 0


def find_page(source: PageSource, name: str) -> Page:
    """The page with this id, title or path; several or none raise with what there is."""
    refs = source.expected()
    wanted = [ref for ref in refs if ref.id == name] or [ref for ref in refs if same_title(ref.title, name)]
    if len(wanted) > 1:
        ids = ", ".join(ref.id for ref in wanted)
        raise SourceError(f"Several pages are called «{name}». Name one by its id: {ids}.")
    for page in source.pages():
        reference = page.ref if isinstance(page, PageFailure) else PageRef(page.id, page.title)
        if wanted and reference.id != wanted[0].id:
            continue
        if isinstance(page, PageFailure):
            if wanted:
                raise SourceError(f"The page «{reference.title}» cannot be read: {page.reason}")
        elif wanted or same_title(SEPARATOR.join((*page.path, page.title)), name):
            return page
    titles = difflib.get_close_matches(name, list(dict.fromkeys(ref.title for ref in refs)), SUGGESTIONS, 0.3)
    nearest = f" Nearest titles: {'; '.join(titles)}." if titles else ""
    raise SourceError(f"{source.name} has no page with the id, title or path «{name}».{nearest}")


def to_json(page: Page, chunks: Sequence[Chunk], settings: Settings, embedder: Embedder) -> str:
    """One line of JSON: the page and its chunks."""
    readers = None if page.readers is None else [_clause(clause) for clause in page.readers]
    described: dict[str, Any] = {
        "id": page.id,
        "title": page.title,
        "path": list(page.path),
        "url": page.url,
        "updated": page.updated,
        "labels": list(page.labels),
        "readers": readers,
        "markdown": page.markdown,
        "losses": [
            {"kind": loss.kind, "name": loss.name, "count": loss.count, "detail": loss.detail} for loss in page.losses
        ],
        "chunks": [
            {
                "id": chunk.id,
                "text": chunk.text,
                "part": chunk.part,
                "parts": chunk.parts,
                "kind": chunk.kind,
                "screen": chunk.screen,
                "headings": list(chunk.headings),
                "url": chunk.url,
                "context": chunk.context,
                "tokens": counted.tokens,
                "limit": embedder.limit,
                "overlap": chunk.overlap,
                "embedded": [{"text": text, "tokens": tokens} for tokens, text in counted.embedded],
            }
            for chunk, counted in zip(chunks, _counted(chunks, settings, embedder), strict=True)
        ],
    }
    return json.dumps(described, ensure_ascii=False)


def page_text(page: Page) -> str:
    """Head, heading tree and Markdown of a page, for a person."""
    tree = [
        f"  {'  ' * (len(section.headings) - 1)}{section.headings[-1]}"
        for section in split_sections(page)
        if section.headings
    ]
    return "\n".join([*_head(page), "sections:", *tree, BORDER, page.markdown])


def chunks_text(page: Page, chunks: Sequence[Chunk], settings: Settings, embedder: Embedder) -> str:
    """Every chunk with its borders, kind, length and context, for a person who judges the cut."""
    lines = list(_head(page))
    for chunk, (tokens, embedded) in zip(chunks, _counted(chunks, settings, embedder), strict=True):
        part = f", part {chunk.part} of {chunk.parts}" if chunk.parts > 1 else ""
        screen = f", screen ({_why_screen(chunk, settings)})" if chunk.screen else ""
        repeated, own = chunk.text[: chunk.overlap], chunk.text[chunk.overlap :]
        lines += [
            BORDER,
            f"[{chunk.ordinal + 1}/{len(chunks)}] {chunk.kind}{screen}{part}, {tokens} of {embedder.limit} tokens",
            f"headings: {SEPARATOR.join(chunk.headings)}".rstrip(),
            *([f"context:  {chunk.context}"] if chunk.context else []),
            "",
            *([repeated.rstrip("\n"), REPEATED] if repeated else []),
            own.rstrip("\n"),
        ]
        for tokens, text in embedded:
            lines += ["", f"embedded, {tokens} tokens:", indent(text, "  ")]
    return "\n".join([*lines, BORDER])


def _why_screen(chunk: Chunk, settings: Settings) -> str:
    if is_labelled(chunk.labels, settings.chunking.screen_labels):
        return "label of the page"
    return Screens(chunk.text).rule(0, len(chunk.text), chunk.headings) or "said by the model, or of a section in it"


class _Counted(NamedTuple):
    """Tokens of a chunk with the way to it, and of each text that is embedded of it."""

    tokens: int
    embedded: list[tuple[int, str]]


def _counted(chunks: Sequence[Chunk], settings: Settings, embedder: Embedder) -> list[_Counted]:
    count, reads = embedder.count, embedder.limit
    fits = few_tokens(count, chunk_tokens(reads, settings.chunking.tokens))
    texts = [embedded_texts(chunk, settings, count=count, reads=reads).text for chunk in chunks]
    counted = iter(count([text for each in texts for text in each]))
    whole = count([whole_text(chunk, fits) for chunk in chunks])
    return [
        _Counted(tokens, [(next(counted), text) for text in each]) for tokens, each in zip(whole, texts, strict=True)
    ]


def _head(page: Page) -> Iterator[str]:
    yield f"title:    {page.title}"
    yield f"id:       {page.id}"
    yield f"path:     {SEPARATOR.join(page.path)}"
    yield f"url:      {page.url}"
    yield f"updated:  {page.updated}"
    yield f"labels:   {', '.join(page.labels)}"
    yield f"readers:  {_readers(page)}"
    for loss in page.losses:
        yield f"loss:     {loss.kind} {loss.name} × {loss.count} {loss.detail}".rstrip()


def _clause(clause: Clause) -> dict[str, Any]:
    fields: dict[str, Any] = {"users": list(clause.users), "groups": list(clause.groups)}
    return {**fields, "unknown": True} if clause.unknown else fields


def _readers(page: Page) -> str:
    if page.readers is None:
        return "unknown"
    clauses = ["unknown" if one.unknown else " or ".join((*one.users, *one.groups)) for one in page.readers]
    return " and ".join(f"({clause})" for clause in clauses) or "everybody"
