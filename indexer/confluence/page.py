"""From the body of a page to its Markdown: the one entrance to the conversion."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml.etree import _Element

from askwiki.data import Loss
from indexer.confluence.links import Context
from indexer.confluence.markdown import Renderer, Tables
from indexer.confluence.rendered import CLASSES, RENDERED

TABLES = Tables(RENDERED, CLASSES)
CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
LETTERS = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Converted:
    markdown: str
    losses: tuple[Loss, ...] = ()


def convert(body: _Element, context: Context) -> Converted:
    """The Markdown of a parsed body, whatever is inside it; no input raises."""
    renderer = Renderer(context, TABLES, russian=is_russian(body))
    try:
        text = renderer.inner(body)
    except RecursionError:
        renderer.lose("nesting", "page", "nested too deeply: text only")
        text = " ".join("".join(body.itertext()).split())
    return Converted(text.strip("\n"), renderer.all_losses())


def is_russian(body: _Element) -> bool:
    """Whether most letters are Cyrillic (looked at in the first few thousand)."""
    letters = cyrillic = 0
    for text in body.itertext():
        cyrillic += len(CYRILLIC.findall(text))
        letters += len(LETTERS.findall(text))
        if letters > 2000:
            break
    return cyrillic * 2 > letters
