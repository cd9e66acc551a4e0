"""Is what was found enough for an answer? Without a language model, by how well the first chunk bears the question."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from askwiki.data import Calibration, Candidate, Question, Refusal
from askwiki.language.stems import STOP_WORDS, fold, telling_stems
from askwiki.language.synonyms import Synonyms
from askwiki.language.terms import grams, terms
from askwiki.language.wording import CYRILLIC, language_of
from askwiki.settings import AnswerSettings
from askwiki.stages.passages.spans import text_of

READ = 10  # candidates in which a name of the question is looked for
# Latin, or with a digit in front; two signs and more.
_NAME = re.compile(r"(?<![\w./@-])[A-Za-z0-9][A-Za-z0-9_.,:+#@/-]*[A-Za-z0-9+#]")
_BETWEEN_CYRILLIC = re.compile(r"([А-Яа-яЁё]+)")
_LATIN_WORD = re.compile(r"[A-Za-z]+")
MESSAGE_WORDS = 3  # Latin words in a row, all but one in small letters: no name of a product is written so
# The curve of the confidence: 0.3 at 2.33 deviations below the middle, where a hundredth of a normal distribution lies
# below, 0.65 at 1.04, a seventh.
AT_MIDDLE, A_DEVIATION = 1.80, 1.137
FAR = 50.0  # beyond it nothing changes


def confidence(
    candidates: Sequence[Candidate],
    question: Question,
    calibration: Calibration | None,
    synonyms: Synonyms | None = None,
) -> float | None:
    """0 to 1; None while the index has no calibration: then nobody knows.

    By where the support of the first chunk stands among those of the index's own questions (``calibration``): three of
    ten at the hundredth that is supported least, two of three at the seventh. So it means the same under every encoder.
    """
    if calibration is None:
        return None
    if not candidates:
        return 0.0
    similarity, share = support(candidates, question.text, synonyms)
    if similarity is None:
        deviations = (share - calibration.words_middle) / calibration.words_spread
    else:
        found = calibration.similarity * similarity + calibration.words * share
        deviations = (found - calibration.middle) / calibration.spread
    return 1.0 / (1.0 + math.exp(-max(-FAR, min(FAR, AT_MIDDLE + A_DEVIATION * deviations))))


def support(
    candidates: Sequence[Candidate], question: str, synonyms: Synonyms | None = None
) -> tuple[float | None, float]:
    """How the first chunk bears the question: similarity to what it says, None when only words could be searched; and
    the share of its words in that chunk, everyday words as the wiki writes them.
    """
    first = candidates[0]
    text = text_of(first.chunk)
    heard = synonyms.heard(question, text) if synonyms else ()
    share = share_of(question, " ".join((text, *heard)))
    similarities = [hit.score for each in candidates if (hit := each.legs.get("text"))]
    hit = first.legs.get("text")
    return (hit.score if hit else min(similarities, default=None)), share


def share_of(question: str, text: str) -> float:
    """How much of a question a text holds: the mean of the shares of its terms and of its letter groups."""
    letters, words = set(grams(question)), {term.text for term in terms(question)}
    if not letters:
        return 0.0
    found = len(letters & set(grams(text))) / len(letters)
    return (found + (len(words & {term.text for term in terms(text)}) / len(words) if words else found)) / 2


def unheard(question: str, candidates: Sequence[Candidate]) -> list[str]:
    """Names and numbers of a question in Russian that stand in nothing found: what is said of others may not hold.

    On a technical wiki 2 of 202 questions that it answers have one, and 8 of 34 that it does not (measured).
    """
    if not CYRILLIC.search(question):
        return []  # every word would be one
    texts = fold("\n".join(text_of(candidate.chunk) for candidate in candidates[:READ]))
    names = dict.fromkeys(_NAME.findall(_without_messages(question)))
    return [name for name in names if fold(name) not in texts and fold(name) not in STOP_WORDS]


def _without_messages(question: str) -> str:
    """The question without sentences in Latin letters: a pasted message of a program, or a command, names nothing."""
    return "".join(" " if _is_message(part) else part for part in _BETWEEN_CYRILLIC.split(question))


def _is_message(part: str) -> bool:
    words = _LATIN_WORD.findall(part)
    return len(words) >= MESSAGE_WORDS and sum(word[0].islower() for word in words) >= MESSAGE_WORDS - 1


def would_refuse(
    sure: float | None, candidates: Sequence[Candidate], question: Question, settings: AnswerSettings
) -> bool:
    """Without a model: too little confidence; where there is none, only what shares no telling word with the wiki."""
    if sure is None:
        return settings.refusal_threshold > 0 and is_foreign(candidates, question)
    return sure < settings.refusal_threshold


def kind_of_refusal(question: Question, candidates: Sequence[Candidate]) -> Refusal:
    """What an honest "no" says: no wiki of a company knows such things, or this one does not say."""
    return "outside" if question.need == "outside" or is_foreign(candidates, question) else "insufficient"


def is_foreign(candidates: Sequence[Candidate], question: Question) -> bool:
    """Whether not one telling word of the question stands in anything found: it is about something else.

    A wiki in another language than the question's has none of its words and may still be about it.
    """
    if candidates and language_of(text_of(candidates[0].chunk), question.language) != question.language:
        return False
    words = set(telling_stems(question.text))
    return not any(words & set(telling_stems(text_of(candidate.chunk))) for candidate in candidates)
