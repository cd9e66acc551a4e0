"""Markdown as the encoders read it: words and signs, without addresses, marks, fences and table rulers."""

from __future__ import annotations

import re

_LINK = re.compile(r"!?\[([^\]]*)\]\((?:[^()]|\([^()]*\))*\)")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAGS = "a|b|code|col|colgroup|details|div|i|img|li|ol|p|pre|span|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|u|ul"
_TAG = re.compile(rf"</?(?:{_TAGS})\b[^<>]*>", re.IGNORECASE)
_RULER = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")
_FRONT = re.compile(r"\s*(?:>\s?)*\s*(?:#{1,6}\s+)?")
_BLANKS = re.compile(r"[ \t\u00a0]+")


# A line without any of these reads the same: told by one search instead of eight replacements.
_SIGNS = re.compile(r"[\[<>*`|#\t\u00a0]|  ")


def plain_text(markdown: str) -> str:
    """One line for each line that says something; table cells are joined by `` | ``."""
    lines = (_plain_line(line) for line in markdown.splitlines() if not _FENCE.match(line))
    return "\n".join(line for line in lines if line)


def _plain_line(line: str) -> str:
    line = line.strip()
    if not _SIGNS.search(line):
        return line
    if "-" in line and "|" in line and _RULER.fullmatch(line):
        return ""
    line = _LINK.sub(r"\1", line)
    line = _TAG.sub(" ", _BREAK.sub(" ", line))
    line = _FRONT.sub("", line, count=1).replace("**", "").replace("`", "")
    if line.startswith("|"):
        line = " | ".join(cell.strip() for cell in line.strip().strip("|").split("|"))
    return _BLANKS.sub(" ", line).strip()
