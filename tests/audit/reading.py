"""A page or a quotation as the atoms that a reader sees in order: paragraphs, items, rows, lines of code, headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

_READER = MarkdownIt("commonmark").enable("table")
_TARGET = re.compile(r"(?<!\\)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)|\]\[[^\[\]]*\]|\bhttps?://[^\s)`>\]]+")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:[ \t]+\S+[ \t]*$", re.MULTILINE)  # where the links of a name lead
_SIGN = re.compile(r"[\W_]+")
_BOLD = re.compile(r"\*\*(?:(?!\*\*).)+\*\*:?")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+(?=[^\s\da-zа-яё])")
_COMMENT = re.compile(r"\s*<!--(?:(?!-->).)*-->\s*", re.DOTALL)
GAP = "…"
_CUT = re.compile(r"\W*(?:показан|shown)\D*\d[^.\n]*\b(?:из|of)\s+(\d+)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Atom:
    """One thing that a reader sees. ``group``: its table, top-level list or block of code; 0 = none."""

    kind: str  # text | item | row | code | heading | gap | cut
    raw: str
    text: str  # letters and digits only, in one case
    group: int = 0
    place: int = 0  # of the item of the top-level list, or of the row; a table's header is 0
    number: int = 0  # that an item of an ordered list shows; of a line of code, how many lines there are
    level: int = 0  # of a heading; of an item, how deep its list lies
    noted: bool = False  # in a quotation of the page
    path: tuple[tuple[int, int], ...] = ()  # of each list about it, outermost first: number, the item's place

    @property
    def leads(self) -> bool:
        """Whether a reader expects something after it."""
        return self.kind in ("text", "item") and self.raw.rstrip(" *_`\n").endswith(":")

    @property
    def subheading(self) -> bool:
        return self.kind == "text" and not (self.group or self.noted) and _BOLD.fullmatch(self.raw.strip()) is not None


def letters(text: str) -> str:
    """What is compared: no marks, no addresses, no signs."""
    return _SIGN.sub("", _TARGET.sub("]", text).replace("\\", "")).lower()


def sentences(atom: Atom) -> list[str]:
    return _SENTENCE.split(atom.raw)


def atoms(markdown: str) -> list[Atom]:
    """All atoms in order; those that hold no letter or digit are left out, but the marks of a gap."""
    return [piece for atom in _all(markdown) for piece in _pieces(atom) if piece.text or piece.kind == "gap"]


def _pieces(atom: Atom) -> Iterator[Atom]:
    """An atom cut at the marks of gaps inside it."""
    parts = re.split(r"(?:^|(?<=\s))…(?=\s|$)", atom.raw) if GAP in atom.raw and atom.kind in ("text", "item") else []
    if len(parts) < 2:
        cut = atom.kind == "text" and _CUT.match(atom.raw)
        yield replace(atom, kind="cut", number=int(cut[1])) if cut else atom
        return
    for count, part in enumerate(parts):
        if count:
            yield Atom("gap", GAP, "")
        if part.strip():
            yield replace(atom, raw=part.strip(), text=letters(part))


def _all(markdown: str) -> Iterator[Atom]:
    tokens = _READER.parse(markdown)
    lists: list[list[int]] = []  # of each open list: its number, the next item's place, the number it shows, ordered
    groups, group, row, first, level = 0, 0, 0, False, 0
    cells: list[str] = []
    notes = 0
    for token in tokens:
        match token.type:
            case "blockquote_open" | "blockquote_close":
                notes += token.nesting
            case "bullet_list_open" | "ordered_list_open":
                groups += 1
                ordered = token.type == "ordered_list_open"
                lists.append([groups, -1, int(token.attrGet("start") or 1) - 1 if ordered else 0, int(ordered)])
            case "bullet_list_close" | "ordered_list_close":
                lists.pop()
            case "list_item_open":
                lists[-1][1] += 1
                lists[-1][2] += 1
                first = True
            case "table_open":
                groups, row = groups + 1, 0
                group = groups
            case "table_close":
                group = 0
            case "tr_open":
                cells = []
            case "tr_close":
                raw = " | ".join(cells)
                yield Atom("row", raw, letters(raw), group, row, path=_path(lists))
                row += 1
            case "heading_open":
                level = int(token.tag[1:])
            case "heading_close":
                level = 0
            case "inline" if group:
                cells.append(token.content)
            case "inline" if level:
                yield Atom("heading", token.content, letters(token.content), level=level)
            case "inline":
                yield replace(_paragraph(token, lists, first), noted=notes > 0)
                first = False
            case "html_block" if not _COMMENT.fullmatch(token.content):  # nobody reads a comment
                yield _paragraph(token, lists, False)
            case "fence" | "code_block":
                groups += 1
                lines = token.content.splitlines()
                for place, line in enumerate(lines):
                    kind = "gap" if line.strip() == GAP else "code"
                    yield Atom(kind, line, letters(line), groups, place, len(lines), path=_path(lists))


def _paragraph(token: Token, lists: list[list[int]], first: bool) -> Atom:
    raw = _DEFINITION.sub("", token.content)
    text = letters(raw)
    if not lists:
        return Atom("text", raw, text)
    number = lists[-1][2] if lists[-1][3] else 0
    kind = "item" if first else "text"
    return Atom(kind, raw, text, lists[0][0], lists[0][1], number if first else 0, len(lists), path=_path(lists))


def _path(lists: list[list[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((of[0], of[1]) for of in lists)
