"""Streamed text, checked sentence by sentence before it leaves: what the chat has shown cannot be taken back.

Text is held only until its sentence, line or table row ends; a diagram until its block is closed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from askwiki.stages.links import harmless
from askwiki.stages.mermaid import check
from askwiki.stages.support import Known, supporting

MOST_HELD = 700  # characters of a sentence without an end; then a blank is end enough
LONGEST_UNIT = 2 * MOST_HELD  # characters; then text leaves with a bracket open too: a bracket may never be closed
_BEFORE = 100  # characters before new text in which the end of a sentence may begin
_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?:[-*+>]\s+|\d+[.)]\s+)?(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)\n?\Z")
_MARKER = re.compile(r"[ \u00a0]?\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\](?!\()")
_MARKERS = re.compile(r"(?:[ \u00a0]?\[\d{1,3}(?:\s*[,;]\s*\d{1,3})*\](?!\())+")
# Other ways in which models write a marker; a range; a marker that leads somewhere is one whose address nobody checked.
_ODD_MARKER = re.compile(
    r"【(\d{1,3})[^】\n]{0,40}】|\[\^(\d{1,3})\](?!:)|\[\[(\d{1,3})\]\]|\[(\d{1,3})\]\([^()\s]*\)"
    r"|\[(?:источник|source)?[ \u00a0:№#]{0,3}(\d{1,3})\](?!\()",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\[(\d{1,3})\s?[-–—]\s?(\d{1,3})\](?!\()")
MOST_IN_RANGE = 12  # passages that one range names; a longer one is no range of sources
_WORD = re.compile(r"\w")
_CODE_SPAN = re.compile(r"(`+[^`\n]*`+)")
# What the chat would run as a live page beside the answer: code blocks of these kinds, these tags in any code.
_LIVE = {"html", "svg", "xhtml", "htm", "css", "js", "javascript", "jsx", "ts", "typescript", "vue", "svelte"}
_LIVE_TAG = re.compile(r"<(html|style|script|svg)>", re.IGNORECASE)
# The end of a sentence: its sign, closing quotes, markers after it; then a blank and what may begin the next one.
_END = re.compile(
    r"(?<!\b\w)(?<!\b\w\w)(?<![.!?…])[.!?…]+[»\")*_]*(?:[ \u00a0]?(?:\[\^?[\d,; –-]+\]|【[^】\n]*】))*[ \t]+"
    r"(?=[^\s\[【a-zа-яё\d])",
    re.DOTALL,
)
_INDENT_OF_CODE = 4  # columns from which a renderer may not take a fence for one


class SentenceGate:
    """Takes pieces of text in any sizes, gives out what is checked.

    ``numbers`` grows on the way: a cited passage -> its number in the text, where sources count in the order in
    which they are cited.
    """

    def __init__(
        self, passages: Mapping[int, Known], *, hosts: frozenset[str], least_share: float, broken_diagram: str
    ) -> None:
        self.numbers: dict[int, int] = {}
        self._passages = dict(passages)
        self._hosts = hosts
        self._least_share = least_share
        self._broken_diagram = broken_diagram
        self._held = ""
        self._looked = 0  # characters of what is held in which no sentence ends
        self._fence = ""  # the open code block's fence
        self._indent = 0
        self._diagram: list[str] | None = None
        self._said = ""  # the last sentence: a marker that stands alone belongs to it

    def feed(self, piece: str) -> str:
        """The text that may leave now."""
        self._held += piece
        out = ""
        while (end := self._end()) > 0:
            unit, self._held, self._looked = self._held[:end], self._held[end:], 0
            out += self._pass(unit if unit[-1].isspace() else f"{unit} ")  # the parts of a word are no address
        return out

    def finish(self) -> str:
        """The rest; an open code block is closed."""
        unit, self._held = self._held, ""
        out = self._pass(unit) if unit else ""
        if self._diagram is not None:
            return out + self._close_diagram()
        if self._fence:
            return out + ("\n" if unit and not unit.endswith("\n") else "") + " " * self._indent + self._fence
        return out

    def _end(self) -> int:
        """Length of the first unit that is complete, 0 for none."""
        newline = self._held.find("\n") + 1
        if self._fence or (len(self._held) <= LONGEST_UNIT and self._may_be_fence()):
            return newline
        line = self._held[: newline or None][: LONGEST_UNIT + 1]
        for match in _END.finditer(line, max(0, self._looked - _BEFORE)):
            if match.end() >= self._looked and _whole(line[: match.end()]):
                return match.end()
        self._looked = len(line)
        if 0 < newline <= LONGEST_UNIT:
            return newline
        if len(line) > LONGEST_UNIT or (len(line) > MOST_HELD and _whole(line)):
            return line.rfind(" ", 0, MOST_HELD) + 1 or MOST_HELD
        return 0

    def _may_be_fence(self) -> bool:
        return bool(re.match(r"[ \t]*(?:[-*+>]\s+|\d+[.)]\s+)?(?:`{1,2}\Z|`{3}|~{1,2}\Z|~{3}|\Z)", self._held))

    def _pass(self, unit: str) -> str:
        match = _FENCE.match(unit)
        if self._fence:
            return self._inside(unit, match)
        if match is None:
            return self._checked(unit)
        self._fence, self._indent = match["fence"], len(match["indent"].expandtabs())
        if match["info"].strip().lower().startswith("mermaid"):
            self._diagram = []
            return ""
        language = match["info"].strip().split(" ")[0].lower()
        return unit.replace(match["info"], "text") if language in _LIVE else unit

    def _inside(self, unit: str, match: re.Match[str] | None) -> str:
        closes = match is not None and match["fence"].startswith(self._fence) and not match["info"].strip()
        if self._diagram is not None:
            if closes:
                return self._close_diagram()
            self._diagram.append(unit)
            return ""
        if closes:
            self._fence = ""
            return unit
        unit = _LIVE_TAG.sub(r"<\1 >", unit)
        return unit if self._indent < _INDENT_OF_CODE else unit.replace("](", "] (")

    def _close_diagram(self) -> str:
        text = "".join(self._diagram or ())
        indent = " " * self._indent
        fence, self._fence, self._diagram = self._fence, "", None
        drawn = check(text)
        if drawn is not None:
            return f"{indent}{fence}mermaid\n{drawn.rstrip()}\n{indent}{fence}\n"
        body = text if text.endswith("\n") or not text else f"{text}\n"
        return f"{indent}{fence}text\n{body}{indent}{fence}\n{indent}*{self._broken_diagram}*\n"

    def _checked(self, unit: str) -> str:
        parts = [part if number % 2 else _usual_markers(part) for number, part in enumerate(_CODE_SPAN.split(unit))]
        plain = "".join(part for number, part in enumerate(parts) if number % 2 == 0)
        cited = [int(number) for match in _MARKER.finditer(plain) for number in re.split(r"\s*[,;]\s*", match[1])]
        sentence = "".join(part if number % 2 else _MARKERS.sub("", part) for number, part in enumerate(parts))
        sentence = sentence if _WORD.search(sentence) else self._said
        self._said = sentence
        if cited:
            supported = set(supporting(sentence, cited, self._passages, self._least_share) if sentence else ())
            parts = [part if number % 2 else self._markers(part, supported) for number, part in enumerate(parts)]
        parts = [_LIVE_TAG.sub(r"<\1 >", part) if number % 2 else part for number, part in enumerate(parts)]
        return harmless("".join(parts), self._hosts)

    def _markers(self, text: str, supported: set[int]) -> str:
        """Markers as ``[1][2]`` of supported passages only; the blank before a dropped one goes with it."""

        def kept(match: re.Match[str]) -> str:
            cited = dict.fromkeys(int(number) for number in re.findall(r"\d+", match.group()))
            shown = [self.numbers.setdefault(one, len(self.numbers) + 1) for one in cited if one in supported]
            blank = match.group()[0] if match.group()[0] != "[" else ""
            return blank + "".join(f"[{number}]" for number in shown) if shown else ""

        return _MARKERS.sub(kept, text)


def _usual_markers(text: str) -> str:
    """``【1】``, ``[^1]``, ``[Источник 1]``, ``[1](address)`` as ``[1]``; ``[1-3]`` as ``[1, 2, 3]``."""

    def range_of(match: re.Match[str]) -> str:
        first, last = int(match[1]), int(match[2])
        listed = first < last < first + MOST_IN_RANGE
        return f"[{', '.join(map(str, range(first, last + 1)))}]" if listed else match.group()

    return _RANGE.sub(range_of, _ODD_MARKER.sub(lambda match: f"[{match[match.lastindex or 1]}]", text))


def _whole(text: str) -> bool:
    """Whether no bracket or code span is open at the end of ``text``: a link is checked in one piece."""
    bare = _CODE_SPAN.sub("", text)
    return "`" not in bare and bare.count("[") <= bare.count("]") and bare.count("](") <= bare.count(")")
