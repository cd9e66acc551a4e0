"""Blocks of code and of mathematics in streamed text, written again where every reader sees the same ones.

Readers differ on a fence in a list or a quotation, on its depth and on what closes it. So a block leaves at the left
edge, below an empty line, with a fence that nothing in it can close; a diagram leaves whole or as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from askwiki.stages.citations.diagrams import check
from askwiki.stages.citations.links import OWN_NAME
from askwiki.stages.citations.pieces import LIVE_TAG

_PLACE = r"\A(?P<place>[ \t]*+(?:(?:[-*+][ \t]|\d{1,9}[.)][ \t]|>)[ \t]*+)*+)"
_FENCE = re.compile(_PLACE + r"(?P<fence>`{3,}+(?![^\n]*`)|~{3,}+)[ \t]*+(?P<info>[^\n]*+)\n?\Z")
_MAY_BE = re.compile(
    _PLACE + r"(?:`{1,2}\Z|`{3}|~{1,2}\Z|~{3}|\$\$?\Z|\$\$[ \t]*+\n?\Z|\d{1,9}\Z|\d{1,9}[.)]\Z|[-*+]\Z|\Z)"
)
_CLOSES = re.compile(r"\A[ \t>]*+(?P<fence>`{3,}+|~{3,}+)[`~]*+\s*+\Z")
_FORMULA = re.compile(_PLACE + r"\$\$[ \t]*+\n?\Z")
_LANGUAGE = re.compile(r"[\w+#.-]*+")
_NUMBER = re.compile(r"(\d{1,9}[.)])[ \t]*\Z")
_TICKS = re.compile(r"`{3,}+")
_INDENT = re.compile(r"[ \t]*+")
_QUOTED = re.compile(r"\A[ \t]*+>[ \t]?")
# What the chat would run or draw: code blocks of these kinds, these tags in any code.
_LIVE = {"html", "svg", "xhtml", "htm", "css", "js", "javascript", "jsx", "ts", "typescript", "vue", "svelte"}
_LIVE |= {"xml", "vega", "vega-lite"}
_NO_FORMULA = re.compile(
    r"[$`~\[\]]|//|www\.|:::|\w@\w|<[a-z/!?$@#]|\\[()]|\\(?:ce|pu|begin\{equation)|^[ \t]*+$|\\\Z",
    re.IGNORECASE | re.MULTILINE,
)
LONGEST_FORMULA = 2_000  # characters; then what began as one is text

Part = tuple[str, bool]  # text, and whether it may leave as it is: else it is still to be checked


def may_open(line: str) -> bool:
    """Whether the beginning of a line may be that of a block: then the whole line is waited for."""
    return bool(_MAY_BE.match(line))


class Blocks:
    """Takes whole lines, or parts of long ones outside of blocks, and gives out what may leave of them."""

    def __init__(self, broken_diagram: str) -> None:
        self._broken_diagram = broken_diagram
        self._fence = ""
        self._closing = ""
        self._indent = 0
        self._quoted = False
        self._left = 0  # columns by which the text after a block of a list goes to the left
        self._above = ""  # the line above, where it is not empty
        self._held: list[str] | None = None  # the lines of a diagram or of a formula

    @property
    def open(self) -> bool:
        """Whether a block is open: then it takes whole lines only."""
        return bool(self._fence)

    def saw(self, text: str) -> None:
        """Text of a line that leaves without passing here."""
        self._above = text.strip() or self._above

    def take(self, line: str) -> Iterator[Part]:
        """The line as it may leave: (text, whether it needs no further check)."""
        if self._fence:
            yield from self._inside(line)
            return
        if match := _FENCE.match(line):
            yield from self._open(match)
        elif match := _FORMULA.match(line):
            self._fence, self._held = "$$", [line]
        else:
            self._above = line.strip()
            yield self._moved(line), False

    def finish(self) -> Iterator[Part]:
        """What closes the block that is open."""
        if self._fence == "$$":
            yield from self._as_text()
        elif self._held is not None:
            yield from self._diagram()
        elif self._fence:
            yield ("\n" if self._above else "") + self._close(), True

    def _open(self, match: re.Match[str]) -> Iterator[Part]:
        place, self._fence = match["place"], match["fence"]
        self._indent, self._quoted = len(place.expandtabs(4)), ">" in place
        number = _NUMBER.search(place)
        above = f"{number[1]}\n\n" if number else "\n" if self._above else ""
        self._above = ""
        language = (_LANGUAGE.match(match["info"]) or match)[0].lower()
        if language.startswith("mermaid"):
            self._held = []
            if above:
                yield above, True
            return
        yield f"{above}{self._fence}{'text' if language in _LIVE else language}\n", True

    def _inside(self, line: str) -> Iterator[Part]:
        if self._fence == "$$":
            yield from self._formula(line)
            return
        closes = _CLOSES.match(line)
        if self._quoted and line.strip() and not _QUOTED.match(line):  # the quotation has ended, and the block with it
            yield from self._end()
            yield from self.take(line)
        elif closes and closes["fence"].startswith(self._fence):
            yield from self._end(line.endswith("\n"))
        elif self._held is not None:
            self._held.append(self._code(line))
        else:
            self._above = "" if line.endswith("\n") else line
            yield self._code(line), True

    def _code(self, line: str) -> str:
        """A line of code at the left edge; what the chat would find in it by a search of its own, apart."""
        if self._quoted:
            line = _QUOTED.sub("", line, count=1)
        else:
            blanks = _INDENT.match(line)
            line = line[min(self._indent, blanks.end() if blanks else 0) :]
        line = _TICKS.sub(lambda match: "\u2060".join(match.group()), line)
        return OWN_NAME.sub("{ {", LIVE_TAG.sub(r"<\1 >", line))

    def _end(self, line: bool = True) -> Iterator[Part]:
        self._left = 0 if self._quoted else self._indent
        if self._held is not None:
            yield from self._diagram()
        else:
            yield self._close() + ("\n" if line else ""), True

    def _close(self) -> str:
        fence, self._fence, self._held, self._above = self._fence, "", None, ""
        return fence

    def _diagram(self) -> Iterator[Part]:
        text = "".join(self._held or ())
        fence = self._close()
        drawn = check(text)
        if drawn is not None:
            yield f"{fence}mermaid\n{drawn.rstrip()}\n{fence}\n", True
            return
        body = text if text.endswith("\n") or not text else f"{text}\n"
        yield f"{fence}text\n{body}{fence}\n*{self._broken_diagram}*\n", True

    def _formula(self, line: str) -> Iterator[Part]:
        held = self._held or []
        held.append(line)
        if _FORMULA.match(line):
            body = "".join(line.strip() + "\n" for line in held[1:-1])
            if not body or _NO_FORMULA.search(body.rstrip("\n")):
                yield from self._as_text()
                return
            above = "\n" if self._above else ""
            self._close()
            shown = body.replace("<", " \\lt ")
            yield f"{above}$$\n{shown}$$\n", True
        elif sum(map(len, held)) > LONGEST_FORMULA or not line.strip():
            yield from self._as_text()

    def _as_text(self) -> Iterator[Part]:
        """What began as a formula and is none."""
        first, *others = self._held or [""]
        self._close()
        yield first, False
        self._above = first.strip()
        for line in others:
            if _FORMULA.match(line):
                yield line, False
            else:
                yield from self.take(line)

    def _moved(self, line: str) -> str:
        """A line after a block that stood in a list: as far to the left as the block, or it would read as code."""
        if not self._left or not line.strip():
            return line
        blanks = _INDENT.match(line)
        self._left = min(self._left, blanks.end() if blanks else 0)
        return line[self._left :]
