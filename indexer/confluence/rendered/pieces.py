"""The wiki's own rendering of a page as a store of pieces: what storage format only refers to."""

from __future__ import annotations

from collections import defaultdict

from lxml.etree import _Element

from indexer.confluence.parse.text import clean

# Macros that older versions render without naming them: class of the element they leave.
CLASSES = {"metadata-summary-macro": "detailssummary", "jira-table": "jira", "aui-jira-table": "jira"}


class RenderedMacros:
    """Elements of a rendered body by macro id, or by name and order where an id is missing; names of its people."""

    def __init__(self, view: _Element | None) -> None:
        self.people: dict[str, str] = {}
        self._by_id: dict[str, _Element] = {}
        self._by_name: dict[str, list[_Element]] = defaultdict(list)
        for node in view.iter() if view is not None else ():
            if isinstance(node.tag, str):
                self._learn(node)

    def find(self, name: str, number: int, macro_id: str) -> _Element | None:
        if macro_id and macro_id in self._by_id:
            return self._by_id[macro_id]
        found = self._by_name.get(name, [])
        if not 0 <= number < len(found):
            return None
        other = found[number].get("data-macro-id")
        return None if macro_id and other and other != macro_id else found[number]  # another id, another macro

    def _learn(self, node: _Element) -> None:
        login = node.get("data-username") or node.get("data-account-id")
        if login and (shown := clean("".join(node.itertext())).strip()):
            self.people[login] = shown
        name = node.get("data-macro-name")
        if not name:
            marks = (CLASSES[word] for word in (node.get("class") or "").split() if word in CLASSES)
            name = next(marks, "")
            if not name or any(above.get("data-macro-name") == name for above in node.iterancestors()):
                return
        self._by_name[name].append(node)
        if identity := node.get("data-macro-id"):
            self._by_id[identity] = node
