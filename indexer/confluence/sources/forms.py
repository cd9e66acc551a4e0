"""One file in any form of Confluence -> Markdown, without a source around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import yaml

from askwiki.configuration import Configuration
from askwiki.data import Loss, Page
from askwiki.errors import SourceError
from indexer.confluence.page import Converted, convert
from indexer.confluence.parse.html_page import read_html_page
from indexer.confluence.parse.html_tree import decode, parse_fragment
from indexer.confluence.parse.links import Context, page_url
from indexer.confluence.parse.storage import parse_storage
from indexer.confluence.parse.wiki_markup import looks_like_wiki_markup, parse_wiki_markup
from indexer.confluence.sources.xml.export import XmlExport
from indexer.sources import PageFailure

Form = Literal["storage", "view", "html-export", "entities", "wiki"]
FORMS: tuple[Form, ...] = ("storage", "view", "html-export", "entities", "wiki")
LOOKED_AT = 20_000  # characters that decide the form


def convert_file(path: str, form: Form | None, configuration: Configuration) -> tuple[str, tuple[Loss, ...]]:
    """The Markdown of a file and what was lost on the way; ``form`` is guessed when it is None."""
    place = Path(path)
    if not place.is_file():
        raise SourceError(f"{path} is no file; give one file in the form {', '.join(FORMS)}.")
    data = place.read_bytes()
    if form == "entities" or (form is None and (data[:2] == b"PK" or b"<hibernate-generic" in data[:LOOKED_AT])):
        return _entities(XmlExport(path, configuration))
    text, broken = decode(data)
    lost = (Loss("encoding", place.name, broken, "characters that could not be decoded"),) if broken else ()
    converted, losses = _one(
        text, data, place.name, form or guess_form(text), configuration.settings.wiki.url.rstrip("/")
    )
    return converted.markdown, (*lost, *losses, *converted.losses)


def guess_form(text: str) -> Form:
    """The form that the beginning of a file looks like."""
    start = text[:LOOKED_AT]
    if re.search(r"<(?:ac|ri):", text):
        return "storage"
    if re.search(r"<!doctype html|<html[\s>]|<head[\s>]", start, re.IGNORECASE):
        return "html-export"
    if looks_like_wiki_markup(text) or not re.search(r"<[a-zA-Z][^<>]*>", start):
        return "wiki"
    return "view"


def _one(text: str, data: bytes, name: str, form: Form, base: str) -> tuple[Converted, Sequence[Loss]]:
    if form == "storage":
        tree, losses = parse_storage(text)
        return convert(tree, Context(base)), losses
    if form == "wiki":
        return convert(parse_wiki_markup(text), Context(base)), ()
    if form == "view":
        return convert(parse_fragment(text), Context(base)), ()
    page = read_html_page(data, name)
    base = base or page.base
    url = page_url(base, page.id) if base and page.id else ""
    return convert(page.body, Context(base, page.id, page.space, page.title, url)), ()


def _entities(export: XmlExport) -> tuple[str, tuple[Loss, ...]]:
    pieces: list[str] = []
    losses: list[Loss] = list(export.losses)
    for page in export.pages():
        if isinstance(page, PageFailure):
            if not page.skipped:
                losses.append(Loss("page", page.ref.title, detail=page.reason))
            continue
        pieces.append(with_front_matter(page))
        losses += page.losses
    return "\n\n".join(pieces), tuple(losses)


def with_front_matter(page: Page) -> str:
    """The page as a Markdown file that source kind ``markdown`` reads back with the same meaning."""
    matter = dict(_matter(page))
    written = yaml.safe_dump(matter, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{written}---\n\n{page.markdown}"


def _matter(page: Page) -> Iterator[tuple[str, object]]:
    yield "title", page.title
    yield "path", list(page.path)
    yield "updated", page.updated
    yield "labels", list(page.labels)
    readers = page.readers
    yield (
        "readers",
        None if readers is None else [{"users": list(one.users), "groups": list(one.groups)} for one in readers],
    )
    for name in ("author", "editor", "owner", "state"):
        if value := getattr(page, name):
            yield name, value
    yield "id", page.id
    yield "space", page.space
    yield "version", page.version
    if page.url:
        yield "url", page.url
    if page.attachments:
        yield "attachments", [file.name for file in page.attachments]
