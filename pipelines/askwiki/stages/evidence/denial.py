"""Whether a passage says the opposite of a sentence, or an exception that the sentence leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from itertools import pairwise

from askwiki.language.stems import REMEMBERED, telling_stems
from askwiki.stages.evidence import polarity
from askwiki.stages.evidence.known import Known
from askwiki.stages.evidence.statements import cells_of

LEAST_ALIKE = 0.3  # share of a clause's matter in a statement of which a part is looked at
NEAR_ALIKE = 0.88  # of the best share: statements among which one of the same polarity is enough
FARTHER = 1.6  # of a clause's words: a part this much longer says something else beside it
LEAST_MATTER = 3  # telling words of a clause; of fewer nothing can be said
WHOLE = 0.75  # share of a statement that a clause repeats, so that an exception left out is missed
_CLAUSE = re.compile(
    r"[,;:()—|]\s|\s[–-]\s|<br\s*/?>|[.!?]\s|\s(?:но|а|и|однако|and|but|while|whereas)\s", re.IGNORECASE
)


def denied(sentence: str, sources: Sequence[Known], *, asked_not: bool, telling: float) -> bool:
    """Whether the statements most like a clause of the sentence say the opposite of it.

    ``telling`` = share of a clause's matter from which a statement is about the same.
    """
    within_condition = polarity.conditional(sentence)
    for clause in _clauses(sentence):
        matter = polarity.matter(clause)
        words = polarity.words_of(matter)
        enough = telling if words >= LEAST_MATTER else 1.0  # of a short clause all must stand there
        near = list(_near(clause, matter, sources)) if words >= LEAST_MATTER - (words == len(matter)) else []
        near = [each for each in near if within_condition or not polarity.conditional(each[1])]
        best = max((share for share, _, _ in near), default=0.0)
        if best < enough:
            continue
        denies, bounds = polarity.denies(clause), polarity.bounds(clause)
        equals = [(part, flipped) for share, part, flipped in near if share >= NEAR_ALIKE * best]
        if asked_not and not denies:  # «Когда нельзя?» — «С 22 до 8»
            continue
        if all(polarity.opposite(part, clause) != flipped for part, flipped in equals):
            return True
        if bounds and any(polarity.bounds_clash(bounds, polarity.bounds(part)) for part, _ in equals):
            return True
    return _left_out(sentence, sources)


@lru_cache(maxsize=REMEMBERED)
def _clauses(sentence: str) -> tuple[str, ...]:
    """The parts of a sentence that say something by themselves; what is too short goes with the one before it.

    The cells of a row stand each for itself: "no" below «Required» denies nothing that the cells beside it say.
    """
    if len(cells := cells_of(sentence)) > 1:
        return tuple(clause for cell in cells if polarity.matter(cell) for clause in _clauses(cell))
    clauses: list[str] = []
    for part in _CLAUSE.split(polarity.opened(sentence)):
        if (clauses and len(polarity.matter(part)) < 2) or (clauses and len(polarity.matter(clauses[-1])) < 2):
            clauses[-1] += f" {part}"
        else:
            clauses.append(part)
    return tuple(clauses)


def _near(clause: str, matter: frozenset[str], sources: Sequence[Known]) -> Iterator[tuple[float, str, bool]]:
    """Parts of the statements most like a clause: (share of its matter, part, whether a prefix denies a word of it).

    A statement as a whole only where no part of it says as much: the "not" of another part is none of this one.
    """
    for source in sources:
        for likeness, place in source.nearest(matter, 4):
            if likeness < LEAST_ALIKE:
                continue
            told = source.told[place]
            pieces = _clauses(told.statement.text)
            found = [_of_part(part, clause, matter, told.above) for part in pieces]
            if len(pieces) > 1:
                pairs = [_of_part(f"{one} {other}", clause, matter, told.above) for one, other in pairwise(pieces)]
                best = max(each[0] for each in found)
                found += [each for each in pairs if each[0] > best]
                best = max(each[0] for each in found)
                whole = _of_part(told.statement.text, clause, matter, told.above)
                found += [whole] if whole[0] > best or _answers_no(told.statement.text) else []
            yield from (each for each in found if each[0] > 0)


@lru_cache(maxsize=REMEMBERED)
def _answers_no(row: str) -> bool:
    """Whether a cell of a row is a "no" alone: a sentence that tells the row may say it of its column."""
    return any(polarity.denies(cell) and not polarity.matter(cell) for cell in cells_of(row))


def _of_part(part: str, clause: str, matter: frozenset[str], above: frozenset[str]) -> tuple[float, str, bool]:
    content = polarity.matter(part)
    if len(content) > FARTHER * len(matter) and polarity.denies(part) != polarity.denies(clause):
        return 0.0, part, False  # its "not" may belong to what else it says
    flipped = _flips(matter, content) + _flips(content, matter)
    common = len(matter & content) + flipped + 0.5 * len((matter - content) & above)
    return common / len(matter) - 0.02 * (len(content) > 3 * len(matter)), part, bool(flipped)


def _flips(one: Set[str], other: Set[str]) -> int:
    """How many words of ``one`` are a word of ``other`` with a prefix that denies it: недоступен, доступен."""
    roots = [root for word in one - other if (root := polarity.prefixed(word))]
    return sum(any(word.startswith(root[: max(4, len(root) - 2)]) for word in other - one) for root in roots)


def _left_out(sentence: str, sources: Sequence[Known]) -> bool:
    """Whether a statement, or a part of it, is repeated nearly whole, but not its "except" or "only"."""
    whole = polarity.matter(sentence)
    if polarity.restricts(sentence) or polarity.words_of(whole) < LEAST_MATTER:
        return False
    words = set(telling_stems(sentence))
    found = False
    for source in sources:
        for likeness, place in source.nearest(whole, 3):
            text = source.told[place].statement.text
            left_out = polarity.exceptions(text)
            content = polarity.matter(text) - left_out
            if likeness < WHOLE or len(content & whole) < WHOLE * len(content):
                continue
            if (left_out and not left_out & words) or polarity.only(text):
                found = True
            else:
                return False  # it stands elsewhere without an exception
    return found
