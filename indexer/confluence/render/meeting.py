"""Where two pieces of a line meet: Markdown must not read a third thing there."""

from __future__ import annotations

import re

MEETING = frozenset("`*~[(")  # a piece that begins with one of these may be read together with the one before
SPAN_END = re.compile(r"[^`\\]`$")
SPAN_START = re.compile(r"`[^`]")
MARKED = re.compile(r"\s*(\*\*|\*|~~)(?![*~\s]).*(?<![*~\s\\])\1\s*", re.DOTALL)
LONE_END = re.compile(r"(?:^|\s)\*$")  # a star that is only a star: it closes nothing
LONE_START = re.compile(r"\*(?:\s|$)")  # it opens nothing


def meet(last: str, piece: str) -> tuple[str, str]:
    """The end of a line and what follows it, such that Markdown does not read a third thing there."""
    if piece[0] == "`":
        if SPAN_END.search(last) and SPAN_START.match(piece):  # two neighbouring spans of code are one
            return last[:-1], piece[1:]
        return last, f" {piece}" if last[-1] == "`" and last[-2:-1] != "\\" else piece
    if last[-1] + piece[0] in ("![", "]("):
        return f"{last[:-1]}\\{last[-1]}", piece
    if piece[0] in "*~":
        before, after = MARKED.fullmatch(last), MARKED.fullmatch(piece)
        if before and after and before[1] == after[1]:  # two neighbouring pieces with one mark are one
            return last[: -len(before[1])] + piece[len(after[1]) :], ""
        if LONE_END.search(last):
            last = f"{last[:-1]}\\*"
        elif last[-1] == "*" and LONE_START.match(piece):
            piece = f"\\{piece}"
    return last, piece
