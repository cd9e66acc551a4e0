"""A list of sources that the model wrote itself: the chat has ours, so its lines go, and the pages it names stay."""

from __future__ import annotations

import re
from collections.abc import Mapping

from askwiki.language import en, ru
from askwiki.language.stems import fold
from askwiki.stages.citations.markers import CODE_SPAN, MARKERS, usual_markers
from askwiki.stages.evidence.known import Known

_NAMES = "|".join((*ru.OWN_LISTS, *en.OWN_LISTS))
_HEADING = re.compile(
    rf"\A[ \t]*+(?:#{{1,6}}[ \t]++)?[*_]{{0,3}}(?:{_NAMES})[*_]{{0,3}}:?[*_]{{0,3}}[ \t]*+\n?\Z", re.IGNORECASE
)
_ITEM = re.compile(r"\A[ \t]*+(?:[-*•+]|\d{1,3}[.)])?[ \t]*+")
LEAST_TITLE = 4  # characters of a page's title that an item is known by


class OwnList:
    """Takes the units of an answer in order and gives back those that are no part of such a list.

    ``used`` = the passages that a list named. A heading is held until it is known what stands below it: a list of
    the answer's own matter («Источники:» of data, of heat) goes on.
    """

    def __init__(self, passages: Mapping[int, Known]) -> None:
        self.used: dict[int, None] = {}
        self._titles = {number: fold(known.name.partition("\n")[0].strip()) for number, known in passages.items()}
        self._held = ""  # a heading and the empty lines below it
        self._within = False
        self._drops = False  # the rest of a line whose beginning went

    def take(self, unit: str, *, begins: bool) -> str:
        """What of ``unit`` may go on; ``begins``: it begins a line."""
        if not self._titles:
            return unit
        if not begins:
            rest = "" if self._drops else unit
            self._drops = self._drops and not unit.endswith("\n")
            return rest
        if not self._held and not self._within:
            if _HEADING.match(unit):
                self._held, unit = unit, ""
            return unit
        if not unit.strip():
            self._held += unit if self._held else ""
            return ""
        if named := self._named(unit):
            self.used.update(named)
            self._held, self._within, self._drops = "", True, not unit.endswith("\n")
            return ""
        held, self._held, self._within = self._held or "\n", "", False
        return held + unit

    def _named(self, line: str) -> dict[int, None]:
        """The passages that an item names by their markers or, at its beginning, by their title."""
        marked = MARKERS.findall("".join(CODE_SPAN.split(usual_markers(line))[::2]))
        found = {int(number): None for marks in marked for number in re.findall(r"\d+", marks)}
        if found := {number: None for number in found if number in self._titles}:
            return found
        said = fold(_ITEM.sub("", line)).lstrip('[«"*_ ')
        return {
            number: None
            for number, title in self._titles.items()
            if len(title) >= LEAST_TITLE and said.startswith(title)
        }
