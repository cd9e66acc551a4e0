"""From the body of a page to its Markdown: the one entrance to the conversion."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml.etree import _Element

from askwiki.data import Count, Loss
from indexer.confluence.macros.adf import ADF
from indexer.confluence.macros.rules import MACRO_ELEMENTS
from indexer.confluence.measure.arrived import measure
from indexer.confluence.measure.source import MeasuredBody, look
from indexer.confluence.parse.html_tree import FLATTENED
from indexer.confluence.parse.links import Context
from indexer.confluence.parse.text import clean, escape
from indexer.confluence.render.markdown import Renderer, Tables
from indexer.confluence.render.storage_elements import STORAGE
from indexer.confluence.rendered.rules import CLASSES, RENDERED

# Rendered HTML sometimes holds pieces of storage format and the other way round: one table for both.
TABLES = Tables({**STORAGE, **RENDERED, **MACRO_ELEMENTS, **ADF}, CLASSES)
CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
LOOKED_AT = 3000  # characters that tell the language
LETTERS = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Converted:
    markdown: str
    losses: tuple[Loss, ...] = ()
    counts: tuple[Count, ...] = ()
    dropped: tuple[Loss, ...] = ()  # left out on purpose, ``detail`` says why


def convert(body: _Element, context: Context) -> Converted:
    """The Markdown of a parsed body, whatever is inside it, and what of the source is in it; no input raises."""
    source, renderer, markdown = rendered(body, context)
    counts, lost = measure(source, renderer, markdown)
    return Converted(markdown, renderer.all_losses() + lost, counts, renderer.all_dropped())


def rendered(body: _Element, context: Context) -> tuple[MeasuredBody, Renderer, str]:
    """What the body holds, what the conversion says of each thing in it, and the Markdown."""
    source = look(body)
    renderer = Renderer(context, TABLES, russian=is_russian(source.text[:LOOKED_AT]))
    if body.get(FLATTENED):
        renderer.lose("nesting", "page", "nested too deeply for the parser: text only")
    try:
        markdown = renderer.inner(body).strip()
    except RecursionError:
        renderer.lose("nesting", "page", "nested too deeply: text only")
        markdown = escape(clean(source.text))
    return source, renderer, markdown


def is_russian(text: str) -> bool:
    """Whether most letters are Cyrillic."""
    return len(CYRILLIC.findall(text)) * 2 > len(LETTERS.findall(text))
