"""What needs no search, recognised by rule: greetings, thanks, wishes about the last answer."""

from __future__ import annotations

import re

from askwiki.language.stems import fold

_WORDS = re.compile(r"[^\W\d_]+")
_ANY_WORD = re.compile(r"\w")
# Whole messages made of these words only. Words that may begin a question are not among them.
_FRIENDLY = frozenset(
    word
    for line in (
        "привет приветик приветствую здравствуй здравствуйте здорово хай хеллоу салют доброе утро добрый день вечер",
        "доброго времени суток дня вечера ночи доброй пока до свидания встречи скорой всего хорошего",
        "спасибо спс благодарю большое огромное за помощь ответ тебе вам пожалуйста понятно понял поняла ясно ок",
        "окей хорошо отлично супер класс круто здорово молодец ага угу да нет ура прекрасно замечательно все это всем",
        "коллеги друзья бот ассистент как дела твои ваши сэнк сенкс",
        "hi hello hey good morning afternoon evening day night bye goodbye thanks thank you very much so a lot ok okay",
        "great cool nice perfect got it understood there how are doing see later welcome everyone all",
    )
    for word in line.split()
)
_SIGNAL_WORDS = """
    привет приветик приветствую здравствуй здравствуйте здорово хай хеллоу салют добрый доброе доброго доброй пока
    свидания встречи спасибо спс благодарю пожалуйста понятно понял поняла ясно ок окей отлично супер класс круто
    молодец ага угу ура прекрасно замечательно дела сэнк сенкс хорошо
    hi hello hey good morning bye goodbye thanks thank ok okay great cool nice perfect got understood welcome how
"""
_SIGNALS = frozenset(_SIGNAL_WORDS.split())
_BYE = re.compile(r"\b(?:пока|до свидания|до встречи|до скорой|всего хорошего|bye|goodbye|see you)\b", re.IGNORECASE)
_GREETING_WORD = re.compile(r"\b(?:прив\w+|здра\w+|здорово|добр\w+|хай|хеллоу|салют|как|hi|hello|hey|how|good)\b", re.I)
_LONGEST = 8  # words of a message that is only friendly
_GREETING = re.compile(
    r"\A\s*(?:(?:привет(?:ик|ствую)?|здравствуй(?:те)?|хай|салют"
    r"|добр(?:ый|ое|ого)\s+(?:день|утро|вечер|дня|времени\s+суток)"
    r"|hi|hello|hey|good\s+(?:morning|day|afternoon|evening))(?:\s*+(?:,\s*+)?(?:коллеги|всем|бот|друзья|there|all|everyone))?"
    r"\s*+[,.!)]++\s*+|спасибо[,.!]++\s*+|thanks[,.!]++\s*+)++",
    re.IGNORECASE,
)
# A wish about what was just said: the dialogue answers it, not the wiki.
_LAST = r"(?:это(?!\s+\w+\s+(?:кто|как|где))|ответ\w*|сообщени\w+|выше|сказанн?\w*|написанн?\w*|текст)"
_ABOUT_LAST = re.compile(
    r"\A\W*(?:а\s+|и\s+|теперь\s+|пожалуйста,?\s+|можешь\s+|please\s+|now\s+|can\s+you\s+|could\s+you\s+)*(?:"
    rf"(?:переведи|перепиши|переформулируй|сократи|перескажи|сформулируй|оформи|изложи)(?:те)?\b[^.?!]*\b{_LAST}\b[^.?!]{{0,60}}"
    r"|(?:переведи|перепиши|переформулируй|сократи|перескажи)(?:те)?\s+"
    r"(?:на|по-|кратко|короче|проще|в\s+виде|как)\b.{0,60}"
    r"|(?:скажи|ответь|повтори|напиши)(?:те)?\s+(?:то\s+же|короче|проще|кратко|ещ[её]\s+раз|подробнее|по-)\w*.{0,40}"
    r"|(?:короче|проще|кратко|по-английски|по-русски|то\s+же\s+(?:на|по)\b.{0,30})"
    r"|(?:translate|rephrase|rewrite|shorten|summari[sz]e|repeat)\b[^.?!]*"
    r"\b(?:that|this|it|your|last|previous|above|answer)\b.{0,60}"
    r"|(?:shorter|simpler|in\s+(?:russian|english))"
    r")\W*\Z",
    re.IGNORECASE | re.DOTALL,
)


def is_friendly(text: str) -> bool:
    """A greeting, thanks or a farewell and nothing else; also a message of signs and emoji only."""
    if not _ANY_WORD.search(text):
        return bool(text.strip())
    words = [fold(word) for word in _WORDS.findall(text)]
    return 0 < len(words) <= _LONGEST and _FRIENDLY.issuperset(words) and not _SIGNALS.isdisjoint(words)


def kind_of_talk(text: str) -> str:
    """The sentence that answers a friendly message: its name in ``config/texts``."""
    if not text.strip():
        return "refused_empty"
    if _BYE.search(text):
        return "goodbye"
    return "hello" if _GREETING_WORD.search(text) or not _ANY_WORD.search(text) else "thanks"


def is_about_last_answer(text: str) -> bool:
    """Whether the person wants the last answer translated, shortened or put another way."""
    return bool(_ABOUT_LAST.match(text))


def without_greeting(text: str) -> str:
    """The question without «Привет!» before it; a message that is nothing else stays as it is."""
    return _GREETING.sub("", text).strip() or text.strip()
