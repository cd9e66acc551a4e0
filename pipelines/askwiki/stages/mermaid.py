"""Diagrams of an answer, checked before they are shown: a broken one would be an error box in the chat."""

from __future__ import annotations

import re

CHARACTERS, LINES = 6_000, 200  # of one diagram; larger ones freeze the reader's browser
# Kinds that Mermaid draws, and whether brackets in it must pair (in the others they are free text or arrows).
_KINDS = {
    "graph": True,
    "flowchart": True,
    "classDiagram": True,
    "mindmap": True,
    "block-beta": True,
    "stateDiagram": False,
    "stateDiagram-v2": False,
    "sequenceDiagram": False,
    "erDiagram": False,
    "gantt": False,
    "pie": False,
    "journey": False,
    "timeline": False,
    "gitGraph": False,
    "quadrantChart": False,
    "requirementDiagram": False,
}
_PAIRS = {")": "(", "]": "[", "}": "{"}
_QUOTED = re.compile(r"\"[^\"\n]*\"")
_FORBIDDEN = re.compile(
    r"^\s*(?:click|link|links|callback|href)\s|%%\{|<\s*(?:script|img|iframe)|javascript:|\bimg\s*:|\burl\s*\(|@import",
    re.I | re.M,
)
# An arrow from nowhere or to nowhere; in a sequence also one that says nothing.
_LOOSE = re.compile(
    r"^\s*(?:--+[->ox]|==+[=>]|-\.+->?)|(?:--+[->ox]|==+[=>]|-\.+->?)\s*(?:\|[^|\n]*\|)?\s*;?\s*$", re.MULTILINE
)
_SILENT = re.compile(r"^\s*[^\s:][^:\n]*?--?>>?[+-]?\s*(?:[^:\n]*|:.*)$", re.MULTILINE)
_ARROWS = {"graph", "flowchart", "stateDiagram", "stateDiagram-v2"}
# A label with brackets in it must be in quotes: A[Заявка (новая)] is no diagram for Mermaid.
_LABEL = re.compile(r"(?P<node>\b\w+)\[(?P<label>[^\[\]\"/\\(][^\[\]\"]*?[(){}<>;][^\[\]\"]*)\]")


def check(diagram: str) -> str | None:
    """The diagram, mended where that is safe; None when it would not be drawn."""
    body = diagram.strip("\n")
    first = next((line.strip() for line in body.splitlines() if line.strip() and not line.strip().startswith("%%")), "")
    kind = re.split(r"[\s;:]", first, maxsplit=1)[0]
    if kind not in _KINDS or len(body) > CHARACTERS or body.count("\n") >= LINES or _FORBIDDEN.search(body):
        return None
    if len(body.strip().splitlines()) < 2 and ";" not in body:
        return None
    if (kind in _ARROWS and _LOOSE.search(body)) or (kind == "sequenceDiagram" and _SILENT.search(body)):
        return None
    if kind in ("graph", "flowchart"):
        body = _LABEL.sub(lambda match: f'{match["node"]}["{match["label"]}"]', body)
    return body if not _KINDS[kind] or _balanced(_QUOTED.sub('""', body)) else None


def _balanced(text: str) -> bool:
    waiting: list[str] = []
    for sign in text:
        if sign in _PAIRS.values():
            waiting.append(sign)
        elif sign in _PAIRS and (not waiting or waiting.pop() != _PAIRS[sign]):
            return False
    return not waiting and text.count('"') % 2 == 0
