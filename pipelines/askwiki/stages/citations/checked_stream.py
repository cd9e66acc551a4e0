"""Streamed text, checked sentence by sentence before it leaves: what the chat has shown cannot be taken back.

Text is held only until its sentence, line or table row ends; a diagram until its block is closed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from askwiki.stages.citations.blocks import Blocks, may_open
from askwiki.stages.citations.inline import harmless
from askwiki.stages.citations.markers import CODE_SPAN, Marking
from askwiki.stages.citations.own_list import OwnList
from askwiki.stages.citations.pieces import Line
from askwiki.stages.citations.support import Excused
from askwiki.stages.evidence.known import Known

MOST_HELD = 700  # characters of a sentence without an end; then a blank is end enough
LONGEST_UNIT = 2 * MOST_HELD  # characters; then text leaves with a bracket open too: a bracket may never be closed
_WORD = re.compile(r"\w")
# The other signs that end a line for some reader; a line ends with "\n" alone.
_ENDS = {ord("\r"): None, **dict.fromkeys(map(ord, "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), " ")}
_RULE = re.compile(r"\A[ \t>|:-]++\Z")  # below a table's head
# The end of a sentence: its sign, closing quotes, markers after it; then a blank and what may begin the next one.
_END = re.compile(
    r"(?<!\b\w)(?<!\b\w\w)(?<![.!?…])[.!?…]+[»\")*_]*(?:[ \u00a0]?(?:\[\^?[\d,; –-]+\]|【[^】\n]{0,60}】))*[ \t]+"
    r"(?=[^\s\[【a-zа-яё\d])",
    re.DOTALL,
)
NOTHING_EXCUSED = Excused()


class SentenceGate:
    """Takes pieces of text in any sizes, gives out what is checked.

    ``numbers`` grows on the way: a cited passage -> its number in the text, where sources count in the order in
    which they are cited; ``listed`` = those of them that no marker is shown of: a list of the model's own names them,
    or their markers went though nothing speaks against them. ``begins``: the text begins a line, so that a block may
    stand at its beginning. ``unsupported``: the mark behind a sentence that states what no passage bears out;
    ``flagged``: one was set.
    """

    def __init__(
        self,
        passages: Mapping[int, Known],
        *,
        hosts: frozenset[str],
        least_share: float,
        broken_diagram: str,
        begins: bool = True,
        excused: Excused = NOTHING_EXCUSED,
        unsupported: str = "",
        same: Mapping[int, int] | None = None,
    ) -> None:
        self.flagged = False
        self.listed: list[int] = []
        self._marking = Marking(dict(passages), least_share, excused, same=same or {})
        self._own_list = OwnList(passages)
        self._hosts = hosts
        self._unsupported = unsupported
        self._held = ""
        self._blocks = Blocks(broken_diagram)
        self._line = Line()
        self._clipped = False  # in the line above the chat's reader may end the paragraph for a moment
        self._begins = begins  # what is held begins a line

    @property
    def numbers(self) -> dict[int, int]:
        """A cited passage -> its number in the text."""
        return self._marking.numbers

    @property
    def cited_for(self) -> dict[int, str]:
        """A cited passage -> the sentence that cites it first."""
        return self._marking.cited_for

    @property
    def cited_again(self) -> dict[int, list[tuple[int, str]]]:
        """A cited passage -> (it, or another one of the same label and address, a further sentence that cites it)."""
        return self._marking.cited_again

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
        out += "".join(self._said_of(part) for part in self._blocks.finish())
        for number, sentence in self._marking.used.items():
            self._list(number, sentence)
        for number in self._own_list.further(self.numbers):
            self._list(number, "")
        return out

    def _list(self, number: int, sentence: str) -> None:
        if (place := self._marking.listed_as(number)) not in self.numbers:
            self.listed.append(place)
            self.numbers[place] = len(self.numbers) + 1
            self.cited_for.setdefault(place, sentence)

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
        unit = self._own_list.take(unit, begins=self._begins)
        text, flagged = self._marking.checked(unit)
        shown = harmless(text, self._hosts, self._line)
        return self._flagged(shown) if flagged and self._unsupported and _WORD.search(shown) else shown

    def _flagged(self, shown: str) -> str:
        """The mark behind the sentence: before the end of its line, in a table before the end of its cell."""
        self.flagged = True
        bare = shown.rstrip()
        cell = bare.endswith("|") and not bare.endswith("\\|")
        place = len(bare[:-1].rstrip()) if cell else len(bare)
        return f"{shown[:place]} {self._unsupported}{' ' if cell and shown[place] != ' ' else ''}{shown[place:]}"


def _whole(text: str) -> bool:
    """Whether no bracket or code span is open at the end of ``text``: a link is checked in one piece."""
    bare = CODE_SPAN.sub("", text)
    return "`" not in bare and bare.count("[") <= bare.count("]") and bare.count("](") <= bare.count(")")


def _first_whole(line: str) -> int:
    """The first length above ``MOST_HELD`` at which ``line`` is whole; more than it has where there is none."""
    return next((end for end in range(MOST_HELD + 1, len(line) + 1) if _whole(line[:end])), len(line) + 1)
