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
# Mermaid takes several statements on a line, tags, pictures and links in labels, and settings in comments; the chat
# draws with all of that allowed. So no statement that leads somewhere, no address and no tag but a line break.
_FORBIDDEN = re.compile(
    r"(?:^|[;{}\]])[ \t]*+(?:click|links?|callback|href)(?![\w-])|%%[ \t]*+\{|^[ \t]*+---[ \t]*+$|//|\bwww\.|\]\(|@\{"
    r"|\b(?:img|image|icon)[\"']?[ \t]*+:|(?:javascript|vbscript|mailto)[ \t]*+:|\burl[ \t]*+\(|@import"
    r"|<[/!?]?[a-z](?!r[ \t]*+/?>)|&#?\w++;|#(?!quot;|35;)\w++;|`",
    re.I | re.M,
)
_STEREOTYPE = re.compile(r"<<\w++>>")  # of a class, no tag
# An arrow from nowhere or to nowhere; in a sequence also one that says nothing.
_ARROW = r"(?:(?<!-)-{2,}+[>ox]|(?<!-)-{3,}+|(?<!=)={2,}+>|(?<!=)={3,}+|-\.++-++>?)"
_LOOSE = re.compile(rf"^[ \t]*+{_ARROW}|{_ARROW}[ \t]*+(?:\|[^|\n]*+\|[ \t]*+)?;?[ \t]*+$", re.MULTILINE)
_MESSAGE = re.compile(r"\A[^\s:][^:\n]*?--?>>?[+-]?(?P<after>.*)")
_ARROWS = {"graph", "flowchart", "stateDiagram", "stateDiagram-v2"}
# A label with brackets in it must be in quotes: A[Заявка (новая)] is no diagram for Mermaid.
_LABEL = re.compile(r"\b(?P<node>\w++)\[(?P<label>[^\[\]\"/\\(\n][^\[\]\"]*+)\]")
_SPECIAL = re.compile(r"[(){}<>;]")


def check(diagram: str) -> str | None:
    """The diagram, mended where that is safe; None when it would not be drawn."""
    body = diagram.strip("\n")
    first = next((line.strip() for line in body.splitlines() if line.strip() and not line.strip().startswith("%%")), "")
    kind = re.split(r"[\s;:]", first, maxsplit=1)[0]
    if kind not in _KINDS or len(body) > CHARACTERS or body.count("\n") >= LINES:
        return None
    if _FORBIDDEN.search(_STEREOTYPE.sub("", body)):
        return None
    if len(body.strip().splitlines()) < 2 and ";" not in body:
        return None
    if (kind in _ARROWS and _LOOSE.search(body)) or (
        kind == "sequenceDiagram" and any(map(_says_nothing, body.splitlines()))
    ):
        return None
    if kind in ("graph", "flowchart"):
        body = _LABEL.sub(_quoted, body)
    return body if not _KINDS[kind] or _balanced(_QUOTED.sub('""', body)) else None


def _says_nothing(line: str) -> bool:
    message = _MESSAGE.match(line.strip())
    said = message["after"].strip() if message else ""
    return message is not None and (":" not in said or said.startswith(":"))


def _quoted(match: re.Match[str]) -> str:
    label = match["label"]
    return f'{match["node"]}["{label}"]' if _SPECIAL.search(label[1:]) else match.group()


def _balanced(text: str) -> bool:
    waiting: list[str] = []
    for sign in text:
        if sign in _PAIRS.values():
            waiting.append(sign)
        elif sign in _PAIRS and (not waiting or waiting.pop() != _PAIRS[sign]):
            return False
    return not waiting and text.count('"') % 2 == 0
