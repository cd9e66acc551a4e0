"""Does a text describe a screen (fields, buttons, menus) or explain something? Decided by rules.

A question about a field wants the field's description, a question about a concept the concept; the
search prefers its kind (see ``Question.intent``). Each rule has a name, so that a person can see why.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

from askwiki.data import Page, State
from askwiki.language import en, ru
from askwiki.markdown.blocks import Block, parse_blocks
from askwiki.settings import ChunkingSettings

# Words of controls per hundred words: an explanation that mentions a button stays below.
CONTROLS_PER_HUNDRED = 6
LEAST_CONTROLS = 4  # in a short text one or two mean little
LEAST_PATHS = 2  # one arrow may mean anything

_FIELD_COLUMN = re.compile(
    rf"\s*+\|?[ \t*_]*+(?:{'|'.join(ru.COLUMN_BEGINNINGS)})?"  # | **Название …
    rf"(?:{'|'.join((*ru.FIELD_COLUMNS, *en.FIELD_COLUMNS))})"  # … поля, | Field …
    rf"(?:{'|'.join(en.COLUMN_ENDS)})?[ \t*_]*+\|",  # … name** |
    re.IGNORECASE,
)
_HEADING = re.compile(rf"\b(?:{'|'.join((*ru.SCREEN_HEADINGS, *en.SCREEN_HEADINGS))})\b", re.IGNORECASE)
# "Monitoring → Alerts", "Settings > Users": names with capitals, marked or not. Not code's a -> b.
_ARROWS = ("→", "➔", "›", " -> ", " > ", "&gt;")
_NAME = re.compile(r"[ \t]*[*«\"“]{0,2}[A-ZА-ЯЁ]")
# Counted as plain text: patterns over words took most of the time of cutting a page. Words that begin alike are looked
# for only where their beginning occurs: hardly a page has any of them.
_CONTROLS = {**ru.CONTROLS, **en.CONTROLS}


def is_labelled(labels: Sequence[str], screen_labels: str) -> bool:
    """Whether the page's author said so: one of the comma-separated ``screen_labels``, in any letter case."""
    if not labels:
        return False
    known = {label.strip().casefold() for label in screen_labels.split(",")}
    return any(label.casefold() in known for label in labels)


def state_of(page: Page, settings: ChunkingSettings) -> State:
    """What a page is called: as the wiki says it, else by its labels, the warning before the praise."""
    said: tuple[tuple[State, str], ...] = (
        ("outdated", settings.outdated_labels),
        ("archived", settings.archived_labels),
        ("draft", settings.draft_labels),
        ("verified", settings.verified_labels),
    )
    return page.state or next((state for state, labels in said if is_labelled(page.labels, labels)), "")


class Screens:
    """Where a page's text speaks of a screen: found once for the page, then counted for any part of it."""

    def __init__(self, text: str, blocks: Sequence[Block] | None = None) -> None:
        blocks = parse_blocks(text) if blocks is None else blocks
        self._text = text
        self._code = [block for block in blocks if block.kind in ("fence", "code")]
        self._fields = [
            block.start for block in blocks if block.kind == "table" and _FIELD_COLUMN.match(text, block.start)
        ]
        lowered = text.lower()
        if len(lowered) != len(text):  # a few letters become two
            lowered = "".join(letter.lower()[:1] for letter in text)
        said = [word for beginning, words in _CONTROLS.items() if beginning in lowered for word in words]
        self._controls = self._in_prose(at for word in said for at in _places(lowered, word))
        found = ((at, arrow) for arrow in _ARROWS for at in _places(text, arrow)) if self._controls else ()
        self._paths = self._in_prose(at for at, arrow in found if _NAME.match(text, at + len(arrow)))

    def _in_prose(self, places: Iterable[int]) -> list[int]:
        """In order, without those in code: a program's own fields and arrows are no screen."""
        return sorted(at for at in places if not self._is_code(at))

    def _is_code(self, at: int) -> bool:
        number = bisect_right(self._code, at, key=attrgetter("start")) - 1
        if number >= 0 and at < self._code[number].end:
            return True
        return self._text.count("`", self._text.rfind("\n", 0, at) + 1, at) % 2 == 1

    def rule(self, start: int, end: int, headings: Sequence[str]) -> str:
        """The name of the first rule that makes ``text[start:end]`` a screen text, empty when none does."""
        if _count(self._fields, start, end):
            return "table of fields"  # its first column names controls
        controls = _count(self._controls, start, end)
        if not controls:
            return ""
        if _count(self._paths, start, end) >= LEAST_PATHS:
            return "menu paths"  # "Settings > Users": the way through a screen
        if controls >= LEAST_CONTROLS and controls * 100 >= CONTROLS_PER_HUNDRED * len(self._text[start:end].split()):
            return "words of controls"
        if headings and _HEADING.search(headings[-1]):
            return "heading"  # "Form of a request": named after the screen, and a control is mentioned
        return ""


def _places(text: str, word: str) -> Iterator[int]:
    """Where the word begins; of a word with a blank in front, the blank."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _count(places: Sequence[int], start: int, end: int) -> int:
    return bisect_left(places, end) - bisect_left(places, start) if places else 0
