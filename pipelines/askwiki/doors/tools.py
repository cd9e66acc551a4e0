"""The three tools behind every door: search the wiki, read a page, ask for an answer.

What goes in is a JSON object of the caller, what comes out one of ours. A tool sees what the person may read whom the
request's headers name, exactly as the chat does; nothing the caller writes into its arguments changes that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from askwiki.access.rights_age import current_rights
from askwiki.data import Answer, Chunk, Identity, Source, Turn
from askwiki.errors import AskWikiError, ModelError, StoreError
from askwiki.flow.ask import ask, retrieve
from askwiki.flow.retrieve import refused_now
from askwiki.kit import Kit, get_kit
from askwiki.metrics import METRICS
from askwiki.openwebui.asker import identity_behind, person_in
from askwiki.openwebui.process import kit_for
from askwiki.openwebui.valves import AnswerValves
from askwiki.request import Request
from askwiki.settings import Settings
from askwiki.stages.citations.links import link
from askwiki.stages.passages.spans import join_texts
from askwiki.stages.sources import label_of

MOST_RESULTS = 20
Arguments = Mapping[str, Any]


class WrongArguments(AskWikiError):
    """The caller's object is not of the tool's form; the sentence says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, with the tools and settings in force for the chat, valves included."""

    kit: Kit
    settings: Settings
    identity: Identity
    request: Request


@dataclass(frozen=True, slots=True)
class Tool:
    """``about`` is read by a model; ``parameters``: name -> JSON schema of one; ``needed`` must be there."""

    name: str
    about: str
    parameters: Mapping[str, Mapping[str, Any]]
    needed: str
    work: Callable[[Arguments, Caller], dict[str, Any]]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return {"type": "object", "properties": dict(self.parameters), "required": [self.needed]}


def caller_of(request: Request, valves: AnswerValves) -> Caller:
    """The person whom the headers name, and the chat's own tools; AskWikiError while the server is not ready."""
    kit = get_kit()
    settings = valves.apply(kit.settings)
    return Caller(kit_for(kit, settings), settings, identity_behind(person_in(request.headers), request, kit), request)


def call(tool: Tool, arguments: object, caller: Caller) -> dict[str, Any]:
    """The tool's result, with what the person should know of it. WrongArguments, else what the parts raise."""
    if not isinstance(arguments, Mapping):
        raise WrongArguments(f"{tool.name} needs a JSON object with {tool.needed}.")
    unknown = sorted(map(str, set(arguments) - set(tool.parameters)))
    if unknown:
        raise WrongArguments(f"{tool.name} knows no {', '.join(unknown)}: it takes {', '.join(tool.parameters)}.")
    result = tool.work(arguments, caller)
    notes = [note for note in (caller.identity.note, result.get("note", "")) if note]
    return {**result, "note": " ".join(notes)} if notes else result


def _search(arguments: Arguments, caller: Caller) -> dict[str, Any]:
    limit = arguments.get("limit", 8)
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MOST_RESULTS:
        raise WrongArguments(f"limit must be a whole number from 1 to {MOST_RESULTS}.")
    trace = retrieve(
        (Turn("user", _text(arguments, "query")),),
        caller.identity,
        kit=caller.kit,
        settings=caller.settings,
        cancel=caller.request.cancelled,
    )
    found = [candidate.chunk for candidate in trace.gated[:limit]]
    return {"results": [{**_place(chunk), "text": chunk.text, "citation": _citation(chunk)} for chunk in found]}


def _read(arguments: Arguments, caller: Caller) -> dict[str, Any]:
    page, kit = _text(arguments, "page"), caller.kit
    rights = current_rights(caller.identity, kit.reader, caller.settings.access)
    chunks = kit.reader.chunks_of([page], rights).get(page, [])
    note = ""
    if chunks and caller.settings.access.recheck:
        try:
            refused = refused_now([page], caller.identity, kit, caller.settings, caller.request.cancelled)
            chunks = [] if page in refused else chunks
        except (StoreError, ModelError):  # as in the chat: what the index knows holds, and that is said
            note = kit.texts.say("recheck_down", caller.settings.language)
    if not chunks:  # the same words for both: that a page exists is told to its readers only
        raise WrongArguments(f"There is no page {page} that you may read: take an id that search gave.")
    first = chunks[0]
    whole = first._replace(headings=(), url=first.url.partition("#")[0])
    read = {**_place(whole), "text": join_texts(chunks), "citation": _citation(whole)}
    return {**read, "note": note} if note else read


def _ask(arguments: Arguments, caller: Caller) -> dict[str, Any]:
    answer = Answer("")
    turns = (Turn("user", _text(arguments, "question")),)
    for event in ask(turns, caller.identity, kit=caller.kit, settings=caller.settings, cancel=caller.request.cancelled):
        if isinstance(event, Answer):
            answer = event
    METRICS.answered(answer)
    return {
        "answer": answer.text,
        "refused": answer.refused or "",
        "degraded": list(answer.degraded),
        "sources": [_source(source) for source in answer.sources],
    }


def _text(arguments: Arguments, name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise WrongArguments(f"{name} is missing: a text that is not empty.")
    return value.strip()


def _place(chunk: Chunk) -> dict[str, Any]:
    return {
        "page": chunk.page_id,
        "label": label_of(chunk),
        "title": chunk.title,
        "path": list(chunk.path),
        "headings": list(chunk.headings),
        "url": chunk.url,
        "updated": chunk.updated,
    }


def _citation(chunk: Chunk) -> str:
    """How to name this place in an answer: a Markdown link where the page has an address."""
    return link(label_of(chunk), chunk.url)


def _source(source: Source) -> dict[str, Any]:
    return {
        "number": source.number,
        "title": source.title,
        "url": source.url,
        "updated": source.updated,
        "text": source.text,
    }


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "search",
            "Search the company wiki. Gives passages with title, path, address and date, best first; "
            "cite each one you use by its citation.",
            {
                "query": {"type": "string", "description": "The question in whole words, in the wiki's language."},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_RESULTS, "default": 8},
            },
            "query",
            _search,
        ),
        Tool(
            "read",
            "Read a whole page of the company wiki as Markdown.",
            {"page": {"type": "string", "description": "The page's id, as search gives it."}},
            "page",
            _read,
        ),
        Tool(
            "ask",
            "Ask the wiki assistant: a grounded answer whose numbers [1] stand for its sources.",
            {"question": {"type": "string", "description": "One question that is understood without the dialogue."}},
            "question",
            _ask,
        ),
    )
}
