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
from typing import Any, cast

from askwiki.data import Intent, Need, Question, Turn
from askwiki.errors import Cancelled, ModelError
from askwiki.llm import Message
from askwiki.settings import CondenseSettings, Settings
from askwiki.stages.dialogue import clean, is_button, recent, split
from askwiki.stages.smalltalk import is_about_last_answer, is_friendly, without_greeting
from askwiki.stages.tools import Tools
from askwiki.stemming import STOP_WORDS, fold, telling_stems

logger = logging.getLogger(__name__)

# Words that point at something said before.
_POINTING = re.compile(
    r"\b(?:он|она|оно|они|его|е[её]|их|ему|ей|им|ими|н[её]м|ней|них|нему|ним|нее|него"
    r"|это|этого|этому|этим|этом|эта|этой|эту|этот|эти|этих|этими|тот|того|тому|тем|том|та|той|ту|те|тех|там|туда|оттуда|тут|тогда|такой|такая|такое|такие"
    r"|таких|таком|последн(?:ий|яя|ее|ие)|первы[йх]|второ[йе]|второму|тоже|также|потом|it|its|he|she|they|them|their|his"
    r"|her|him|this|that|these|those|there|then|one|ones|same|too)\b",
    re.IGNORECASE,
)
# Beginnings that carry a question on: «а разработчик?», «и сколько…», «нет, я про займы», "and for loans?"
_CARRYING_ON = re.compile(
    r"\A\W*(?:а|и|но|или|нет|да|не|ещ[её]|тогда|кроме|плюс|то есть|точнее|вернее|почему|зачем"
    r"|and|but|or|no|not|what about|how about|also|why|else)\b",
    re.IGNORECASE,
)
_SCREEN = re.compile(
    r"\b(?:кнопк\w*|пол[еяю]|экран\w*|форм[аеуы]|меню|вкладк\w*|окн[оаеу]|нажа\w+|нажим\w+|кликн\w+|жать|галочк\w*"
    r"|чекбокс\w*|выпадающ\w+|значок|значк\w+|иконк\w*|button|field|screen|menu|tab|click|press|checkbox|dialog)\b",
    re.IGNORECASE,
)
_CONCEPT = re.compile(
    r"\b(?:что такое|что значит|зачем|почему|как устроен\w*|чем отлича\w+|определение"
    r"|what is|what does|why|meaning of)\b",
    re.IGNORECASE,
)
# What must not get lost on the way: what stands in quotation marks, codes, numbers, names of systems.
_EXACT = re.compile(
    r"(?<=[«“])[^«»“”\n]{2,40}(?=[»”])|\b(?=[\w.\-/]*\d)\w+(?:[-._/]\w+)*|\b[A-ZА-ЯЁ]{2,}(?:[-_]\w+)*|\b[a-z]+(?:[-_][a-z0-9]+)+\b"
)
# What a model says instead of a question.
_REFUSAL = re.compile(
    r"\b(?:не могу (?:помочь|ответить|выполнить|обсуждать)|я (?:всего лишь )?языковая модель"
    r"|can(?:not|['’]t) (?:help|answer|assist)|as an ai\b|unable to (?:help|answer|assist))",
    re.IGNORECASE,
)
_CYRILLIC, _LATIN = re.compile(r"[А-Яа-яЁё]"), re.compile(r"[A-Za-z]")
_LATIN_WORD = re.compile(r"\b[A-Za-z']+\b")

LONGEST_CHAIN = 3  # questions that lean one on the other, read together
FEW_WORDS = 4  # Latin words without one that only English has: codes and commands
FEW_STEMS = 2  # a question of no more telling words leans on what was said before it
MOST_CHARACTERS = 1_500  # of a condensed question; a longer one is no question but an answer
TERMS = 8  # further search words that are taken from the model

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string"},
        "need": {"type": "string", "enum": ["search", "dialogue", "smalltalk", "outside"]},
        "intent": {"type": "string", "enum": ["concept", "screen", "unclear"]},
        "terms": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["question", "need", "intent", "terms"],
    "additionalProperties": False,
}


def condense(
    turns: Sequence[Turn], *, kit: Tools, settings: Settings, cancel: threading.Event | None = None
) -> Question:
    """The question that the search is asked. Never raises but ``Cancelled``: what fails is its ``note``."""
    question = by_rule(turns, settings.condense, settings.language)
    if not worth_asking(question, kit, settings.condense):
        return question
    try:
        return _by_llm(question, kit, cancel)
    except Cancelled:
        raise
    except ModelError as error:
        logger.warning("condense: the question stays as the rule makes it: %s", error)
        return replace(question, note=kit.texts.say("condense_failed", question.language))


def by_rule(turns: Sequence[Turn], settings: CondenseSettings, default: str = "ru") -> Question:
    """What can be known without a model; ``default`` is the language of a message that has none."""
    before, typed, wish = split(clean(turns))
    limit = settings.question_characters
    text = without_greeting(typed)[:limit]
    question = Question(
        text=text,
        original=wish or typed[:limit],
        intent=intent_of(text),
        language=_language(typed, before, default),
        history=recent(before, settings),
    )
    if not typed.strip() or is_friendly(typed):
        return replace(question, need="smalltalk")
    if is_about_last_answer(typed) and any(turn.role == "assistant" for turn in before):
        return replace(question, need="dialogue")
    previous = _previous(before)[:limit]
    if previous and leans_on_dialogue(text):
        return replace(question, text=f"{previous} {text}", previous=previous)
    return question


def _previous(before: Sequence[Turn]) -> str:
    """The question before this one, with the one that it goes on from: «Суточные в Москве? А за границей?»."""
    asked: list[str] = []
    for turn in reversed(before):
        if turn.role != "user" or _is_no_question(turn.content):
            continue
        text = without_greeting(turn.content)
        asked.insert(0, text)
        if len(asked) == LONGEST_CHAIN or not (_POINTING.search(text) or _CARRYING_ON.match(text)):
            break
    return " ".join(asked)


def _is_no_question(text: str) -> bool:
    return is_friendly(text) or is_button(text) or is_about_last_answer(text)


def leans_on_dialogue(text: str) -> bool:
    """Whether a question cannot be understood without what was said before it."""
    return bool(_POINTING.search(text) or _CARRYING_ON.match(text)) or len(set(telling_stems(text))) <= FEW_STEMS


def intent_of(text: str) -> Intent | None:
    """Whether a question is about a screen with its fields or about the matter itself, when its words say so."""
    screen, concept = bool(_SCREEN.search(text)), bool(_CONCEPT.search(text))
    return None if screen == concept else "screen" if screen else "concept"


def language_of(text: str, default: str = "ru") -> str:
    """``ru`` or ``en``: which prompts and sentences fit. The answer itself follows the question's language.

    A bare code or command (``E-136``, ``routerctl enable``) has no language: the ``default`` holds.
    """
    cyrillic, latin = len(_CYRILLIC.findall(text)), len(_LATIN.findall(text))
    if 2 * cyrillic >= latin and cyrillic:
        return "ru"
    words = [word.lower() for word in _LATIN_WORD.findall(text)]
    return "en" if len(words) > FEW_WORDS or not STOP_WORDS.isdisjoint(words) else default


def _language(typed: str, before: Sequence[Turn], default: str) -> str:
    """Of the message, or where it has none, of what the person said before it."""
    if is_friendly(typed) and _LATIN.search(typed):
        return "en"
    for text in (typed, *(turn.content for turn in reversed(before) if turn.role == "user")):
        if _LATIN.search(text) or _CYRILLIC.search(text):
            return language_of(text, default)
    return default


def worth_asking(question: Question, kit: Tools, settings: CondenseSettings) -> bool:
    """One turn that points at nothing stands alone; what needs no search needs no condensing."""
    if kit.llm is None or not settings.enabled or question.need != "search":
        return False
    return bool(question.history) or bool(_POINTING.search(question.original))


def _by_llm(question: Question, kit: Tools, cancel: threading.Event | None) -> Question:
    if kit.llm is None:
        raise ModelError("There is no language model.")
    dialogue = _written(question.history)
    system, user = kit.prompts.get("condense", question.language).render(
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
    )


def _refuse_nonsense(text: str, question: Question) -> None:
    """A model that answers, translates or says nothing has not condensed."""
    longest = max(MOST_CHARACTERS, 2 * len(question.original))
    said = f"{_written(question.history)}\n{question.original}"
    translated = _CYRILLIC.search(question.original) and not _CYRILLIC.search(text)
    if not text or len(text) > longest or translated or (_REFUSAL.search(text) and not _REFUSAL.search(said)):
        raise ModelError("The language model did not give a question that stands alone.")


def _with_exact_words(text: str, original: str) -> str:
    """Codes, numbers and names that the person typed stay in the question whatever the model made of it."""
    said = fold(text)
    lost = [word for word in dict.fromkeys(_EXACT.findall(original)) if fold(word) not in said]
    return f"{text} ({', '.join(lost)})" if lost and len(lost) <= TERMS else text


def _written(turns: Sequence[Turn]) -> str:
    return "\n\n".join(f"{turn.role}: {turn.content}" for turn in turns) or "—"
