"""Fences of code in a part of a page, where a fence may be open at the end or stand deep under an item."""

from __future__ import annotations

import re

FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)  # under an item as deep as it stands


def fence_after(fence: str, mark: str) -> str:
    """The open fence after a line that begins with ``mark``, empty when none is; ``fence`` was open before it."""
    if not fence:
        return mark
    return "" if mark.startswith(fence) else fence


def close_fences(text: str) -> str:
    """``text`` with its last code block closed, so that nothing after it reads as code."""
    fence = ""
    for match in FENCE.finditer(text):
        fence = fence_after(fence, match[1])
    return f"{text.rstrip()}\n{fence}" if fence else text
