"""Streamed text, checked sentence by sentence before it leaves: what the chat has shown cannot be taken back.

Text is held only until its sentence, line or table row ends; a diagram until its block is closed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from askwiki.stages.citations.blocks import Blocks, may_open
from askwiki.stages.citations.inline import harmless
from askwiki.stages.citations.pieces import Line
from askwiki.stages.citations.support import Known, supporting

MOST_HELD = 700  # characters of a sentence without an end; then a blank is end enough
LONGEST_UNIT = 2 * MOST_HELD  # characters; then text leaves with a bracket open too: a bracket may never be closed
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
# The other signs that end a line for some reader; a line ends with "\n" alone.
_ENDS = {ord("\r"): None, **dict.fromkeys(map(ord, "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), " ")}
_RULE = re.compile(r"\A[ \t>|:-]++\Z")  # below a table's head
_CODE_SPAN = re.compile(r"((?<!`)`++[^`\n]*+`++)")
# The end of a sentence: its sign, closing quotes, markers after it; then a blank and what may begin the next one.
_END = re.compile(
    r"(?<!\b\w)(?<!\b\w\w)(?<![.!?…])[.!?…]+[»\")*_]*(?:[ \u00a0]?(?:\[\^?[\d,; –-]+\]|【[^】\n]{0,60}】))*[ \t]+"
    r"(?=[^\s\[【a-zа-яё\d])",
    re.DOTALL,
)


class SentenceGate:
    """Takes pieces of text in any sizes, gives out what is checked.

    ``numbers`` grows on the way: a cited passage -> its number in the text, where sources count in the order in
    which they are cited. ``begins``: the text begins a line, so that a block may stand at its beginning.
    """

    def __init__(
        self,
        passages: Mapping[int, Known],
        *,
        hosts: frozenset[str],
        least_share: float,
        broken_diagram: str,
        begins: bool = True,
    ) -> None:
        self.numbers: dict[int, int] = {}
        self._passages = dict(passages)
        self._hosts = hosts
        self._least_share = least_share
        self._held = ""
        self._blocks = Blocks(broken_diagram)
        self._line = Line()
        self._clipped = False  # in the line above the chat's reader may end the paragraph for a moment
        self._begins = begins  # what is held begins a line
        self._said = ""  # the last sentence: a marker that stands alone belongs to it

    def feed(self, piece: str) -> str:
        """The text that may leave now."""
        self._held += piece.translate(_ENDS)
        out = ""
        while (end := self._end()) > 0:
            unit, self._held = self._held[:end], self._held[end:]
            out += self._pass(unit if unit[-1].isspace() else f"{unit} ")  # the parts of a word are no address
        return out

    def finish(self) -> str:
        """The rest; an open block is closed."""
        unit, self._held = self._held, ""
        out = self._pass(unit, last=True) if unit else ""
        return out + "".join(self._said_of(part) for part in self._blocks.finish())

    def _end(self) -> int:
        """Length of the first unit that is complete, 0 for none: whatever comes later, it stays the same."""
        newline = self._held.find("\n") + 1
        if self._blocks.open and self._begins:
            return newline
        line = self._held[: newline or None][: LONGEST_UNIT + 1]
        if self._begins and may_open(line):
            return newline if 0 < newline <= LONGEST_UNIT else self._cut(line) if len(line) > LONGEST_UNIT else 0
        most = _first_whole(line) if len(line) > MOST_HELD else len(line) + 1
        for match in _END.finditer(line):
            if match.end() >= most:
                break
            if _whole(line[: match.end()]):
                return match.end()
        if 0 < newline <= min(most, LONGEST_UNIT):
            return newline
        return self._cut(line) if len(line) >= most or len(line) > LONGEST_UNIT else 0

    def _cut(self, line: str) -> int:
        return line.rfind(" ", 0, MOST_HELD) + 1 or MOST_HELD

    def _pass(self, unit: str, last: bool = False) -> str:
        whole = self._begins and (last or unit.endswith("\n"))  # only a whole line can be a fence
        if not whole and not self._blocks.open:
            self._blocks.saw(unit)
            out = self._checked(unit)
        else:
            out = "".join(self._said_of(part) for part in self._blocks.take(unit))
        self._begins = unit.endswith("\n")
        if self._begins:
            self._clipped, self._line = self._line.clipped, Line()
        return out

    def _said_of(self, part: tuple[str, bool]) -> str:
        text, done = part
        if (
            not done
            and _RULE.match(text.strip())
            and (self._clipped or "|" not in text)
            and set("|:") & set(text)
            and "-" in text
        ):
            text = text.replace("-", "\\-")
        return text if done else self._checked(text)

    def _checked(self, unit: str) -> str:
        parts = [part if number % 2 else _usual_markers(part) for number, part in enumerate(_CODE_SPAN.split(unit))]
        plain = "".join(part for number, part in enumerate(parts) if number % 2 == 0)
        cited = [int(number) for match in _MARKER.finditer(plain) for number in re.findall(r"\d+", match[1])]
        sentence = "".join(part if number % 2 else _MARKERS.sub("", part) for number, part in enumerate(parts))
        sentence = sentence if _WORD.search(sentence) else self._said
        self._said = sentence
        if cited:
            supported = set(supporting(sentence, cited, self._passages, self._least_share) if sentence else ())
            parts = [part if number % 2 else self._markers(part, supported) for number, part in enumerate(parts)]
        return harmless("".join(parts), self._hosts, self._line)

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


def _first_whole(line: str) -> int:
    """The first length above ``MOST_HELD`` at which ``line`` is whole; more than it has where there is none."""
    return next((end for end in range(MOST_HELD + 1, len(line) + 1) if _whole(line[:end])), len(line) + 1)
