"""What the two plugins do: a request of Open WebUI in, its question asked, the chat's items out."""

from __future__ import annotations

import dataclasses
import functools
import json
import logging
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from anyio import to_thread

from askwiki.data import Answer, Event, Question, Status, Token, Turn
from askwiki.errors import AskWikiError, Cancelled, StoreError, StoreMismatch
from askwiki.flow.ask import ask
from askwiki.kit import get_kit
from askwiki.language.wording import language_of
from askwiki.metrics import METRICS
from askwiki.openwebui.asker import identity_behind, person_id
from askwiki.openwebui.events import (
    TASK_HEADER,
    Item,
    failure,
    holds_files,
    items,
    last_words,
    pieces,
    turns_of,
    whole_answer,
)
from askwiki.openwebui.follow_ups import follow_ups
from askwiki.openwebui.process import kit_for, say, signer
from askwiki.openwebui.sealing import BODY_KEY
from askwiki.openwebui.service_requests import service_reply, task_by_text
from askwiki.openwebui.valves import AnswerValves, CondenseValves
from askwiki.request import Request, current_request
from askwiki.stages.condense import condense
from askwiki.stages.history import still_readable

TASK, QUESTION, FILES = "task", "question", "files"  # in the sealed key
ADMIN = "admin"  # the role of Open WebUI that sees the panel
TAKEN_BY_CHAT = "files"  # with this key Open WebUI would replace the question by a prompt of its own

logger = logging.getLogger(__name__)


# --- the filter -----------------------------------------------------------------------------------


async def prepare(body: Mapping[str, Any], user: object, valves: CondenseValves) -> dict[str, Any]:
    """The body for the pipe: the standalone question, or the kind of service request, sealed in one key.

    Whatever goes wrong here is logged and costs nothing but time: the pipe does the same work itself.
    """
    request = current_request()
    sealed = await to_thread.run_sync(functools.partial(_sealed, body, user, valves, request))
    kept = {key: value for key, value in body.items() if key not in {BODY_KEY, TAKEN_BY_CHAT}}
    return {**kept, BODY_KEY: sealed} if sealed else kept


def _sealed(body: Mapping[str, Any], user: object, valves: CondenseValves, request: Request) -> dict[str, Any] | None:
    metadata = body.get("metadata")
    task = metadata.get("task") if isinstance(metadata, dict) else None
    turns = turns_of(body.get("messages"))
    files = bool(body.get(TAKEN_BY_CHAT)) or holds_files(body.get("messages"))
    payload: dict[str, Any] = {TASK: task if isinstance(task, str) else "", QUESTION: None, FILES: files}
    try:
        if not payload[TASK] and not request.busy:  # else the pipe is about to be closed too
            kit = get_kit()
            settings = valves.apply(kit.settings)
            identity = identity_behind(user, request, kit, recall=True)
            question = condense(
                still_readable(turns, identity, reader=kit.reader, settings=settings.access),
                kit=kit_for(kit, settings),
                settings=settings,
                cancel=request.cancelled,
            )
            payload[QUESTION] = {**dataclasses.asdict(question), "history": [], "begun": ""}
    except Cancelled:
        return None
    except AskWikiError as error:
        logger.warning("the filter leaves the question as it is: %s", error)
    except Exception:
        logger.exception("the filter failed and leaves the question as it is")
    return signer().seal(payload, message=last_words(turns), person=person_id(user))


# --- the pipe -------------------------------------------------------------------------------------


def respond(messages: Any, body: Mapping[str, Any], valves: AnswerValves) -> Generator[Item]:
    """The items of one answer. Nothing raises: what goes wrong is a sentence in the chat."""
    request = current_request()
    work = _guarded(turns_of(messages), body, valves, request, files=holds_files(messages))
    request.closers.append(work.close)
    return work


def _guarded(
    turns: tuple[Turn, ...], body: Mapping[str, Any], valves: AnswerValves, request: Request, *, files: bool
) -> Generator[Item]:
    stream = body.get("stream") is True
    try:
        yield from _work(turns, body, valves, request, stream=stream, files=files)
    except Cancelled:
        if request.stopped and not request.gone:
            yield from pieces(say("stopping"))
        else:
            logger.info("the person left before the end of the answer")
    except AskWikiError as error:
        logger.error("no answer: %s", error)
        METRICS.add("askwiki_questions_total", outcome="failed")
        yield from pieces(say(_told(error), request=request.id))
    except Exception:
        logger.exception("an answer failed")
        METRICS.add("askwiki_questions_total", outcome="failed")
        sentence = say("fault", request=request.id)
        if not stream:
            yield from pieces(sentence)
        if stream:
            yield failure(sentence)


def turn_away(raw: bytes, request: Request) -> tuple[bytes, str] | None:
    """The whole answer for a chat beyond the limit, and its type; None for a service request: it needs no place."""
    try:
        body = json.loads(raw)
        turns = turns_of(body["messages"])
    except (ValueError, TypeError, LookupError):
        return None  # the app knows what to say of it
    if _opened(turns, body, request)[1]:
        return None
    METRICS.add("askwiki_busy_total")
    sentence = say("stopping" if request.stopped else "busy")
    return whole_answer(sentence, str(body.get("model", "")), request.id, stream=body.get("stream") is True)


def _told(error: AskWikiError) -> str:
    """The sentence for the person; what exactly is wrong stands in the log, in the operator's language."""
    if isinstance(error, StoreMismatch):
        return "index_mismatch"
    return "store_down" if isinstance(error, StoreError) else "not_ready"


def _work(
    turns: tuple[Turn, ...],
    body: Mapping[str, Any],
    valves: AnswerValves,
    request: Request,
    *,
    stream: bool,
    files: bool,
) -> Iterator[Item]:
    sealed, task = _opened(turns, body, request)
    if task:
        METRICS.add("askwiki_service_requests_total")
        yield from pieces(_service(task, last_words(turns), body, valves, request))
        return
    kit = get_kit()
    settings = valves.apply(kit.settings)
    identity = identity_behind(body.get("user"), request, kit)
    events = ask(
        turns,
        identity,
        kit=kit_for(kit, settings),
        settings=settings,
        question=_question(sealed),
        cancel=request.cancelled,
        stopped=lambda: request.stopped,
    )
    wrong = valves.problems if identity.role == ADMIN else ()  # nobody else can mend them
    notes = [kit.texts.say("valve_wrong", settings.language, valve=problem) for problem in wrong]
    told = _with_notes(events, [*notes, *filter(None, [identity.note])])
    if last_words(turns) and (files or (sealed and sealed.get(FILES))):
        language = language_of(last_words(turns), settings.language)
        told = _beginning_with(f"*{kit.texts.say('files_unread', language)}*\n\n", told)
    yield from items(_counted(told), stream=stream, request_id=request.id)


def _opened(turns: Sequence[Turn], body: Mapping[str, Any], request: Request) -> tuple[Mapping[str, Any] | None, str]:
    """What the filter sealed for these words and this person, and which service request it is, if one."""
    words = last_words(turns)
    sealed = signer().open(body.get(BODY_KEY), message=words, person=person_id(body.get("user")))
    return sealed, _task(sealed, request, words)


def _task(sealed: Mapping[str, Any] | None, request: Request, words: str) -> str:
    """Which service request this is: as the filter saw it, else the header, else by its first words."""
    if sealed is not None:
        return str(sealed.get(TASK, ""))
    header = request.headers.get(TASK_HEADER, "").strip()
    return header if header and "{{" not in header else task_by_text(words)


def _service(task: str, prompt: str, body: Mapping[str, Any], valves: AnswerValves, request: Request) -> str:
    """A title needs the kit for its model only: without one it is made of the question."""
    try:
        kit = get_kit()
    except AskWikiError:
        kit = None
    if request.busy or kit is None:
        return service_reply(task, prompt, kit=None, cancel=request.cancelled)

    def suggest(quoted: str) -> tuple[str, ...]:
        identity, settings = identity_behind(body.get("user"), request, kit), valves.apply(kit.settings)
        try:
            return follow_ups(quoted, identity, kit=kit, settings=settings, cancel=request.cancelled)
        except AskWikiError as error:
            logger.warning("nothing is suggested: %s", error)
            return ()

    return service_reply(task, prompt, kit=kit, cancel=request.cancelled, suggest=suggest)


def _question(sealed: Mapping[str, Any] | None) -> Question | None:
    """The filter's question; the flow adds what of the dialogue may be read. Sealed by us: its form is known."""
    fields = sealed.get(QUESTION) if sealed else None
    if not isinstance(fields, dict):
        return None
    lists = {name: tuple(fields[name]) for name in ("terms", "searches")}
    return Question(**{**fields, **lists, "history": ()})


def _with_notes(events: Iterator[Event], notes: Sequence[str]) -> Iterator[Event]:
    """First what reader and admin should know: rights that are not known, a valve that was wrong."""
    yield from (Status(note, "notes", warning=True) for note in notes)
    yield from events


def _beginning_with(words: str, events: Iterator[Event]) -> Iterator[Event]:
    """The same with ``words`` before the text: the events of sources stand before any text."""
    for event in events:
        if words and isinstance(event, Token):
            yield Token(words)
            words = ""
        yield event


def _counted(events: Iterator[Event]) -> Iterator[Event]:
    for event in events:
        if isinstance(event, Answer):
            METRICS.answered(event)
        yield event
