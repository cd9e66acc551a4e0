"""Dialogue -> a question that stands alone: by the LLM where it helps, else by a stated rule.

The rule without an LLM: a question that leans on what was said (pronoun, «а …», ellipsis, no more than
a few words) is searched together with the previous question of the person, and with the one that this
one leans on; thanks and wishes about an answer are none. Any other question stands alone.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any, cast

from askwiki.data import Intent, Need, Question, Turn
from askwiki.errors import Cancelled, ModelError, ModelRefuses
from askwiki.language import en, ru
from askwiki.language.page_wishes import page_wish
from askwiki.language.stems import fold, telling_stems
from askwiki.language.wording import (
    CYRILLIC,
    LATIN,
    asks_twice,
    intent_of,
    language_of,
    leans_on_dialogue,
    points,
    points_back,
)
from askwiki.llm.port import Message
from askwiki.settings import CondenseSettings, Settings
from askwiki.stages.dialogue import clean, is_button, last_sources, recent, split
from askwiki.stages.remarks import as_meant, is_about_us, remark_of
from askwiki.stages.smalltalk import (
    is_about_last_answer,
    is_friendly,
    is_interjection,
    is_no_question,
    is_short_wish,
    without_greeting,
)
from askwiki.stages.tools import StageTools

logger = logging.getLogger(__name__)

# What must not get lost on the way: what stands in quotation marks, codes, numbers, names of systems.
_EXACT = re.compile(
    r"(?<=[«“])[^«»“”\n]{2,40}(?=[»”])"  # «Заявка на отпуск»
    r"|\b(?=[\w.\-/]{0,40}\d)\w+(?:[-._/]\w+)*"  # КЗ-17, v2.3.1
    r"|\b[A-ZА-ЯЁ]{2,}(?:[-_]\w+)*"  # VPN
    r"|\b[a-z]+(?:[-_][a-z0-9]+)+\b"  # order_status
)
_TAKING_BACK = re.compile(rf"\b(?:{'|'.join((*ru.TAKING_BACK, *en.TAKING_BACK))}) [«“\"'`]?\Z", re.IGNORECASE)
_LOOKED_BACK = 16  # characters before a word in which it is taken back
# What a model says instead of a question.
_REFUSAL = re.compile(rf"\b(?:{'|'.join((*ru.REFUSALS, *en.REFUSALS))})", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?…]\s|\n")
LONG_MESSAGE = 300  # characters of a first message of several sentences from which its question is worth looking for
FEW_STEMS = 2  # of a message that says nothing without what it points at
LONGEST_CHAIN = 3  # questions that lean one on the other, read together
MOST_CHARACTERS = 1_500  # of a condensed question; a longer one is no question but an answer
SEARCHES = 3  # parts of a question that are looked for on their own
TERMS = 8  # further search words that are taken from the model

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string"},
        "need": {"type": "string", "enum": ["search", "dialogue", "smalltalk", "outside"]},
        "intent": {"type": "string", "enum": ["concept", "screen", "unclear"]},
        "terms": {"type": "array", "items": {"type": "string"}},
        "searches": {"type": "array", "items": {"type": "string"}},  # not required: a small model forgets it
    },
    "required": ["question", "need", "intent", "terms"],
    "additionalProperties": False,
}


def condense(
    turns: Sequence[Turn], *, kit: StageTools, settings: Settings, cancel: threading.Event | None = None
) -> Question:
    """The question that the search is asked. Never raises but ``Cancelled``: what fails is its ``note``."""
    question = by_rule(turns, settings.condense, settings.language)
    if not worth_asking(question, kit, settings.condense):
        return question
    try:
        return _by_llm(question, kit, cancel)
    except Cancelled:
        raise
    except ModelRefuses as error:
        logger.warning("condense: no language model for this question: %s", error)
        return replace(question, note=kit.texts.say("llm_down", question.language))
    except ModelError as error:
        logger.warning("condense: the question stays as the rule makes it: %s", error)
        return replace(question, note=kit.texts.say("condense_failed", question.language))


def by_rule(turns: Sequence[Turn], settings: CondenseSettings, default: str = "ru") -> Question:
    """What can be known without a model; ``default`` is the language of a message that has none."""
    limit = settings.question_characters
    said = clean(turns, limit)
    begun = said[-1].content if said and said[-1].role == "assistant" else ""  # the chat's button "Continue"
    before, typed, wish = split(said[:-1] if begun else said)
    typed = as_meant(typed)
    text = without_greeting(typed)
    question = Question(
        text=text,
        original=wish or typed,
        intent=intent_of(text),
        language=_language(typed, before, default),
        history=recent(before, settings),
        begun=begun,
    )
    if not typed.strip() or is_friendly(typed) or (is_no_question(typed) and (is_interjection(typed) or not before)):
        return replace(question, need="smalltalk")
    if is_about_us(typed):
        return replace(question, need="about")
    answered = any(turn.role == "assistant" for turn in before)
    if is_about_last_answer(typed) and (answered or is_short_wish(typed)):
        return replace(question, need="dialogue" if answered else "smalltalk")
    previous = _previous(before)[:limit]
    remark = remark_of(typed) if answered else ""
    if remark in ("sources", "doubt"):
        return replace(question, need="sources")
    if remark == "more" and previous:
        return replace(question, text=previous, shown=last_sources(turns))
    corrected = frozenset(word for word in _taken_back(text) if word in previous)
    if previous and (corrected or leans_on_dialogue(text)):
        if corrected:
            previous, text = _without(previous, corrected), _without(text, corrected)
        return replace(question, text=f"{previous} {text}", previous=previous)
    return question


def _previous(before: Sequence[Turn]) -> str:
    """The question before this one, with the one that it goes on from: «Суточные в Москве? А за границей?»."""
    asked: list[str] = []
    for turn in reversed(before):
        if turn.role != "user" or _is_no_question(as_meant(turn.content)):
            continue
        text = without_greeting(as_meant(turn.content))
        asked.insert(0, text)
        if len(asked) == LONGEST_CHAIN or not points_back(text):
            break
    return " ".join(asked)


def _is_no_question(text: str) -> bool:
    remark = is_about_last_answer(text) or remark_of(text) or is_about_us(text)
    wish = page_wish(text)  # «кто автор?»: of the page before
    return is_friendly(text) or is_button(text) or bool(remark) or (wish is not None and not wish.subject)


def _language(typed: str, before: Sequence[Turn], default: str) -> str:
    """Of the message, or where it has none, of what the person said before it."""
    if is_friendly(typed) and LATIN.search(typed):
        return "en"
    for text in (typed, *(turn.content for turn in reversed(before) if turn.role == "user")):
        if LATIN.search(text) or CYRILLIC.search(text):
            return language_of(text, default)
    return default


def worth_asking(question: Question, kit: StageTools, settings: CondenseSettings) -> bool:
    """A first message stands alone but for one that is long, asks twice, or is nothing without what it points at."""
    if kit.llm is None or not settings.enabled or question.need != "search":
        return False
    asked = question.original.strip()
    sentences = [part for part in _SENTENCE_END.split(asked) if part.strip()]
    short = (
        len(set(telling_stems(asked))) <= FEW_STEMS and intent_of(asked) != "concept"
    )  # «что такое …» points at nothing
    several = len(sentences) > 1
    leans = points(asked) and (short or several)
    return bool(question.history) or leans or asks_twice(asked) or (several and len(asked) > LONG_MESSAGE)


def _by_llm(question: Question, kit: StageTools, cancel: threading.Event | None) -> Question:
    if kit.llm is None:
        raise ModelError("There is no language model.")
    dialogue = _written(question.history)
    system, user = kit.prompts.get("condense", question.language).render(
        today=date.today().isoformat(),
        dialogue=dialogue,
        question=question.original,
        glossary=kit.glossary.lines(f"{dialogue}\n{question.original}") or "—",
    )
    said = kit.llm.decide("condense", [Message("system", system), Message("user", user)], SCHEMA, cancel=cancel)
    text = " ".join(str(said["question"]).split())
    _refuse_nonsense(text, question)
    intent = None if said["intent"] == "unclear" else cast(Intent, said["intent"])
    need = cast(Need, said["need"])
    terms = tuple(dict.fromkeys(" ".join(str(term).split()) for term in said["terms"]))[:TERMS]
    return replace(
        question,
        text=_with_exact_words(text, question.original),
        previous="",
        intent=intent,
        need="search" if need == "smalltalk" else need,  # friendly words were recognised by rule
        terms=tuple(term for term in terms if term and fold(term) not in fold(text)),
        searches=_parts(said.get("searches", ())),
    )


def _parts(said: Sequence[object]) -> tuple[str, ...]:
    """The questions of the parts; one alone is no part of anything."""
    parts = dict.fromkeys(
        text for each in said if (text := " ".join(str(each).split())) and len(text) <= MOST_CHARACTERS
    )
    return tuple(parts)[:SEARCHES] if len(parts) > 1 else ()


def _refuse_nonsense(text: str, question: Question) -> None:
    """A model that answers, translates or says nothing has not condensed."""
    longest = max(MOST_CHARACTERS, 2 * len(question.original))
    said = f"{_written(question.history)}\n{question.original}"
    translated = CYRILLIC.search(question.original) and not CYRILLIC.search(text)
    if not text or len(text) > longest or translated or (_REFUSAL.search(text) and not _REFUSAL.search(said)):
        raise ModelError("The language model did not give a question that stands alone.")


def _with_exact_words(text: str, original: str) -> str:
    """Codes, numbers and names that the person typed stay in the question whatever the model made of it."""
    said, taken_back = fold(text), _taken_back(original)
    kept = [word for word in dict.fromkeys(_EXACT.findall(original)) if word not in taken_back]
    lost = [word for word in kept if fold(word) not in said]
    return f"{text} ({', '.join(lost)})" if lost and len(lost) <= TERMS else text


def _taken_back(text: str) -> frozenset[str]:
    """The exact words that the person says they do not mean: «ой нет, не E-136, а E-129»."""
    places = (
        (match.group(), text[max(0, match.start() - _LOOKED_BACK) : match.start()]) for match in _EXACT.finditer(text)
    )
    return frozenset(word for word, before in places if _TAKING_BACK.search(before))


def _without(text: str, words: frozenset[str]) -> str:
    for word in words:
        text = text.replace(word, "")
    return " ".join(text.split())


def _written(turns: Sequence[Turn]) -> str:
    return "\n\n".join(f"{turn.role}: {turn.content}" for turn in turns) or "—"
