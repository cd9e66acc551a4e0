"""Questions of a FAQ that are bold lines: each heads its answer as a heading would."""

from __future__ import annotations

from indexer.chunking.sections import plain

_BOLD = ("**", "__")
LONGEST = 300  # characters; a longer bold line is no question of a FAQ


def question_of(paragraph: str) -> str:
    """The question that the first line of a paragraph is, as a person reads it; empty where it is none.

    ``**Кто отзывает роль?**`` alone, or with its answer in the lines below it.
    """
    line = paragraph.strip().split("\n", 1)[0].rstrip(" \\\r")
    sign = next((each for each in _BOLD if line.startswith(each)), "")
    if not sign or len(line) > LONGEST:
        return ""
    inner, end, after = line.removeprefix(sign).partition(sign)
    said = (inner.rstrip() + after.strip()) if after.strip() in ("", "?") else ""
    return plain(said) if end and said.endswith("?") else ""


def is_only_question(paragraph: str) -> bool:
    """Whether the answer stands in the blocks after it."""
    return "\n" not in paragraph.strip() and bool(question_of(paragraph))
