"""Markdown as the encoders read it: words and signs, without addresses, marks, fences and table rulers."""

from __future__ import annotations

import re
from operator import itemgetter

_IMAGE = re.compile(r"!\[([^\[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)")
_LINK = re.compile(r"\[([^\[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAGS = "a|b|code|col|colgroup|details|div|i|img|li|ol|p|pre|span|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|u|ul"
_TAG = re.compile(rf"</?(?:{_TAGS})\b[^<>]*>", re.IGNORECASE)
# Lines are found by the line's end before them: a pattern that begins with a letter is searched for
# much faster than one that begins with "^".
_FENCE = re.compile(r"\n[ \t]*(?:`{3,}|~{3,})[^\n]*")
_RULER = re.compile(r"\n[ \t>]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*\|?)?[ \t\r]*(?=\n|\Z)")
_FRONT = re.compile(r"\n[ \t]*(?:(?:>[ \t]?)+[ \t]*(?:#{1,6}[ \t]+)?|#{1,6}[ \t]+)")
_ROW = re.compile(r"\n[ \t]*\|[^\n]*")
_label = itemgetter(1)  # of a match; a template such as r"\1" is filled by Python code, several times slower


def plain_text(markdown: str) -> str:
    """One line for each line that says something; table cells are joined by `` | ``.

    Every step works on the whole text, and only where one of its signs occurs: this is done for every
    text of a page, several times.
    """
    text = f"\n{markdown}"
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
    text = text.replace("\t", " ").replace("\u00a0", " ")
    while "  " in text:  # halved at each turn
        text = text.replace("  ", " ")
    return "\n".join(filter(None, map(str.strip, text.splitlines())))


def _cells(row: re.Match[str]) -> str:
    return "\n" + " | ".join(map(str.strip, row[0].strip().strip("|").split("|")))
