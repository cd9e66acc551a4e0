"""Parts of a line written once and for all: code, addresses, links, pictures. The rest is worked on around them.

Such a part stands in the text as its number between two NUL characters until all is done.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from askwiki.stages.citations.links import OWN_NAME, escape, host_of, in_brackets, in_markdown

_AFTER = ".,;:!?)*_~»"  # signs at an address's end that belong to the sentence
_READ_ON = re.compile(r"[.,;:!?)»*_]{0,20}+(?!\S)")
KEPT = re.compile(r"\x00(\d+)\x00")
_TELLS = re.compile(r"//|www\.|[\w.+-](?=@)|<(?=[a-z/!?@#$])|\](?=[(:])", re.IGNORECASE)
# In code, too, some readers see a label's end or a formula's beginning.
_OPENS = re.compile(r"\](?=\()|\$\$|:::|\\(?=\[)")
LIVE_TAG = re.compile(r"<(html|style|script|svg)>", re.IGNORECASE)  # what the chat looks for in any code, to run it
_APART = re.compile(rf"{_TELLS.pattern}|\.(?=\w)", re.IGNORECASE)
JOINER = "\u2060"  # seen by no person


class Piece(NamedTuple):
    """A finished part as it is shown, and its words alone, for a label that must not hold more."""

    shown: str
    words: str
    kind: str = ""  # code | picture


@dataclass(slots=True)
class Line:
    """What of the line under way bears on what follows it.

    After a bar in code a row of a table may be cut there, and code with it. Before a backslash that may open a formula
    (``clipped``) the chat's reader ends the paragraph for a moment: what then stands above a table's rule is its head.
    """

    barred: bool = False
    clipped: bool = False


@dataclass(slots=True)
class Writing:
    """One text under work: its finished parts, in the order in which they were met."""

    hosts: frozenset[str]  # where addresses may lead; among them whole addresses, to which links but no pictures may
    line: Line
    kept: list[Piece] = field(default_factory=list)

    def keep(self, shown: str, words: str = "", kind: str = "") -> str:
        """What stands for a finished part until the end."""
        self.kept.append(Piece(shown, words or shown, kind))
        return f"\x00{len(self.kept) - 1}\x00"

    def code(self, text: str) -> str:
        """A code span; see ``span`` for how it is written."""
        text = " ".join(self.words(text).split()).replace("`", "ˋ")
        if not text:
            return ""
        self.kept.append(Piece(LIVE_TAG.sub(r"<\1 >", OWN_NAME.sub("{ {", text)), text, "code"))
        return f"\x00{len(self.kept) - 1}\x00"

    def span(self, text: str) -> str:
        """Code as every reader takes it for code; where that is not sure, what is telling in it tells nothing."""
        bare = text.replace("\\\\", "").replace("\\|", "")
        self.line.barred = self.line.barred or "|" in bare
        self.line.clipped = self.line.clipped or "\\b" in text
        shown = _OPENS.sub(_apart, text)
        if self.line.barred and _TELLS.search(text):
            shown = _APART.sub(_apart, shown)
        return f"`{shown}`"

    def words(self, text: str) -> str:
        """``text`` with the words of what is kept in it."""
        return KEPT.sub(lambda match: self.kept[int(match[1])].words, text)

    def _may_lead_to(self, address: str) -> bool:
        host = host_of(address)
        return bool(host) and (host in self.hosts or address.strip() in self.hosts)

    def address(self, match: re.Match[str]) -> str:
        """A bare address: the wiki's as it is, with nothing behind it that a reader would add to it; others as code."""
        whole = match.group()
        address = whole.rstrip(_AFTER)
        rest = whole[len(address) :]
        if self._may_lead_to(address):
            safe = in_markdown(address)
            goes_on = _READ_ON.match(match.string, match.start() + len(address))
            return self.keep(safe) + ("" if goes_on else " ") + rest
        return self.code(address) + rest

    def link(self, picture: str, label: str, address: str) -> str:
        """A link or (``picture`` is "!") a picture: the wiki's with plain words as its label; of others the label."""
        if host_of(address) in self.hosts or (not picture and self._may_lead_to(address)):
            safe = in_markdown(address.strip())
            words = self.words(label)
            if picture:
                alt = in_brackets(escape(words)) if words.strip() else ""
                return self.keep(f"![{alt}]({safe})", alt or " ", "picture")
            inner = [self.kept[int(number)] for number in KEPT.findall(label)]
            pictures = "".join(piece.shown for piece in inner if piece.kind == "picture")
            return self.keep(f"[{pictures or in_brackets(escape(words if words.strip() else address))}]({safe})", words)
        if picture or not host_of(address):
            return label
        return f"{label} ({self.code(address)})"


def _apart(match: re.Match[str]) -> str:
    """A telling sign with something invisible in it, or before it."""
    sign = match.group()
    return f"{sign[:1]}{JOINER}{sign[1:]}" if len(sign) > 1 else f"{sign}{JOINER}"
