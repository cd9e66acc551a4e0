"""Bytes of an HTML file -> an lxml tree, whatever their encoding and however broken the tags."""

from __future__ import annotations

import codecs
import re
from html import unescape

from lxml import etree, html
from lxml.etree import _Element

from indexer.confluence.parse.text import permitted

DECLARED = re.compile(rb"charset\s*+=\s*+[\"']?\s*+([\w.-]++)", re.IGNORECASE)
LEGACY = "cp1251"  # what Russian pages were written in before UTF-8
FLATTENED = "data-askwiki-flattened"  # on a body of which only the words could be read
END = 4096  # characters at the end of a file among which its last tag stands
TOLERATED = 0.01  # share of broken characters up to which a text is still UTF-8 with faults


def decode(data: bytes) -> tuple[str, int]:
    """The text and how many of its characters could not be read."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            text = data.decode(encoding, "replace")
            return text, text.count("\ufffd")
    try:
        return data.decode("utf-8"), 0
    except UnicodeDecodeError:
        pass
    lenient = data.decode("utf-8", "replace")
    broken = lenient.count("\ufffd")
    if broken <= TOLERATED * len(lenient):
        return lenient, broken
    declared = DECLARED.search(data[:4096])
    for encoding in (declared[1].decode("ascii") if declared else "", LEGACY, "latin-1"):
        try:
            return data.decode(encoding), 0
        except (LookupError, UnicodeDecodeError):
            continue
    return lenient, broken


def has_end(data: bytes) -> bool:
    """Whether a whole document has its last tag."""
    return "</html" in decode(data)[0][-END:].casefold()


def is_piece(data: bytes) -> bool:
    """Whether a text opens no document, so that it needs no last tag."""
    return "<html" not in decode(data)[0].casefold()


def parse_document(text: str) -> _Element:
    """The root of a whole HTML document; an empty one has an empty body."""
    text = permitted(text)
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        root = html.document_fromstring(text.encode("utf-8"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, AssertionError):
        return html.document_fromstring(b"<body></body>", parser=etree.HTMLParser(encoding="utf-8"))
    if any("xcessive depth" in entry.message for entry in parser.error_log):
        return _flattened(text)
    return root


def _flattened(text: str) -> _Element:
    """The words of a document nested more deeply than the parser goes; it would drop the rest in silence."""
    root = html.document_fromstring(b"<body></body>", parser=etree.HTMLParser(encoding="utf-8"))
    body = root.find("body")
    body.text = unescape(re.sub(r"<[^<>]*>", " ", text))
    body.set(FLATTENED, "yes")
    return root


def parse_fragment(text: str) -> _Element:
    """A piece of rendered HTML (``body.view``) as the content of one element."""
    root = parse_document(f"<html><body>{text}</body></html>")
    body = root.find("body")
    return root if body is None else body
