"""Markdown as the encoders read it: words and signs, without addresses, marks, fences and table rulers."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import accumulate
from operator import itemgetter

from askwiki.markdown.block_parser_lines import RUN

_IMAGE = re.compile(r"!\[([^\[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)")
_LINK = re.compile(r"\[([^\[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAGS = "a|b|code|col|colgroup|details|div|i|img|li|ol|p|pre|span|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|u|ul"
_TAG = re.compile(rf"</?(?:{_TAGS})\b[^<>]*>", re.IGNORECASE)
# Lines are found by the line's end before them: a pattern that begins with a letter is searched for
# much faster than one that begins with "^"; most lines are passed over by what they must begin with.
_FENCE = re.compile(rf"\n[ \t]*(?=[`~]){RUN}[^\n]*", re.MULTILINE)
_RULER = re.compile(
    r"\n(?=[ \t>|:]*-)[ \t>]*+\|?"  # > |
    r"(?:[ \t]*+:?-++:?[ \t]*+\|)++"  # :---: | ---: |
    r"(?:[ \t]*+:?-++:?[ \t]*+\|?)?[ \t\r]*+(?=\n)"  # ---
)
_FRONT = re.compile(r"\n[ \t]*(?=[>#])(?:(?:>[ \t]?)+[ \t]*(?:#{1,6}[ \t]+)?|#{1,6}[ \t]+)")
_ROW = re.compile(r"\n[ \t]*\|[^\n]*")
_BLANKS = re.compile(r"  +")
_label = itemgetter(1)  # of a match; a template such as r"\1" is filled by Python code, several times slower


class PlainPage:
    """The plain text of a page, made once: what holds whole lines is read off, only the rest is made anew."""

    def __init__(self, markdown: str) -> None:
        self.markdown = markdown
        self._starts = list(accumulate(map(len, f"{markdown}\n".splitlines(keepends=True)), initial=0))
        self._starts[-1] = len(markdown)
        self._lines = list(map(str.strip, _without_marks(markdown).splitlines()))[1:]
        if not len(self._lines) == len(self._starts) - 1 == markdown.count("\n") + 1:
            # A tag over several lines has joined them, or a line ends with another sign: all is made anew.
            self._starts, self._lines = [0, len(markdown)], [plain_text(markdown)]

    def of(self, *stretches: tuple[int, int]) -> str:
        """``plain_text`` of these stretches of the page, one behind the other."""
        lines: list[str] = []
        for start, end in stretches:
            first, after = bisect_left(self._starts, start), bisect_left(self._starts, end)
            if self._starts[first] != start or self._starts[after] != end:
                return plain_text("".join([self.markdown[start:end] for start, end in stretches]))
            lines += self._lines[first:after]
        return "\n".join(filter(None, lines))


def plain_text(markdown: str) -> str:
    """One line for each line that says something; table cells are joined by `` | ``."""
    return "\n".join(filter(None, map(str.strip, _without_marks(markdown).splitlines())))


def _without_marks(markdown: str) -> str:
    """A line for each line, after an empty one, but a tag over several lines makes them one.

    Every step works on the whole text, and only where one of its signs occurs.
    """
    text = f"\n{markdown}\n"
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("\n", text)
    table = "|" in text
    if table and "-" in text:
        text = _RULER.sub("\n", text)
    if "](" in text:
        text = _LINK.sub(_label, _IMAGE.sub(_label, text))
    if "<" in text:
        text = _TAG.sub(" ", _BREAK.sub(" ", text))
    if ">" in text or "#" in text:
        text = _FRONT.sub("\n", text)
    text = text.replace("**", "").replace("`", "")
    if table:
        text = _ROW.sub(_cells, text)
    return _BLANKS.sub(" ", text.replace("\t", " ").replace("\u00a0", " "))


def _cells(row: re.Match[str]) -> str:
    return "\n" + " | ".join(map(str.strip, row[0].strip().strip("|").split("|")))
