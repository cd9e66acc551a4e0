"""The wiki's own rendering of a page as a store of pieces: what storage format only refers to.

A piece belongs to a macro by its id. By order only where nothing else can be meant: as many pieces of a name are
left as macros of that name, no two ids contradict each other, and no included page has put its pieces among them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml.etree import _Element

from indexer.confluence.parse.text import clean
from indexer.confluence.render.macro import attribute, identities, read_macro
from indexer.confluence.render.markdown import tag_name

# Macros that older versions render without naming them: class of the element they leave.
CLASSES = {"metadata-summary-macro": "detailssummary", "jira-table": "jira", "aui-jira-table": "jira"}
SAME = {"jiraissues": "jira"}  # the older name of a macro
INCLUDES = frozenset({"include", "excerpt-include", "multiexcerpt-include", "multiexcerpt-include-macro"})
MACROS = frozenset({"ac:structured-macro", "ac:macro", "ac:adf-extension"})


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A macro of the page, or an element of its rendering."""

    name: str
    ids: frozenset[str]
    node: _Element


class RenderedMacros:
    """What of a rendered body belongs to which macro of the stored one; the names of its people."""

    def __init__(self, view: _Element | None, stored: _Element | None = None) -> None:
        self.people: dict[str, str] = {}
        self._found: dict[_Element, _Element] = {}
        if view is None:
            return
        for node in view.iter():
            if isinstance(node.tag, str):
                self._learn_person(node)
        if stored is not None:
            self._join(list(_macros(stored)), list(_pieces(view)))

    def find(self, macro: _Element) -> _Element | None:
        """The rendering of a macro of the stored body, None when it cannot be told."""
        return self._found.get(macro)

    def _learn_person(self, node: _Element) -> None:
        login = node.get("data-username") or node.get("data-account-id")
        if login and (shown := clean("".join(node.itertext())).strip()):
            self.people[login] = shown

    def _join(self, macros: Sequence[Piece], pieces: Sequence[Piece]) -> None:
        by_id = {identity: piece for piece in reversed(pieces) for identity in piece.ids}
        for macro in macros:
            if piece := next((by_id[identity] for identity in sorted(macro.ids) if identity in by_id), None):
                self._found[macro.node] = piece.node
        taken = set(self._found.values())
        includes = {piece.node for piece in pieces if piece.name in INCLUDES}
        left = [macro for macro in macros if macro.node not in self._found]
        rest = [
            piece for piece in pieces if piece.node not in taken and includes.isdisjoint(piece.node.iterancestors())
        ]  # what stands in an included page belongs to that page
        self._by_order(_by_name(left), _by_name(rest), delimited=len(includes) >= _count(macros, INCLUDES))

    def _by_order(self, macros: dict[str, list[Piece]], pieces: dict[str, list[Piece]], *, delimited: bool) -> None:
        for name, wanted in macros.items():
            there = pieces.get(name, [])
            other = any(one.ids and two.ids for one, two in zip(wanted, there, strict=False))  # and they differ
            if len(wanted) == len(there) and not other and (delimited or name in INCLUDES):
                self._found.update((one.node, two.node) for one, two in zip(wanted, there, strict=True))


def _by_name(pieces: Sequence[Piece]) -> dict[str, list[Piece]]:
    found: dict[str, list[Piece]] = defaultdict(list)
    for piece in pieces:
        found[piece.name].append(piece)
    return found


def _count(pieces: Sequence[Piece], names: frozenset[str]) -> int:
    return sum(piece.name in names for piece in pieces)


def _macros(stored: _Element) -> Iterator[Piece]:
    """A single issue is no piece of its own: only lists of issues are matched by order."""
    for node in stored.iter():
        if not isinstance(node.tag, str) or tag_name(node) not in MACROS:
            continue
        name = attribute(node, "name").lower()
        single = name in ("jira", "jiraissues") and bool(read_macro(node).get("key", "issuekey"))
        yield Piece("jira issue" if single else SAME.get(name, name), identities(node), node)


def _pieces(view: _Element) -> Iterator[Piece]:
    for node in view.iter():
        if not isinstance(node.tag, str):
            continue
        words = (node.get("class") or "").split()
        name = (node.get("data-macro-name") or "").lower()
        if not name:
            name = next((CLASSES[word] for word in words if word in CLASSES), "")
            if not name and not identities(node):
                continue
            if name and any(above.get("data-macro-name") == name for above in node.iterancestors()):
                continue
        yield Piece("jira issue" if "jira-issue" in words else SAME.get(name, name), identities(node), node)
