"""What the two plugins do: a request of Open WebUI in, its question asked, the chat's items out."""

from __future__ import annotations

import dataclasses
import functools
import logging
import os
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from anyio import to_thread

from askwiki.access import names
from askwiki.configuration import load_configuration
from askwiki.data import Answer, Event, Identity, Question, Status, Turn
from askwiki.directory import Directory, load_directory
from askwiki.errors import AskWikiError, Cancelled, SettingsError, StoreError
from askwiki.flow import ask
from askwiki.identity import GroupMemory, identity_of, with_wiki_groups
from askwiki.kit import Kit, get_kit
from askwiki.llm import Llm, make_llm
from askwiki.metrics import METRICS
from askwiki.openwebui import TASK_HEADER, Item, failure, items, last_words, pieces, status, turns_of
from askwiki.request import Request, current_request
from askwiki.service import service_reply, task_by_text
from askwiki.settings import ConfluenceSettings, LlmSettings, Settings
from askwiki.signing import BODY_KEY, Signer
from askwiki.stages.condense import condense
from askwiki.stages.history import still_readable
from askwiki.texts import load_texts
from askwiki.valves import AnswerValves, CondenseValves, Valves, starting_valves
from askwiki.wiki_groups import WikiGroups

TASK, QUESTION = "task", "question"  # in the sealed key
TAKEN_BY_CHAT = "files"  # with this key Open WebUI would replace the question by a prompt of its own

logger = logging.getLogger(__name__)
_groups = GroupMemory()


def make_valves(kind: type[Valves]) -> Valves:
    """Valves as the settings have them; settings that cannot be read are told with the first answer."""
    try:
        return starting_valves(kind, load_configuration(os.environ).settings)
    except AskWikiError:
        return starting_valves(kind, Settings())


def warm_up() -> None:
    """Load the models beside the start of the server, so that the first question need not wait."""

    def load() -> None:
        try:
            get_kit()
        except AskWikiError as error:
            logger.error("not ready: %s", error)

    threading.Thread(target=load, name="warm-up", daemon=True).start()


def measure_index() -> None:
    """Size and age of the index, for the metrics."""
    try:
        reader = get_kit().reader
        METRICS.put("askwiki_index_chunks", reader.count())
        started = [datetime.fromisoformat(run.started) for run in reader.freshness()]
    except AskWikiError as error:
        logger.warning("the index cannot be measured: %s", error)
        return
    if started:
        METRICS.put("askwiki_index_age_seconds", (datetime.now(UTC) - max(started)).total_seconds())


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
    payload: dict[str, Any] = {TASK: task if isinstance(task, str) else "", QUESTION: None}
    try:
        if not payload[TASK]:
            kit = get_kit()
            settings = valves.apply(kit.settings)
            identity = _identity(user, request, kit, recall=True)
            question = condense(
                still_readable(turns, identity, reader=kit.reader, settings=settings.access),
                kit=_kit_for(kit, settings),
                settings=settings,
                cancel=request.cancelled,
            )
            payload[QUESTION] = {**dataclasses.asdict(question), "history": []}
    except Cancelled:
        return None
    except AskWikiError as error:
        logger.warning("the filter leaves the question as it is: %s", error)
    except Exception:
        logger.exception("the filter failed and leaves the question as it is")
    return _signer().seal(payload, message=last_words(turns), person=_person(user))


# --- the pipe -------------------------------------------------------------------------------------


def respond(messages: Any, body: Mapping[str, Any], valves: AnswerValves) -> Generator[Item]:
    """The items of one answer. Nothing raises: what goes wrong is a sentence in the chat."""
    request = current_request()
    work = _guarded(turns_of(messages), body, valves, request)
    request.closers.append(work.close)
    return work


def _guarded(
    turns: tuple[Turn, ...], body: Mapping[str, Any], valves: AnswerValves, request: Request
) -> Generator[Item]:
    stream = body.get("stream") is True
    try:
        yield from _work(turns, body, valves, request, stream=stream)
    except Cancelled:
        logger.info("the person left before the end of the answer")
    except AskWikiError as error:
        logger.warning("no answer: %s", error)
        yield from _end(str(error), stream=stream)
    except Exception:
        logger.exception("an answer failed")
        METRICS.add("askwiki_questions_total", outcome="failed")
        sentence = _say("fault", request=request.id)
        yield from _end("" if stream else sentence, stream=stream)
        if stream:
            yield failure(sentence)


def _work(
    turns: tuple[Turn, ...], body: Mapping[str, Any], valves: AnswerValves, request: Request, *, stream: bool
) -> Iterator[Item]:
    words, user = last_words(turns), body.get("user")
    sealed = _signer().open(body.get(BODY_KEY), message=words, person=_person(user))
    task = _task(sealed, request, words)
    if task:
        METRICS.add("askwiki_service_requests_total")
        yield from pieces(_service(task, words, request))
        return
    if request.busy:
        METRICS.add("askwiki_busy_total")
        yield from _end(_say("busy"), stream=stream)
        return
    kit = get_kit()
    settings = valves.apply(kit.settings)
    identity = _identity(user, request, kit)
    events = ask(
        turns,
        identity,
        kit=_kit_for(kit, settings),
        settings=settings,
        question=_question(sealed),
        cancel=request.cancelled,
    )
    notes = [kit.texts.say("valve_wrong", settings.language, valve=problem) for problem in valves.problems]
    told = _with_notes(events, [*notes, *filter(None, [identity.note])])
    yield from items(_counted(told), stream=stream, request_id=request.id)


def _task(sealed: Mapping[str, Any] | None, request: Request, words: str) -> str:
    """Which service request this is: as the filter saw it, else the header, else by its first words."""
    if sealed is not None:
        return str(sealed.get(TASK, ""))
    header = request.headers.get(TASK_HEADER, "").strip()
    return header if header and "{{" not in header else task_by_text(words)


def _service(task: str, prompt: str, request: Request) -> str:
    """A title needs the kit for its model only: without one it is made of the question."""
    try:
        kit = get_kit()
    except AskWikiError:
        kit = None
    return service_reply(task, prompt, kit=None if request.busy else kit, cancel=request.cancelled)


def _question(sealed: Mapping[str, Any] | None) -> Question | None:
    """The filter's question; the flow adds what of the dialogue may be read. Sealed by us: its form is known."""
    fields = sealed.get(QUESTION) if sealed else None
    if not isinstance(fields, dict):
        return None
    return Question(**{**fields, "terms": tuple(fields["terms"]), "history": ()})


def _with_notes(events: Iterator[Event], notes: Sequence[str]) -> Iterator[Event]:
    """First what reader and admin should know: rights that are not known, a valve that was wrong."""
    yield from (Status(note, "notes", warning=True) for note in notes)
    yield from events


def _counted(events: Iterator[Event]) -> Iterator[Event]:
    for event in events:
        if isinstance(event, Answer):
            METRICS.answered(event)
        yield event


def _end(text: str, *, stream: bool) -> Iterator[Item]:
    """A last sentence, and no status line left shimmering."""
    yield from pieces(text)
    if stream:
        yield status("", done=True)


# --- what both need -------------------------------------------------------------------------------


def _identity(user: object, request: Request, kit: Kit, *, recall: bool = False) -> Identity:
    """Who asks. A directory that cannot be read closes what only it would open, and that is said."""
    settings, note = kit.settings, ""
    try:
        directory = load_directory(kit.configuration.folder / "groups.yaml")
    except SettingsError as error:
        logger.error("groups are not known: %s", error)
        directory, note = Directory(), "directory_down"
    identity = identity_of(
        user, request.headers, settings=settings.access, directory=directory, memory=_groups, recall=recall
    )
    if identity.known and "rest" in names(settings.access.groups_from):
        try:
            identity = with_wiki_groups(identity, _wiki_groups(settings.wiki.url, settings.confluence), settings.access)
        except StoreError as error:
            logger.error("groups are not known: %s", error)
            note = "directory_down"
    note = note if identity.known else "public_only"
    return dataclasses.replace(identity, note=kit.texts.say(note, settings.language)) if note else identity


@functools.cache
def _wiki_groups(url: str, settings: ConfluenceSettings) -> WikiGroups:
    """One memory of groups for the process."""
    return WikiGroups(url, settings)


def _person(user: object) -> str:
    return str(user.get("id", "")) if isinstance(user, dict) else ""


@functools.cache
def _signer() -> Signer:
    return Signer(os.environ.get("PIPELINES_API_KEY", ""))


def _say(name: str, **values: object) -> str:
    """A sentence of ours in the settings' language."""
    try:
        configuration = load_configuration(os.environ)
        return load_texts(configuration.folder / "texts").say(name, configuration.settings.language, **values)
    except AskWikiError as error:
        return str(error)


def _kit_for(kit: Kit, settings: Settings) -> Kit:
    """The kit with the language model that the valves ask for."""
    return kit if settings.llm == kit.settings.llm else dataclasses.replace(kit, llm=_other_llm(settings.llm))


@functools.lru_cache(maxsize=4)
def _other_llm(settings: LlmSettings) -> Llm | None:
    return make_llm(settings)
