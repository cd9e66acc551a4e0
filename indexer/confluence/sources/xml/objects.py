"""``entities.xml`` as a stream of its objects, one in memory at a time, forbidden characters mended on the way."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO

from lxml import etree
from lxml.etree import _Element

from askwiki.errors import SourceError
from indexer.confluence.parse.text import FORBIDDEN, permitted
from indexer.confluence.sources.xml.faults import faults_of
from indexer.sources import not_whole

BLOCK = 1 << 18  # bytes read at once
# References to characters that XML forbids; a parser stops at them.
BAD_REFERENCE = re.compile(r"&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|[xX]0*(?:[0-8bBcCeEfF]|1[0-9a-fA-F]));")
SECTION = "<![CDATA["
BORDER = re.compile(r"(<!\[CDATA\[|\]\]>)")
WARNING = 1  # level of libxml2 above which something of the file was not understood
END_LENGTH = 200  # characters in which the last tag of the file is looked for
# What the next block may go on with: a reference, or the border of a section.
CUT_OFF = re.compile(r"(?:&[^;&]*|<(?:!(?:\[(?:C(?:D(?:A(?:T(?:A)?)?)?)?)?)?)?|\]{1,2})\Z")
REFERENCE_LENGTH = 12  # characters that may be the beginning of a reference at the end of a block


@dataclass(frozen=True, slots=True)
class Reference:
    """A property that points to another object."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class Entity:
    """One object: its class, its id, its properties (a text or a reference) and what its collections hold."""

    kind: str
    id: str
    texts: dict[str, str]
    references: dict[str, Reference]
    lists: dict[str, tuple[Reference, ...]] = field(default_factory=dict)
    odd: frozenset[str] = frozenset()  # properties that hold something else than a text or a reference

    def text(self, *names: str) -> str:
        return next((value for name in names if (value := self.texts.get(name, ""))), "")

    def reference(self, *names: str) -> str:
        """The id that the first of these properties points to."""
        return next((found.id for name in names if (found := self.references.get(name)) and found.id), "")

    def listed(self, *names: str) -> tuple[str, ...]:
        """The ids that these collections hold."""
        return tuple(found.id for name in names for found in self.lists.get(name, ()))


class CleanStream:
    """A binary file as valid UTF-8 without the characters that XML forbids."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._kept = ""
        self._end = ""
        self._literal = False  # inside a CDATA section, where a reference is only text
        self.mended = 0  # characters that were taken out

    @property
    def whole(self) -> bool:
        """Whether the file has its last tag."""
        return self._end.rstrip().endswith("</hibernate-generic>")

    def read(self, size: int = BLOCK) -> bytes:
        while True:
            block = self._file.read(max(size, BLOCK))
            text = self._kept + self._decoder.decode(block, final=not block)
            self._kept = ""
            cut = CUT_OFF.search(text, max(0, len(text) - REFERENCE_LENGTH)) if block else None
            if cut:
                text, self._kept = text[: cut.start()], cut.group()
            if FORBIDDEN.search(text):
                self.mended += len(FORBIDDEN.findall(text))
                text = permitted(text)
            text = self._without_bad_references(text)
            if text or not block:
                self._end = (self._end + text)[-END_LENGTH:]
                return text.encode()

    def _without_bad_references(self, text: str) -> str:
        """Text of a section stays as it is: a page may tell of such references in its code."""
        if "&#" not in text or not BAD_REFERENCE.search(text):
            opened, closed = text.rfind(SECTION), text.rfind("]]>")
            self._literal = opened > closed or (opened == closed and self._literal)
            return text
        pieces = BORDER.split(text)
        for number, piece in enumerate(pieces):
            if piece == SECTION or piece == "]]>":
                self._literal = piece == SECTION
            elif not self._literal and "&#" in piece:
                pieces[number], count = BAD_REFERENCE.subn("", piece)
                self.mended += count
        return "".join(pieces)


def read_entities(file: IO[bytes], wanted: frozenset[str], fault: Callable[[str], None]) -> Iterator[Entity]:
    """Every object of a wanted class in file order; ``fault`` is told of what had to be mended.

    A file that lost a part of its structure raises SourceNotWhole behind the last object: what came before
    must not be used.
    """
    stream = CleanStream(file)
    found_root = False
    broken: list[str] = []
    events = etree.iterparse(
        stream, events=("end",), tag=("object", "hibernate-generic"), huge_tree=True, recover=True,
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True,
    )  # fmt: skip
    try:
        for _, element in events:
            found_root = found_root or element.tag == "hibernate-generic" or element.get("class") in wanted
            if element.tag == "hibernate-generic":
                continue
            broken += faults_of(element, wanted)
            if element.get("class") in wanted:
                yield _entity(element)
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError as error:
        if not found_root:
            raise SourceError(f"entities.xml is not the file of a Confluence XML export ({error}).") from error
        broken.append(f"broken XML: {error}")
    if not found_root:
        raise SourceError("entities.xml is not the file of a Confluence XML export: it holds no objects.")
    if not stream.whole:
        broken.insert(0, "it breaks off before its last tag, </hibernate-generic>")
    broken += [f"line {entry.line}: {entry.message}" for entry in events.error_log if entry.level > WARNING]
    if broken:
        raise not_whole("entities.xml", broken)
    if stream.mended:
        fault(f"{stream.mended} characters that XML forbids were taken out")


def _entity(element: _Element) -> Entity:
    texts: dict[str, str] = {}
    references: dict[str, Reference] = {}
    lists: dict[str, tuple[Reference, ...]] = {}
    odd: set[str] = set()
    identity = ""
    for child in element:
        name = child.get("name") or ""
        if child.tag == "id" and not identity:
            identity = (child.text or "").strip()
        elif child.tag == "property":
            target = child.find("id")
            if target is not None:
                references[name] = Reference(child.get("class") or "", (target.text or "").strip())
            elif len(child):
                odd.add(name)
            if target is None and child.text:
                texts[name] = child.text
        elif child.tag == "collection":
            held = ((one, one.find("id")) for one in child)
            lists[name] = tuple(
                Reference(one.get("class") or "", (key.text or "").strip()) for one, key in held if key is not None
            )
    return Entity(element.get("class"), identity, texts, references, lists, frozenset(odd))
