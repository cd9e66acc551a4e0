"""A list of sources that the model wrote itself: the chat has ours, so its lines go, and the pages it names stay."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

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

    A heading is held until it is known what stands below it: a list of the answer's own matter («Источники:» of data,
    of heat) goes on.
    """

    def __init__(self, passages: Mapping[int, Known]) -> None:
        self._used: dict[int, bool] = {}  # a passage that a list named -> whether by its page's title only
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
            self._used = named | self._used
            self._held, self._within, self._drops = "", True, not unit.endswith("\n")
            return ""
        held, self._held, self._within = self._held or "\n", "", False
        return held + unit

    def further(self, cited: Collection[int]) -> list[int]:
        """The passages that lists named beside the cited ones; of a page that is named by its title one, if none is."""
        titles = {self._titles[number] for number in cited}
        found = []
        for number, by_title in sorted(self._used.items(), key=lambda named: named[1]):
            if number not in cited and not (by_title and self._titles[number] in titles):
                titles.add(self._titles[number])
                found.append(number)
        return found

    def _named(self, line: str) -> dict[int, bool]:
        """The passages that an item names by their markers or, at its beginning, by their title."""
        marked = MARKERS.findall("".join(CODE_SPAN.split(usual_markers(line))[::2]))
        found = {int(number): False for marks in marked for number in re.findall(r"\d+", marks)}
        if found := {number: False for number in found if number in self._titles}:
            return found
        said = fold(_ITEM.sub("", line)).lstrip('[«"*_ ')
        titles = [title for title in self._titles.values() if len(title) >= LEAST_TITLE and said.startswith(title)]
        return {number: True for number, title in self._titles.items() if title == max(titles, key=len, default=None)}
