"""Does a passage support a sentence: by numbers, dates, names, identifiers and word stems, never by a model.

Every fact of the clause must stand in the passages cited for it, and in the statement of theirs that is most like the
clause, or in one nearly as like; that statement must not deny what the clause says, nor the clause it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from askwiki.language.stems import telling_stems
from askwiki.stages.evidence import polarity
from askwiki.stages.evidence.counted import is_count, is_worked_out
from askwiki.stages.evidence.denial import denied
from askwiki.stages.evidence.facts import Facts, exact_facts, facts_of, held_identifiers, held_numbers, without_goals
from askwiki.stages.evidence.features import features
from askwiki.stages.evidence.known import Known, known
from askwiki.stages.evidence.names import forms_of, stands_among
from askwiki.stages.evidence.places import displaced
from askwiki.stages.evidence.score import unsupported_probability, weights

__all__ = [
    "Known",
    "Verdict",
    "claims",
    "contradicted",
    "exact_facts",
    "excused",
    "judge",
    "known",
    "supporting",
    "unsupported",
    "values_of",
]

CLASHES = ("fact", "place", "denied")  # why a clause is not borne out, other than by its words
LEAST_CLAIM = 3  # telling words of a clause that claims something
AT_ALL = 0.1  # likeness of clause and passage below which they have nothing to do with each other
SURELY = 0.75  # likeness from which a passage supports a clause whatever another one says
# By how much another passage may be more like a clause than the cited one that is like it, or hardly like it.
CLEARLY, NEARLY_EQUAL = 0.3, 0.15


class Telling(NamedTuple):
    """Likeness from which a statement is about the same as a clause: for ``places`` of facts, for its ``matter``."""

    places: float
    matter: float


# Likeness of clause and statement from which both are about the same: for a marker, and to call the clause wrong.
TELLING, COPIED = Telling(0.5, 0.7), Telling(0.85, 0.85)


class Verdict(NamedTuple):
    """``by`` = the cited passages that support the clause; ``clash`` = why they do not: fact | place | denied | words.

    ``unlike`` = those of the cited ones that share too few words with it, though no other passage has more of them.
    """

    by: tuple[int, ...]
    clash: str = ""
    unlike: tuple[int, ...] = ()


class Excused(NamedTuple):
    """What needs no source: the question's own numbers and words, the present year."""

    numbers: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    stems: frozenset[str] = frozenset()
    forms: frozenset[str] = frozenset()
    denies: bool = False  # the question itself says "not"


def excused(*texts: str) -> Excused:
    """What the person's own words state: an answer may repeat it, and no page has to."""
    text = "\n".join(texts)
    return Excused(
        frozenset(held_numbers(text)),
        frozenset(held_identifiers(text)),
        frozenset(telling_stems(text)),
        frozenset(forms_of(text)),
        polarity.denies(text),
    )


def supporting(
    sentence: str,
    cited: Sequence[int],
    passages: Mapping[int, Known],
    least_share: float,
    own: Excused | None = None,
) -> list[int]:
    """Those of the ``cited`` passages that support ``sentence``, in order."""
    return list(judge(sentence, cited, passages, least_share, own or Excused()).by)


def judge(
    sentence: str, cited: Sequence[int], passages: Mapping[int, Known], least_share: float, own: Excused
) -> Verdict:
    """What the passages cited for a clause say to it."""
    there = [number for number in dict.fromkeys(cited) if number in passages]
    if not there:
        return Verdict(())
    sources = [passages[number] for number in there]
    words = frozenset(telling_stems(sentence))
    facts, clash = _clash(sentence, sources, own, TELLING)
    if clash:
        return Verdict((), clash)
    exact = bool(facts_of(sentence))
    likes = {number: _like(passages[number], words) for number in passages} if words else {}
    rivals = max((like for number, like in likes.items() if number not in there), default=0.0)
    by = tuple(
        number
        for number in there
        if _says_one_of(passages[number], facts) and (not words or _holds(likes[number], rivals, least_share, exact))
    )
    unlike = tuple(
        number for number in there if number not in by and words and rivals - likes[number] < NEARLY_EQUAL and not facts
    )
    return Verdict(by, "" if by else "words", unlike)


def _clash(
    sentence: str, sources: Sequence[Known], own: Excused, telling: Telling
) -> tuple[Facts, Literal["", "fact", "place", "denied"]]:
    """The facts that a clause needs a source for, and why these sources do not bear it out."""
    facts = _to_be_held(facts_of(sentence), sentence, sources, own)
    if not facts.numbers <= frozenset[str]().union(*(source.numbers for source in sources)):
        return facts, "fact"
    if not facts.identifiers <= frozenset[str]().union(*(source.words for source in sources)):
        return facts, "fact"
    forms = frozenset[str]().union(*(source.forms for source in sources))
    if not all(stands_among(name, forms) for name in facts.names):
        return facts, "fact"
    words = frozenset(telling_stems(sentence))
    topic = frozenset(word for word in words if not word.isdigit()) or words
    if any(displaced(sentence, facts, topic, own.stems, sources, telling.places)):
        return facts, "place"
    return facts, "denied" if denied(sentence, sources, asked_not=own.denies, telling=telling.matter) else ""


def claims(clause: str) -> bool:
    """Whether a clause says something of its own: no heading, no question, no line before a list."""
    stripped = clause.strip()
    return len(telling_stems(stripped)) >= LEAST_CLAIM and not stripped.startswith("#") and stripped[-1] not in ":?"


def contradicted(clause: str, sources: Sequence[Known], own: Excused) -> bool:
    """Whether a number, name or identifier stands in no passage, or what they say of the same thing is another one or
    the opposite."""
    return bool(_clash(clause, sources, own, COPIED)[1])


def values_of(clause: str, sources: Sequence[Known], own: Excused) -> list[float]:
    """The features of a clause beside all passages that were given."""
    held = _to_be_held(facts_of(clause), clause, sources, own)
    return features(clause, held, sources, own.stems)


def unsupported(clause: str, passages: Mapping[int, Known], own: Excused, *, unmarked: bool = False) -> bool:
    """Whether a clause claims what most likely none of the passages that were given bears out.

    ``unmarked``: its own marker was dropped for a clash, so it is enough that no other passage says it.
    """
    clause = without_goals(clause)
    if not passages or not claims(clause):
        return False
    sources = list(passages.values())
    if contradicted(clause, sources, own) or (unmarked and _clash(clause, sources, own, TELLING)[1]):
        return True
    learned = weights()
    return unsupported_probability(values_of(clause, sources, own), learned) > learned.threshold


def _to_be_held(facts: Facts, sentence: str, sources: Sequence[Known], own: Excused) -> Facts:
    """The facts without those that are the question's own, a count of what is listed, or worked out before our eyes."""
    numbers = facts.numbers - own.numbers
    held = frozenset[str]().union(*(source.numbers for source in sources))
    if missing := numbers - held:
        given = (held & facts.numbers) | own.numbers
        numbers -= {number for number in missing if is_count(number, sentence, sources) or is_worked_out(number, given)}
    return Facts(
        numbers,
        facts.identifiers - own.words,
        frozenset(name for name in facts.names if not stands_among(name, own.forms)),
    )


def _says_one_of(passage: Known, facts: Facts) -> bool:
    """Whether a passage holds one of the facts itself, where several are cited."""
    return not facts or bool(
        facts.numbers & passage.numbers
        or facts.identifiers & passage.words
        or any(stands_among(name, passage.forms) for name in facts.names)
    )


def _like(passage: Known, words: frozenset[str]) -> float:
    """Share of the clause's words that a passage holds, and that its most alike statement does: their mean."""
    nearest = max((passage.share(words, place) for _, place in passage.nearest(words)), default=0.0)
    return (len(words & passage.stems) / len(words) + nearest) / 2


def _holds(like: float, rival: float, least_share: float, exact: bool) -> bool:
    """Whether the words may come from a passage: not all of them need to, unless another one has them."""
    if like >= least_share:
        return rival - like < CLEARLY or like >= SURELY
    return (exact or like >= AT_ALL) and rival - like < NEARLY_EQUAL
