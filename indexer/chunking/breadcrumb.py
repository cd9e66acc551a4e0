"""The way to a chunk on one line: what stands before its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

SEPARATOR = " / "
# At most a token a byte (no tokenizer makes more) it leaves room for text in the smallest encoders,
# which read 512 tokens.
PATH_BYTES = 400
MOST_BYTES = 4  # of one letter
NEAREST = 2  # ancestors that a dense vector knows: those further up say more of the wiki than of the text
PATH_SHARE = 0.5  # of the tokens of a chunk, at most: the text must have room

Fits = Callable[[str], bool]


def few_bytes(line: str) -> bool:
    return len(line) <= PATH_BYTES // MOST_BYTES or _bytes(line) <= PATH_BYTES


def few_tokens(count: Callable[[Sequence[str]], list[int]], limit: int) -> Fits:
    """Of chunks that have at most ``limit`` tokens; ``count`` is the encoder's, what it adds to a text included."""
    [special] = count([""])
    most = int((limit - special) * PATH_SHARE)

    def fits(line: str) -> bool:
        return few_bytes(line) and (_bytes(line) <= most or count([line])[0] - special <= most)

    return fits


def breadcrumb(path: Sequence[str], title: str, headings: Sequence[str], fits: Fits = few_bytes) -> str:
    """Ancestors, title and headings. Too long a way loses steps from the root on, then steps' ends.

    The title and the last heading stay longest: they say most about the text.
    """
    line = _joined(_steps((*path, title, *headings)))
    if fits(line):
        return line
    above = _steps(path)
    below = _steps((title, *headings))
    while above and not fits(_joined(above + below)):
        above.pop(0)
    while len(below) > 2 and not fits(_joined(above + below)):
        below.pop(1)
    share = PATH_BYTES // max(len(below), 1)
    while share and not fits(_joined(above + below)):
        below = [_beginning(step, share) for step in below]
        share -= -(-share // 8)
    return _joined(above + below)


def near_way(path: Sequence[str], title: str, headings: Sequence[str], fits: Fits = few_bytes) -> str:
    """What is embedded before a text: two pages «План» under different parents are different texts."""
    return breadcrumb(path[-NEAREST:], title, headings, fits)


def _steps(titles: Sequence[str]) -> list[str]:
    """Each on one line, empty ones left out."""
    return list(filter(None, map(" ".join, map(str.split, titles))))


def _joined(steps: list[str]) -> str:
    """One line; a heading that repeats the title, or a title its folder, is said once."""
    return SEPARATOR.join([step for step, _ in groupby(steps) if step])


def _bytes(line: str) -> int:
    return len(line.encode("utf-8", "surrogatepass"))


def _beginning(step: str, most: int) -> str:
    """As many whole letters as fit into ``most`` bytes."""
    return step.encode("utf-8", "surrogatepass")[:most].decode("utf-8", "ignore").rstrip()
