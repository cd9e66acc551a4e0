"""Markers of an answer: written one way, each judged for the clause before it, numbered in the order of citing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from askwiki.language.stems import telling_stems
from askwiki.stages.citations.support import CLASHES, Excused, judge, unsupported
from askwiki.stages.evidence.known import Known

_NUMBERS = r"\d{1,3}(?:\s*[,;]\s*\d{1,3})*"
MARKERS = re.compile(rf"(?:[ \u00a0]?\[{_NUMBERS}\](?!\())+")
_NAMED = (
    r"(?:источники?|sources?|citations?|cite|ref|references?|doc(?:ument)?s?|passages?"
    r"|документы?|фрагменты?|отрыв(?:ок|ки))"
)
_SIGN = r"[ \u00a0:№#.]{0,3}"
# Other ways in which models write a marker; a range; a marker that leads somewhere is one whose address nobody checked.
_ODD_MARKER = re.compile(
    r"【(\d{1,3})[^】\n]{0,40}】|\[\^(\d{1,3})\](?!:)|\[\[(\d{1,3})\]\]|\[(\d{1,3})\]\([^()\s]*\)"
    rf"|[\[(]{_NAMED}{_SIGN}(\d{{1,3}}(?:\s*[,;]\s*(?:{_NAMED}{_SIGN})?\d{{1,3}}){{0,12}})[\])](?!\()"
    rf"|\[{_SIGN}(\d{{1,3}})\](?!\()",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\[(\d{1,3})\s?[-–—]\s?(\d{1,3})\](?!\()")
MOST_IN_RANGE = 12  # passages that one range names; a longer one is no range of sources
CODE_SPAN = re.compile(r"((?<!`)`++[^`\n]*+`++)")
_WORD = re.compile(r"\w")
_LABEL = re.compile(
    r"(?<![\s|>*_-])(?P<before>[\s|>*_-]*+)\(?\**+(?:источники?|см\. источники?|sources?)\**+\s*+:?\**+\s*+:?",
    re.IGNORECASE,
)
_CHECKED_AGAIN = 12  # sentences before a lone marker, to one of which it belongs


@dataclass(slots=True)
class Marking:
    """Judges the markers of an answer's sentences, one after another.

    ``numbers`` grows on the way: a cited passage -> its number in the text.
    """

    passages: Mapping[int, Known]
    least_share: float
    excused: Excused = Excused()
    numbers: dict[int, int] = field(default_factory=dict)
    same: Mapping[int, int] = field(default_factory=dict)  # passage -> the first one of the same label and address
    cited_for: dict[int, str] = field(default_factory=dict)  # a cited passage -> what was said when it was first cited
    cited_again: dict[int, list[tuple[int, str]]] = field(default_factory=dict)  # … -> (passage of its place, sentence)
    used: dict[int, str] = field(default_factory=dict)  # a passage whose marker went for its form -> what was said
    _places: dict[int, int] = field(default_factory=dict)  # first passage of a place -> the one that was cited first
    _clashed: set[str] = field(default_factory=set)  # clauses of the unit whose markers were dropped for a clash
    _said: list[str] = field(default_factory=list)  # sentences of the block under way: a lone marker belongs to them

    def checked(self, unit: str) -> tuple[str, bool]:
        """A sentence with its markers as they may be shown, and whether it states what no passage bears out."""
        parts = [part if at % 2 else usual_markers(part) for at, part in enumerate(CODE_SPAN.split(unit))]
        out: list[str] = []
        clause = ""
        self._clashed.clear()
        clauses: list[str] = []
        for text, is_marker in _pieces(parts):
            if not is_marker:
                out.append(text)
                clause += text
                continue
            if not _says(clause) and not _LABEL.search(clause) and clauses:
                clause = clauses.pop() + clause  # «… [1] и [2]»: both speak for the words before them
            following = "" if clause.strip() else "".join(part for part, marks in _pieces(parts) if not marks)
            shown = self._shown(text, clause, following)
            if not shown and (label := _LABEL.fullmatch(clause.strip())):
                out = [label["before"]] if out and "".join(out).strip() == clause.strip() else out
            out.append(shown)
            if _says(clause):
                clauses.append(clause)
            clause = ""
        if _WORD.search(clause):
            clauses.append(clause)
        self._remember(unit, clauses)
        return "".join(out), bool(self.passages) and any(map(self._unsupported, clauses))

    def _shown(self, markers: str, clause: str, following: str) -> str:
        """The markers of supported passages as ``[1][2]``; the blank before dropped ones goes with them."""
        cited = list(dict.fromkeys(int(number) for number in re.findall(r"\d+", markers)))
        if _WORD.search(_LABEL.sub("", clause)):
            said = [clause]
        else:
            said = (
                [following]
                if _WORD.search(following) and not _LABEL.fullmatch(following.strip())
                else self._before(clause)
            )
        supported: set[int] = set()
        for one in () if said else cited:
            self._was_used(one, "")
        for sentence in said:
            verdict = judge(sentence, cited, self.passages, self.least_share, self.excused)
            supported |= set(verdict.by)
            for one in verdict.unlike:
                self._was_used(one, sentence)
            for one in verdict.by:
                self._note(one, sentence)
            if verdict.clash in CLASHES:
                self._clashed.add(sentence)
        listed = dict.fromkeys(self.listed_as(one) for one in cited if one in supported)
        shown = [self.numbers.setdefault(one, len(self.numbers) + 1) for one in listed]
        blank = markers[0] if markers[0] != "[" else ""
        return blank + "".join(f"[{number}]" for number in shown) if shown else ""

    def listed_as(self, one: int) -> int:
        """The passage under whose number another one of the same place is cited: one line of the list for both."""
        return self._places.setdefault(self.same.get(one, one), one)

    def _was_used(self, one: int, sentence: str) -> None:
        """Nothing speaks against a passage, and its marker goes all the same: its page stays in the list."""
        if one in self.passages and not self._unsupported(sentence):
            self.used.setdefault(self.listed_as(one), sentence)

    def _note(self, one: int, sentence: str) -> None:
        first = self.listed_as(one)
        if first == one and one not in self.cited_for:
            self.cited_for[one] = sentence
        elif len(again := self.cited_again.setdefault(first, [])) < _CHECKED_AGAIN:
            again.append((one, sentence))

    def _before(self, clause: str) -> list[str]:
        """What a marker without words of its own belongs to: the last sentence; with «Источник:» the whole block."""
        return self._said[-_CHECKED_AGAIN:] if _WORD.search(clause) else self._said[-1:]

    def _remember(self, unit: str, clauses: list[str]) -> None:
        if clauses:
            self._said = [*self._said[-_CHECKED_AGAIN:], "".join(clauses)]

    def _unsupported(self, clause: str) -> bool:
        return unsupported(clause, self.passages, self.excused, unmarked=clause in self._clashed)


def _says(clause: str) -> bool:
    return bool(telling_stems(clause))


def _pieces(parts: list[str]) -> Iterator[tuple[str, bool]]:
    """The text in order, cut at its markers: (piece, whether it is a run of markers); code holds none."""
    for at, part in enumerate(parts):
        place = 0
        if at % 2 == 0:
            for match in MARKERS.finditer(part):
                if match.start() > place:
                    yield part[place : match.start()], False
                yield match.group(), True
                place = match.end()
        if part[place:]:
            yield part[place:], False


def usual_markers(text: str) -> str:
    """``【1】``, ``[^1]``, ``[Источник 1]``, ``[1](address)`` and the like as ``[1]``; ``[1-3]`` as ``[1, 2, 3]``."""

    def range_of(match: re.Match[str]) -> str:
        first, last = int(match[1]), int(match[2])
        listed = first < last < first + MOST_IN_RANGE
        return f"[{', '.join(map(str, range(first, last + 1)))}]" if listed else match.group()

    def usual(match: re.Match[str]) -> str:
        return f"[{', '.join(re.findall(r'[0-9]+', match[match.lastindex or 1]))}]"

    return _RANGE.sub(range_of, _ODD_MARKER.sub(usual, text))
