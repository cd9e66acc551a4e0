"""Storage format -> an lxml tree.

A body is a fragment: several roots, undeclared prefixes, HTML entities, CDATA. No parser takes it as
it is, so CDATA and entities become plain characters first, then a strict parser reads it; what that
refuses is mended, never cut off.
"""

from __future__ import annotations

import html
import re
from html.entities import html5

from lxml import etree
from lxml.etree import _Element

from askwiki.data import Loss
from indexer.confluence.parse.repair import mend
from indexer.confluence.parse.text import permitted

SECTION = re.compile(
    r"<!--.*?(?:-->|\Z)"  # <!-- a comment -->
    r"|<!\[CDATA\[(.*?)(?:\]\]>|\Z)"  # <![CDATA[code]]>
    r"|<\?(?:[^?<]|\?(?!>))*+\?>"  # <?xml version="1.0"?>
    r"|<!DOCTYPE[^\[<>]*+(?:\[[^\[\]]*+\]\s*+)?>",  # <!DOCTYPE page [<!ENTITY nbsp "&#160;">]>
    re.DOTALL,
)
ENTITY = re.compile(r"&(#[0-9]+;|#[xX][0-9a-fA-F]+;|[A-Za-z][A-Za-z0-9]*;)?")
PREFIX = re.compile(r"(?:</?|\s)([A-Za-z_][\w.-]*):[A-Za-z_]")
XML_ENTITIES = frozenset({"lt;", "gt;", "amp;", "quot;", "apos;"})
# An XML export writes each "]]>" inside a body as "]] >"; code may hold "]] >" of its own (``a[b[0]] > 5``).
SPACED_END = re.compile(r"\]\] >(?=\s*(?:</ac:|\Z)|<!\[CDATA\[)")
# Names of languages that a tool has declared: here each prefix stands for itself, and no prefix for HTML.
DECLARATION = re.compile(r"\sxmlns(?::[\w.-]+)?\s*=\s*(?:\"[^\"]*\"|'[^']*')")
HALVES = re.compile(r"&#(5[56]\d{3});&#(5[67]\d{3});")  # one character, referred to as two of UTF-16
ANY_TAG = re.compile(r"<[^<>]*>")


def parse_storage(text: str) -> tuple[_Element, tuple[Loss, ...]]:
    """The content under one root, tags named ``{ac}link`` and so on; losses say what had to be mended."""
    text = permitted(SPACED_END.sub("]]>", text))
    plain = ENTITY.sub(_entity, HALVES.sub(_joined, SECTION.sub(_section, text)))
    if "xmlns" in plain:
        plain = ANY_TAG.sub(lambda tag: DECLARATION.sub("", tag.group()), plain)
    root = _parse(plain)
    if root is not None:
        return root, ()
    mended = _parse(mend(plain))
    if mended is not None:
        return mended, (Loss("markup", "broken tags", detail="mended before the conversion"),)
    words = ANY_TAG.sub(" ", plain)
    root = etree.Element("body")
    root.text = html.unescape(words)
    return root, (Loss("markup", "unreadable", detail="nested too deeply or broken: text only"),)


def _parse(text: str) -> _Element | None:
    declared = {prefix for prefix in PREFIX.findall(text) if not prefix.lower().startswith("xml")}
    spaces = "".join(f' xmlns:{prefix}="{prefix}"' for prefix in sorted(declared))
    parser = etree.XMLParser(huge_tree=True, resolve_entities=False, no_network=True, remove_comments=True)
    try:
        return etree.fromstring(f"<body{spaces}>{text}</body>".encode(), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _joined(match: re.Match[str]) -> str:
    high, low = int(match[1]), int(match[2])
    whole = 0xD800 <= high < 0xDC00 <= low < 0xE000
    return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00) if whole else match.group()


def _section(match: re.Match[str]) -> str:
    """CDATA as escaped text (two neighbouring sections join of themselves); comments go."""
    return html.escape(match[1], quote=False) if match[1] is not None else ""


def _entity(match: re.Match[str]) -> str:
    """A character for an entity that XML does not know; a bare "&" is escaped."""
    name = match[1]
    if name is None:
        return "&amp;"
    if name in XML_ENTITIES:
        return match.group()
    character = html.unescape(match.group()) if name.startswith("#") else html5.get(name)
    if character is None:
        return f"&amp;{name}"
    return html.escape(permitted(character), quote=False)
