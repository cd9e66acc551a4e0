"""The base of the conversion: markdownify's rules, run over an lxml tree.

markdownify walks a BeautifulSoup tree, whose building alone costs more time than the rest. Here its
walk is replaced by one over lxml's tree (about thirty times faster to parse), its rules for tags
(``convert_*``) stay where they do not look at the tree. What Confluence adds is in two tables:
``ELEMENTS`` (tag name -> function) and ``CLASSES`` (class of rendered HTML -> function).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lxml.etree import _Element
from markdownify import MarkdownConverter

from askwiki.data import Loss
from indexer.confluence.parse.links import Context
from indexer.confluence.parse.text import clean, escape, escape_line_start
from indexer.confluence.render.meeting import MEETING, meet

How = Literal["shown", "marked", "dropped"]
Handler = Callable[["Renderer", _Element, frozenset[str]], str | None]

MAXIMUM_DEPTH = 110  # elements; deeper ones give their text only (up to 7 of Python's 1,000 frames each)
BREAK = "  \n"  # a line break inside a paragraph
BLOCKS = frozenset(
    {"div", "li", "td", "th", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "dd", "dt", "section", "article"}
)
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a thing of the source; ``said`` = how it is written in the Markdown, or why it is left out."""

    how: How
    said: str


class Numbering(Protocol):
    def next(self, level: int) -> str:
        """What stands before the next heading of this level."""
        ...


@dataclass(frozen=True, slots=True)
class Tables:
    """What Confluence adds to HTML; a function that returns None leaves the element to markdownify."""

    elements: Mapping[str, Handler]
    classes: Mapping[str, Handler]


class Renderer(MarkdownConverter):
    """Markdown of one page. ``losses`` collects what could not be carried over."""

    def __init__(self, context: Context, tables: Tables, *, russian: bool = False) -> None:
        super().__init__(heading_style="atx", bullets="-", newline_style="spaces")
        self.context = context
        self.tables = tables
        self.russian = russian  # the language of the few words that conversion must add
        self.losses: Counter[tuple[str, str, str]] = Counter()
        # (kind, node) -> what came of each thing of the page itself
        self.accounts: dict[tuple[str, _Element], Outcome] = {}
        self.marks: list[str] = []  # written, and not yet said to stand for a thing
        self.brought = 0  # pieces of other pages, or of the wiki's rendering, so far
        self.foreign = 0  # > 0 while a piece of another page, or of the wiki's rendering, is brought in
        self.skipped: set[_Element] = set()  # what a rule has written already
        self.dropped: Counter[tuple[str, str, str]] = Counter()  # left out on purpose: kind, name, reason
        self.seen: Counter[str] = Counter()  # macros by name, in document order
        self.made: Counter[str] = Counter()  # tables, rows, links, … that reached the Markdown
        self.signs: dict[_Element, str] = {}  # behind the numbers of each ordered list
        self.held: list[str] = []  # blocks that cannot stand in a table cell and follow below the table
        self.numbers: Numbering | None = None  # of headings, inside a macro that numbers them
        self.including: tuple[str, ...] = ()  # guard against include loops
        self._depth = 0
        self._fresh = True  # the next character stands at the beginning of a line
        self._inside: dict[tuple[frozenset[str], str], frozenset[str]] = {}

    def lose(self, kind: str, name: str, detail: str = "") -> None:
        self.losses[kind, name, detail] += 1

    def account(self, kind: str, node: _Element, said: str, how: How = "shown") -> None:
        """A thing of the page is in the Markdown as ``said``, or a mark stands for it; dropped: ``said`` is why."""
        if self.foreign or self.including:
            return
        self.accounts[kind, node] = Outcome(how, said)
        if how == "dropped":
            self.drop(kind, "", said)

    def drop(self, kind: str, name: str, reason: str) -> None:
        """Something of the page that is left out on purpose; the ledger tells how much, and why."""
        self.dropped[kind, name, reason] += 1

    def all_dropped(self) -> tuple[Loss, ...]:
        return tuple(Loss(kind, name, count, reason) for (kind, name, reason), count in self.dropped.items())

    def all_losses(self) -> tuple[Loss, ...]:
        return tuple(Loss(kind, name, count, detail) for (kind, name, detail), count in self.losses.items())

    def process_tag(self, node: _Element, parent_tags: frozenset[str] = NOTHING) -> str:
        """The Markdown of one element: our table, else markdownify's rule for the tag, else its content."""
        name = tag_name(node)
        if node in self.skipped:
            return ""
        if self._depth >= MAXIMUM_DEPTH:
            self.lose("nesting", name, f"deeper than {MAXIMUM_DEPTH} elements: text only")
            return escape(clean("".join(node.itertext())))
        self._depth += 1
        marks, gone = len(self.marks), self.dropped.total()
        try:
            own = self._own(name, node, parent_tags)
            if own is None:  # else markdownify's rule for the tag, else its content; one frame less than a function
                if name in BLOCKS:
                    self.start_line()
                text: str = self.inner(node, parent_tags)
                rule = self.get_conv_fn_cached(name)  # type: ignore[attr-defined]  # not in its stubs
                text = rule(node, text, parent_tags) if rule else text
            else:
                text = own
        finally:
            self._depth -= 1
        if node.get("data-macro-name") is not None:
            self._account_rendered(node, text, marks, dropped=self.dropped.total() > gone)
        return text

    def _account_rendered(self, node: _Element, text: str, marks: int, *, dropped: bool) -> None:
        """What came of a macro that the wiki has rendered and named."""
        if len(self.marks) > marks:
            self.account("macros", node, text, "marked")
            del self.marks[marks:]
        elif text.strip():
            self.account("macros", node, "")
        elif dropped and not (self.foreign or self.including):
            self.accounts["macros", node] = Outcome("dropped", "")
        else:
            self.account("macros", node, "empty", "dropped")

    def inner(self, node: _Element, parent_tags: frozenset[str] = NOTHING) -> str:
        """The Markdown of what is inside: blocks apart by one empty line, words by one blank."""
        name = tag_name(node)
        if name in ("td", "th"):
            self.account("cells", node, "")
        tags = self._tags(parent_tags, name)
        pieces: list[str] = []
        if node.text:
            self._join(pieces, self.process_text(node.text, tags), tags)
        for child in node:
            if isinstance(child.tag, str):
                self._join(pieces, self.process_tag(child, tags), tags)
            if child.tail:
                self._join(pieces, self.process_text(child.tail, tags), tags)
        return "".join(pieces)

    def process_text(self, text: str, parent_tags: frozenset[str] = NOTHING) -> str:
        if "pre" in parent_tags:
            return text
        text = clean(text)
        if "_noformat" in parent_tags:
            return text
        escaped = escape(text)
        if self._fresh and "_inline" not in parent_tags:
            escaped = escape_line_start(escaped)
        return escaped

    def mark(self, name: str) -> str:
        """What stands in the text for a macro whose content is only in the wiki."""
        named = f" {name}" if name else ""
        self.marks.append(self.word(f"\\[macro{named}: see the wiki]", f"\\[макрос{named}: см. в вики]"))
        return self.marks[-1]

    def word(self, english: str, russian: str) -> str:
        """One of the few words that the conversion adds, in the language of the page."""
        return russian if self.russian else english

    def start_line(self) -> None:
        """A block begins: what looks like a Markdown mark there must be escaped."""
        self._fresh = True

    def within(self, tags: frozenset[str], *marks: str) -> frozenset[str]:
        """The tags as the content of an element, or of something we mark ourselves, sees them."""
        for mark in marks:
            tags = self._tags(tags, mark)
        return tags

    def _own(self, name: str, node: _Element, parent_tags: frozenset[str]) -> str | None:
        classes = node.get("class")
        if classes:
            for word in classes.split():
                meaning = self.tables.classes.get(word)
                text = meaning(self, node, parent_tags) if meaning else None
                if text is not None:
                    return text
        rule = self.tables.elements.get(name)
        return rule(self, node, parent_tags) if rule else None

    def _join(self, pieces: list[str], piece: str, tags: frozenset[str]) -> None:
        """Append, with at most one empty line or one blank where two pieces meet."""
        if not piece:
            return
        if "pre" in tags:
            pieces.append(piece)
            return
        last = pieces[-1] if pieces else ""
        if piece[0] == "\n":
            if last:
                trimmed = last.rstrip()
                before = len(last.rstrip(" ")) - len(last.rstrip(" ").rstrip("\n"))
                pieces[-1] = trimmed
                after = len(piece) - len(piece.lstrip("\n"))
                piece = "\n" * min(2, max(before, after)) + piece[after:]
        elif last and last[-1] in " \n":
            if piece.startswith(BREAK) and last[-1] == " ":
                pieces[-1] = last.rstrip(" ")
            elif piece == BREAK and last.endswith("\n\n"):  # a break behind a block breaks nothing
                piece = ""
            else:
                piece = piece.lstrip(" ")
        elif last and piece[0] in MEETING:
            pieces[-1], piece = meet(last, piece)
        if piece:
            pieces.append(piece)
            self._fresh = piece[-1] == "\n" or (self._fresh and not piece.strip())

    def _tags(self, parent_tags: frozenset[str], name: str) -> frozenset[str]:
        key = (parent_tags, name)
        found = self._inside.get(key)
        if found is None:
            extra = {name}
            if re.fullmatch(r"h\d", name):
                extra.add("_inline")
            if name in ("pre", "code", "kbd", "samp", "tt"):
                extra.add("_noformat")
            found = self._inside[key] = parent_tags | extra
        return found


_names: dict[str, str] = {}


def tag_name(node: _Element) -> str:
    """``ac:link`` for ``{http://…/ac}link``, ``p`` for ``p``."""
    tag: Any = node.tag
    name = _names.get(tag)
    if name is None:
        namespace, braced, local = str(tag).removeprefix("{").rpartition("}")
        prefix = namespace.rstrip("/").rpartition("/")[2]
        name = _names[tag] = (f"{prefix}:{local}" if prefix else local) if braced else tag.lower()
    return name
