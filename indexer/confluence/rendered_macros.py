"""The wiki's own rendering of a page as a store of pieces: what storage format only refers to."""

from __future__ import annotations

from collections import defaultdict

from lxml.etree import _Element

from indexer.confluence.html_tree import parse_fragment

# Macros that older versions render without naming them: class of the element they leave.
CLASSES = {"metadata-summary-macro": "detailssummary", "jira-table": "jira", "aui-jira-table": "jira"}


class RenderedMacros:
    """Elements of ``body.view`` or ``body.export_view`` by macro id, or by name and order."""

    def __init__(self, view: str) -> None:
        self._by_id: dict[str, _Element] = {}
        self._by_name: dict[str, list[_Element]] = defaultdict(list)
        if not view:
            return
        for node in parse_fragment(view).iter():
            if not isinstance(node.tag, str):
                continue
            name = node.get("data-macro-name")
            if not name:
                marks = (CLASSES[word] for word in (node.get("class") or "").split() if word in CLASSES)
                name = next(marks, "")
                if not name or self._inside(node, name):
                    continue
            self._by_name[name].append(node)
            if identity := node.get("data-macro-id"):
                self._by_id[identity] = node

    def find(self, name: str, number: int, macro_id: str) -> _Element | None:
        if macro_id and macro_id in self._by_id:
            return self._by_id[macro_id]
        found = self._by_name.get(name, [])
        return found[number] if 0 <= number < len(found) else None

    @staticmethod
    def _inside(node: _Element, name: str) -> bool:
        return any(above.get("data-macro-name") == name for above in node.iterancestors())
