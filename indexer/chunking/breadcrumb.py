"""The way to a chunk on one line: what is embedded before its text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

SEPARATOR = " / "
# At most a token a byte (no tokenizer makes more) it leaves room for text in the smallest encoders,
# which read 512 tokens.
PATH_BYTES = 400
MOST_BYTES = 4  # of one letter


def breadcrumb(path: Sequence[str], title: str, headings: Sequence[str]) -> str:
    """Ancestors, title and headings. Too long a way loses steps from the root on, then steps' ends.

    The title and the last heading stay longest: they say most about the text.
    """
    line = _joined(_steps((*path, title, *headings)))
    if len(line) <= PATH_BYTES // MOST_BYTES or _bytes(line) <= PATH_BYTES:
        return line
    above = _steps(path)
    below = _steps((title, *headings))
    while above and _bytes(_joined(above + below)) > PATH_BYTES:
        above.pop(0)
    while len(below) > 2 and _bytes(_joined(above + below)) > PATH_BYTES:
        below.pop(1)
    if _bytes(_joined(above + below)) > PATH_BYTES:
        share = (PATH_BYTES - len(SEPARATOR)) // len(below)
        below = [_beginning(step, share) for step in below]
    return _joined(above + below)


def _steps(titles: Sequence[str]) -> list[str]:
    """Each on one line, empty ones left out."""
    return list(filter(None, map(" ".join, map(str.split, titles))))


def _joined(steps: list[str]) -> str:
    """One line; a heading that repeats the title, or a title its folder, is said once."""
    return SEPARATOR.join([step for step, _ in groupby(steps)])


def _bytes(line: str) -> int:
    return len(line.encode("utf-8", "surrogatepass"))


def _beginning(step: str, most: int) -> str:
    """As many whole letters as fit into ``most`` bytes."""
    return step.encode("utf-8", "surrogatepass")[:most].decode("utf-8", "ignore").rstrip()
