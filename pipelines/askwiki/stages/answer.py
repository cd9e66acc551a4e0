"""The prompt of the answer, and the streamed answer checked on its way."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Generator, Sequence, Set
from dataclasses import dataclass
from datetime import date

from askwiki.data import Passage, Question, Turn
from askwiki.errors import ModelError
from askwiki.language import en, ru
from askwiki.llm.port import Llm, Message, Reply
from askwiki.stages.citations.checked_stream import SentenceGate
from askwiki.stages.fence import Fence
from askwiki.stages.passages.reading import as_read, place_of
from askwiki.stages.tools import StageTools

NO_WORDS = 400  # characters; a longer answer without a source says more than that there is none
# A model that forgot the word and says it in a sentence.
_SAYS_NO = re.compile("|".join((*ru.NO_ANSWER, *en.NO_ANSWER)), re.IGNORECASE)
NO_ANSWER = "NO_ANSWER"  # how the model says that the sources lack the answer; see the prompts
_ADMITS = re.compile(rf"{NO_ANSWER}|(?<![`\w])(?i:{NO_ANSWER})(?![`\w])")
HISTORY_CHARACTERS = 4_000  # of the earlier conversation in the answer's prompt; condensing reads more
SPARE_TOKENS = 64  # for the chat template's own tokens


@dataclass(slots=True)
class Written:
    """How a streamed answer ended. ``lacking`` is what the model misses when it says there is no answer."""

    text: str = ""
    refused: bool = False
    admitted: bool = False  # the word for "no answer" came after text had left
    lacking: str = ""
    broken: str = ""  # the error that ended it after text had left
    reply: Reply | None = None


def answer_messages(
    question: Question, passages: Sequence[Passage], *, kit: StageTools, today: date, left_out: int = 0
) -> list[Message]:
    """Role and rules first (the same for all, so the server's prefix cache has them), then data, then the question.

    ``left_out``: fragments that were judged relevant and found no room.
    """
    fence = Fence()
    blocks = [_written(passage, fence, question.language) for passage in passages]
    if left_out:
        blocks.append(_WORDS[question.language]["left_out"].format(count=left_out))
    written = "\n\n".join(blocks)
    asked = question.text if question.original in ("", question.text) else f"{question.text}\n({question.original})"
    history = history_text(question.history)
    system, user = kit.prompts.get("answer", question.language).render(
        question.intent or "concept",
        today=today.isoformat(),
        glossary=kit.glossary.lines(f"{asked}\n{history}\n{written}") or "—",
        history=fence.around(history, "history") if question.history else "—",
        passages=written or "—",
        question=asked,
        mark=fence.mark,
    )
    return [Message("system", system), Message("user", user), *_begun(question)]


def _begun(question: Question) -> list[Message]:
    """What is already written, and the wish that it goes on."""
    if not question.begun:
        return []
    return [Message("assistant", question.begun), Message("user", _WORDS[question.language]["continue"])]


def dialogue_messages(question: Question, characters: int, *, kit: StageTools) -> list[Message]:
    """For a wish about what was said: no sources, only the conversation."""
    system, user = kit.prompts.get("dialogue", question.language).render(
        history=history_text(question.history, characters), question=question.original
    )
    return [Message("system", system), Message("user", user), *_begun(question)]


def history_text(turns: Sequence[Turn], characters: int = HISTORY_CHARACTERS) -> str:
    """The end of the conversation, whole turns, newest kept."""
    kept: list[str] = []
    for turn in reversed(turns):
        line = f"{turn.role}: {turn.content}"
        characters -= len(line)
        if characters < 0 and kept:
            break
        kept.append(line if characters >= 0 else line[: characters - 1] + "…")
    return "\n\n".join(reversed(kept)) or "—"


def room_for_passages(
    question: Question,
    shown: Sequence[Passage] = (),
    *,
    kit: StageTools,
    count: Callable[[str], int],
    context: int,
    answer: int,
) -> int:
    """Tokens that passages may still have: what the model takes, less the answer and the prompt with those ``shown``.

    Below zero the prompt is too long by so many: terms of the glossary come with the passages that name them.
    """
    messages = answer_messages(question, shown, kit=kit, today=date.today())
    return context - answer - sum(count(message.content) for message in messages) - SPARE_TOKENS


def write(
    llm: Llm, messages: Sequence[Message], gate: SentenceGate, written: Written, cancel: threading.Event | None
) -> Generator[str, None, None]:
    """The answer's text as it may be shown; ``written`` tells how it ended.

    An error before any text has left is raised; after that the text stands and ``written.broken`` says why it ends.
    """
    pieces = llm.stream("answer", messages, cancel=cancel)
    head, begun = "", False
    try:
        while True:
            try:
                piece = next(pieces)
            except StopIteration as end:
                written.reply = end.value
                break
            if not begun and _may_refuse(head + piece):
                head += piece
                continue
            yield from _give(gate.feed(head + piece), written)
            head, begun = "", True
    except ModelError as error:
        if not written.text:
            raise
        written.broken = str(error)
    finally:
        pieces.close()
    if _refuses(head):
        written.refused = True
        written.lacking = " ".join(_bare(head)[len(NO_ANSWER) :].strip(" *_.:—-\n").split())
        return
    yield from _give((gate.feed(head) if head else "") + gate.finish(), written)


def says_no(written: Written, cited: Set[int]) -> bool:
    """Whether what was written names no source and is but a sentence on there being no answer."""
    return not cited and (written.admitted or (len(written.text) <= NO_WORDS and bool(_SAYS_NO.search(written.text))))


def _bare(head: str) -> str:
    return head.lstrip('*_#`" \n')


def _may_refuse(head: str) -> bool:
    """Whether the answer's beginning is, or may become, the word for "no answer"."""
    return NO_ANSWER.startswith(_bare(head)[: len(NO_ANSWER)].upper())


def _refuses(head: str) -> bool:
    return _bare(head)[: len(NO_ANSWER)].upper() == NO_ANSWER


def _give(text: str, written: Written) -> Generator[str, None, None]:
    if _ADMITS.search(text):
        written.admitted, text = True, _ADMITS.sub("", text).lstrip()
    if text:
        written.text += text
        yield text


def _written(passage: Passage, fence: Fence, language: str) -> str:
    """A passage in the prompt: where it is from and how old it is stands inside the fence, for it is wiki text, too."""
    words = _WORDS[language]
    lines = [place_of(passage)]
    first, last, parts = passage.part
    if parts > 1:
        lines.append(f"{words['part']} {first}–{last} {words['of']} {parts}")
    if passage.updated:
        lines.append(f"{words['updated']} {passage.updated[:10]}")
    if passage.content == "comments":
        lines.append(words["comments"])
    if passage.state in words:
        lines.append(words[passage.state])
    people = [f"{words[who]}: {name}" for who in ("owner", "author", "editor") if (name := getattr(passage, who))]
    if people:
        lines.append(" ".join("; ".join(people).split()))
    if passage.shortened:
        lines.append(words["shortened"])
    if passage.note:
        lines.append(f"{words[passage.note.kind]} {passage.note.number}")
    return fence.around("\n".join((*lines, "", as_read(passage.text, passage.url))), str(passage.number))


_WORDS = {
    "ru": {
        "continue": "Продолжи этот ответ с того места, где он оборван. Ничего не повторяй. "
        "Если он закончен и добавить нечего, напиши одно слово NO_ANSWER.",
        "left_out": "Ещё подходящих фрагментов, которые не вошли: {count}. Не утверждай, что названо всё.",
        "part": "часть",
        "of": "из",
        "updated": "обновлено",
        "comments": "комментарий читателя, не текст страницы",
        "outdated": "страница помечена как устаревшая",
        "archived": "страница в архиве",
        "draft": "черновик",
        "verified": "страница проверена",
        "author": "автор",
        "editor": "последняя правка",
        "owner": "владелец",
        "shortened": "показано не целиком",
        "older": "прежняя редакция источника",
        "differs": "почти тот же текст, но с другими данными, в источнике",
    },
    "en": {
        "continue": "Go on with this answer from where it broke off. Repeat nothing. "
        "If it is complete and there is nothing to add, write the one word NO_ANSWER.",
        "left_out": "Further fragments that fit and found no room: {count}. Do not claim that all is named.",
        "part": "part",
        "of": "of",
        "updated": "updated",
        "comments": "a reader's comment, not the page's text",
        "outdated": "the page is marked as outdated",
        "archived": "the page is archived",
        "draft": "a draft",
        "verified": "the page is verified",
        "author": "author",
        "editor": "last edited by",
        "owner": "owner",
        "shortened": "not shown whole",
        "older": "earlier edition of source",
        "differs": "nearly the same text, but with other data, in source",
    },
}
