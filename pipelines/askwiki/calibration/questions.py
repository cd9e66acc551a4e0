"""Questions that an index asks itself: the words of its headings, sentences and rows, some left out, some foreign.

A person does not ask in the words of the page. So up to five words of a line are kept, and up to five of other pages
are put among them; how many is drawn evenly, which makes questions from the page's own words up to hardly any of them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from askwiki.data import Chunk
from askwiki.language.stems import STOP_WORDS, fold
from askwiki.stages.passages.spans import text_of

KEPT, FOREIGN = 5, 5  # most words of the line, and of other pages
LEAST = 3  # telling words of a line that says something
SEED = 0
_WORD = re.compile(r"\w+(?:-\w+)*")


@dataclass(frozen=True, slots=True)
class OwnQuestion:
    text: str
    page_id: str  # where its line stands


def own_questions(chunks: Sequence[Chunk]) -> list[OwnQuestion]:
    """One of each chunk that has a line of words, the same ones each time."""
    dice = random.Random(SEED)
    lines = [[words for line in _lines(chunk) if len(words := _telling(line)) >= LEAST] for chunk in chunks]
    others = [word for each in lines for words in each for word in words]
    made = []
    for chunk, own in zip(chunks, lines, strict=True):
        if own:
            words = dice.choice(own)
            kept = dice.sample(words, dice.randint(1, min(KEPT, len(words))))
            asked = [*kept, *dice.choices(others, k=dice.randint(0, FOREIGN))]
            dice.shuffle(asked)
            made.append(OwnQuestion(" ".join(asked), chunk.page_id))
    return made


def _lines(chunk: Chunk) -> list[str]:
    """The title with the nearest heading, and every line of the text: sentences, items, rows."""
    return [" ".join((chunk.title, *chunk.headings[-1:])), *text_of(chunk).splitlines()]


def _telling(line: str) -> list[str]:
    return [word for word in _WORD.findall(line) if len(word) > 2 and fold(word) not in STOP_WORDS]
