"""Facts that stand in a passage, but not where the clause needs them: a number of another line, another name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from askwiki.language.numerals import NUMBER, SPOKEN, number_of
from askwiki.language.stems import STOP_STEMS, WORD, fold, stem, telling_stems
from askwiki.stages.evidence.facts import Facts, held_numbers
from askwiki.stages.evidence.known import Known
from askwiki.stages.evidence.statements import Statement, cells_of

_PART = re.compile(r"[,;()]\s|\s(?:и|а|но|and|but)\s")
LEAST_PART = 2  # telling words of such a part
AROUND = 3  # telling words to each side of a number
NOTHING = 0.3  # likeness below which no statement is about the same
NEARLY = 0.62  # of the best likeness: a fact may stand in a statement this like the clause
NEARLY_THERE = ((0.9, 0.92), (0.75, 0.8))  # likeness of the best statement -> share of it that another one needs
COPIED = 0.85  # likeness from which one statement is what the whole sentence is taken from
TELLING_OF_NAMES = 0.65  # the same for names: they stand farther from what is said of them
LEAST_TOPIC = 3  # telling words; fewer tell no place from another
ALL_TOLD = 0.9  # share of a clause's words in the row and above it
LEAST_TOLD = 2  # numbers of a row that is told whole
NEARLY_NAMED = 0.35  # the same for names: they are spread wider over a text than numbers


def displaced(
    sentence: str, facts: Facts, topic: frozenset[str], asked: frozenset[str], sources: Sequence[Known], telling: float
) -> Iterator[bool]:
    """For each fact whether all statements that hold it are less like the clause than another one is.

    Nothing is said where the best statement is less like it than ``telling``. A short answer says with the words of
    the question what it is about: with those (``asked``) it may fit, too.
    """
    if len(topic) < LEAST_TOPIC:
        return
    topics = [words for words in {topic, topic | asked} if _best(words, sources) >= NOTHING]
    own = [found for words in topics if (found := _own(words, sources))[1] >= telling]
    if not own:
        return
    for number in () if _row_told(sentence, facts, sources) else facts.numbers:
        places = [(source, place) for source in sources for place in source.places_of_number(number)]
        near = own
        if all(best < COPIED for _, best in own) and (part := _part_of(sentence, number)) is not None:
            if len(part) < LEAST_PART:
                continue  # too few words to tell where it should stand
            near = [*own, (part, _best(part, sources))]
        there = [pair for pair in places if any(_like(pair, words) >= _least(best) for words, best in near)]
        if places:  # else it stands in title, heading or date, which an answer may name
            yield not there or all(_another_fits(sentence, number, *pair) for pair in there)
    named = frozenset(stem(name) for name in facts.names)
    for name in facts.names | facts.identifiers:
        bare = [rest if len(rest := _without(words, named)) >= LEAST_PART else words - {stem(name)} for words in topics]
        yield not any(_named_near(name, words, sources, telling) for words in bare)


def _row_told(sentence: str, facts: Facts, sources: Sequence[Known]) -> bool:
    """Whether these are all the numbers of one row, and none else but of the table's head: then each is in its place.

    Rows of numbers alone have the same words above them, so words tell none of them from the others. All other words
    must stand in the row or above it, too.
    """
    numbers = facts.numbers
    words = frozenset(word for word in telling_stems(SPOKEN.sub(" ", fold(sentence))) if not word.isdigit())
    if len(numbers) < LEAST_TOLD or not words:
        return False
    places = {(source, place) for number in numbers for source in sources for place in source.places_of_number(number)}
    return any(
        len(row := source.numbers_in(place)) >= LEAST_TOLD
        and row <= numbers
        and bool(cells_of(source.told[place].statement.text))
        and source.share(words, place) >= ALL_TOLD
        and all(place in source.places_of_name(name) for name in facts.names)
        and numbers - row <= held_numbers(source.told[place].statement.above)
        for source, place in places
    )


def _without(words: frozenset[str], names: frozenset[str]) -> frozenset[str]:
    """Words without names and the compounds that are made of them."""
    parts = {word: {word, *map(stem, word.split("-"))} if "-" in word else {word} for word in words}
    return frozenset(word for word in words if not parts[word] & names)


def _own(words: frozenset[str], sources: Sequence[Known]) -> tuple[frozenset[str], float]:
    """The words that tell the most alike statement from others below the same line or table's head, and how alike."""
    found = [(likeness, place, source) for source in sources for likeness, place in source.nearest(words, 1)]
    _, place, source = max(found, key=lambda each: each[0])
    told = source.told[place]
    own = words - (told.above - told.stems)
    own = own if own & told.stems else words
    return own, _best(own, sources)


def _named_near(name: str, words: frozenset[str], sources: Sequence[Known], telling: float) -> bool:
    """Whether a statement that is about the same, or what stands above it, holds the name; true where none is.

    What is in the page's name may stand beside all that the page says.
    """
    best = _best(words, sources)
    if best < max(telling, TELLING_OF_NAMES) or any(source.named(name) for source in sources):
        return True
    least = (NEARLY if best >= COPIED else NEARLY_NAMED) * best
    return any(
        source.likeness(words, place) >= least
        for source in sources
        for place in {*source.places_of_name(name), *source.places_of_word(name)}
    )


def _part_of(sentence: str, number: str) -> frozenset[str] | None:
    """The words of the part of a sentence in which a number stands, if it has several: they may have several places."""
    parts = [part for part in _PART.split(sentence) if part]
    for part in parts if len(parts) > 1 else ():
        if any(number_of(match) == number for match in NUMBER.finditer(part)):
            return frozenset(_stems(NUMBER.sub(" ", part)))
    return None


def _least(best: float) -> float:
    """The likeness that a statement with the fact needs: the more, the nearer another one is to the clause's words."""
    return max(NEARLY, next((share for least, share in NEARLY_THERE if best >= least), 0.0)) * best


def _best(words: frozenset[str], sources: Sequence[Known]) -> float:
    return max((likeness for source in sources for likeness, _ in source.nearest(words, 1)), default=0.0)


def _like(pair: tuple[Known, int], words: frozenset[str]) -> float:
    source, place = pair
    return source.likeness(words, place)


def _another_fits(sentence: str, number: str, source: Known, place: int) -> bool:
    """Whether in this statement another number stands where the clause has ours."""
    statement = source.told[place].statement
    held: dict[str, frozenset[str]] = {}
    for other, words in (*around(statement.text), *_in_columns(statement)):
        held[other] = held.get(other, frozenset()) | words
    if number not in held or len(held) < 2:
        return False
    said = [words for one, words in around(sentence) if one == number]
    return any(
        len(words & beside) > len(words & held[number])
        for words in said
        for other, beside in held.items()
        if other != number
    )


def around(text: str) -> list[tuple[str, frozenset[str]]]:
    """Each number with the stems beside it, up to the next number and the end of its part."""
    found: list[tuple[str, frozenset[str]]] = []
    for part in _PART.split(text.replace("|", ", ")):
        tokens: list[tuple[str, bool]] = []
        place = 0
        for match in NUMBER.finditer(part):
            tokens += [(word, False) for word in _stems(part[place : match.start()])]
            tokens.append((number_of(match), True))
            place = match.end()
        tokens += [(word, False) for word in _stems(part[place:])]
        for at, (token, is_number) in enumerate(tokens):
            if is_number:
                before = takewhile(_is_word, reversed(tokens[max(0, at - AROUND) : at]))
                after = takewhile(_is_word, tokens[at + 1 : at + 1 + AROUND])
                found.append((token, frozenset(word for word, _ in (*before, *after))))
    return found


def _in_columns(statement: Statement) -> Iterator[tuple[str, frozenset[str]]]:
    """Each number of a table's row with the stems of its column's head."""
    heads, cells = cells_of(statement.above.rpartition("\n")[2]), cells_of(statement.text)
    for head, cell in zip(heads, cells, strict=False):
        for match in NUMBER.finditer(cell):
            yield number_of(match), frozenset(_stems(head))


def _is_word(token: tuple[str, bool]) -> bool:
    return not token[1]


def _stems(text: str) -> list[str]:
    return [one for word in WORD.findall(fold(text)) if (one := stem(word)) not in STOP_STEMS]
