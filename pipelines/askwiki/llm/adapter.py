"""The adapter to OpenAI-compatible servers: llama.cpp, vLLM and others."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from askwiki.calls.pool import CHECK_SECONDS, FairPool
from askwiki.errors import Cancelled, ModelError, NoWords
from askwiki.llm.addresses import Address, addresses
from askwiki.llm.answer import streamed_reply, whole_reply
from askwiki.llm.client import Client
from askwiki.llm.context import least_context
from askwiki.llm.failure import FOREIGN, Failure, read_failure
from askwiki.llm.port import Message, Reply, Role
from askwiki.llm.reading import read_json
from askwiki.llm.request import request
from askwiki.llm.servers import LlmServer, Served, Servers
from askwiki.masking import remember, remember_address
from askwiki.settings import LlmSettings, RoleSettings

logger = logging.getLogger(__name__)
T = TypeVar("T")

FIRST: frozenset[Role] = frozenset({"condense"})  # an answer streams for seconds: a chat must not wait for one unseen
CONSTRAINING = frozenset(
    {"regex", "grammar", "json_schema", "json_object"}
)  # so held, a model cannot show its thinking
JSON_TRIES = 2  # the second is told what was wrong with the first


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of a role: how it is made and when it is given up."""

    role: Role
    messages: Sequence[Message]
    make: Callable[[LlmServer, dict[str, Any], float], Reply]  # with the body and the seconds that are left
    model: str  # empty = the first that the server lists
    cancelled: Callable[[], bool]
    schema: Mapping[str, Any] | None = None
    stream: bool = False
    repeatable: Callable[[], bool] = lambda: True  # false once text has been given out
    started: float = field(default_factory=time.monotonic)  # the role's time limit counts from here


class OpenAiLlm:
    """One or several servers behind the ``Llm`` Protocol."""

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self._pool = FairPool(settings.parallel)
        self._servers = Servers([self._server(address) for address in addresses(settings.url)])

    def _server(self, address: Address) -> LlmServer:
        # retries are ours: they go to the next server; a key must be given even when nobody checks it
        remember(self._settings.key)
        remember_address(address.url)
        client = Client(address, key=self._settings.key or "none", connections=self._settings.parallel)
        name = address.url.split("//", 1)[1].split("/", 1)[0].rpartition("@")[2]
        return LlmServer(name, client, model=address.model)

    def context(self, role: Role) -> int:
        return self._settings.context_tokens or least_context(self._servers.all(), self._model(role))

    def submit(self, owner: Hashable, call: Callable[[], T]) -> Future[T]:
        return self._pool.submit(owner, call)

    def complete(self, role: Role, messages: Sequence[Message], *, cancel: threading.Event | None = None) -> Reply:
        return self._complete(role, messages, None, cancel)

    def decide(
        self,
        role: Role,
        messages: Sequence[Message],
        schema: dict[str, Any],
        *,
        cancel: threading.Event | None = None,
    ) -> dict[str, Any]:
        started = time.monotonic()
        reply = self._complete(role, messages, schema, cancel)
        for _ in range(JSON_TRIES - 1):
            try:
                return read_json(reply.text, schema)
            except ModelError:
                if reply.cut:
                    raise
            wrong = "Your last answer was not the JSON object asked for. Answer with that JSON object only."
            said = [*messages, Message("assistant", reply.text[:2000] or "…"), Message("user", wrong)]
            reply = self._complete(role, said, schema, cancel, started)
        return read_json(reply.text, schema)

    def stream(
        self, role: Role, messages: Sequence[Message], *, cancel: threading.Event | None = None
    ) -> Generator[str, None, Reply]:
        """Read by a thread of the pool, so that a chat that went away frees its place without being asked."""
        pieces: SimpleQueue[str | None] = SimpleQueue()  # None = the end
        stop = threading.Event()
        owner = cancel or stop
        future = self._pool.submit(owner, lambda: self._read(role, messages, pieces.put, (cancel, stop)), long=True)
        future.add_done_callback(lambda _: pieces.put(None))
        try:
            while not _any_set(cancel):
                with contextlib.suppress(Empty):
                    piece = pieces.get(timeout=CHECK_SECONDS)
                    if piece is None:
                        return future.result()
                    yield piece
            raise Cancelled("The chat was stopped.")
        finally:
            stop.set()
            future.cancel()

    def _complete(
        self,
        role: Role,
        messages: Sequence[Message],
        schema: Mapping[str, Any] | None,
        cancel: threading.Event | None,
        started: float | None = None,
    ) -> Reply:
        """``started``: of an earlier call whose time limit this one shares."""

        def make(server: LlmServer, body: dict[str, Any], seconds: float) -> Reply:
            return whole_reply(server.client.create(body, seconds))

        with self._pool.place(cancel or threading.get_ident(), cancel, first=role in FIRST):
            since = time.monotonic() if started is None else started
            stopped = lambda: _any_set(cancel)  # noqa: E731
            return self._attempt(_Call(role, messages, make, self._model(role), stopped, schema, started=since))

    def _read(
        self,
        role: Role,
        messages: Sequence[Message],
        put: Callable[[str], None],
        stops: tuple[threading.Event | None, ...],
    ) -> Reply:
        given: list[str] = []
        model = self._model(role)

        def stopped() -> bool:
            return _any_set(*stops)

        def give(piece: str) -> None:
            given.append(piece)
            put(piece)

        def make(server: LlmServer, body: dict[str, Any], seconds: float) -> Reply:
            deadline = time.monotonic() + seconds
            with server.client.stream(body, min(seconds, self._settings.silence)) as chunks:
                return streamed_reply(
                    _heard(chunks, server), give, stopped, deadline, unopened=server.models[model].unopened
                )

        return self._attempt(_Call(role, messages, make, model, stopped, stream=True, repeatable=lambda: not given))

    def _attempt(self, call: _Call) -> Reply:
        """Make the call; on a failure that may pass, on the next server or a little later."""
        limit = self._role(call).timeout
        started, tries = call.started, 0
        while True:
            left = limit - (time.monotonic() - started)
            if left <= 0:
                raise ModelError(f"The time for {call.role} is up.")
            outcome = self._try(call, left)
            if isinstance(outcome, Reply):
                _log(call.role, outcome, time.monotonic() - started)
                return outcome
            if outcome.option or outcome.lasting:  # without it, or on another server: there may be none
                continue
            tries += 1
            pause = outcome.pause(tries)
            left = limit - (time.monotonic() - started)
            if not outcome.passing or not call.repeatable() or tries > self._settings.retries or pause >= left:
                raise outcome.error
            _sleep(pause, call.cancelled)

    def _try(self, call: _Call, left: float) -> Reply | Failure:
        if call.cancelled():
            raise Cancelled("The chat was stopped.")
        server, sent = self._servers.pick(call.model), frozenset[str]()
        served = server.models[call.model]
        asked = time.monotonic()
        try:
            body, sent = self._request(call, server, served, left)
            reply = call.make(server, body, max(0.0, left - (time.monotonic() - asked)))
        except FOREIGN as error:
            failure = read_failure(error, server.name, sent)
            _learn_from(failure, server, served, asked)
            return failure
        except NoWords as error:
            _served_well(server, served)
            raise error
        _served_well(server, served)
        if reply.unopened is not None and not sent & CONSTRAINING:
            served.unopened = reply.unopened
        return reply

    def _request(
        self, call: _Call, server: LlmServer, served: Served, seconds: float
    ) -> tuple[dict[str, Any], frozenset[str]]:
        return request(
            self._role(call),
            call.messages,
            model=call.model or _first_model(server, seconds),
            refused=served.refused,
            thinking=self._settings.thinking,
            schema=call.schema,
            stream=call.stream,
        )

    def _model(self, role: Role) -> str:
        of_role: RoleSettings = getattr(self._settings, role)
        return of_role.model or self._settings.model

    def _role(self, call: _Call) -> RoleSettings:
        role: RoleSettings = getattr(self._settings, call.role)
        return role


def _served_well(server: LlmServer, served: Served) -> None:
    server.heard = time.monotonic()
    server.breaker.succeeded()
    served.breaker.succeeded()


def _learn_from(failure: Failure, server: LlmServer, served: Served, asked: float) -> None:
    """``asked``: when the call was made."""
    if failure.alive:
        server.heard = time.monotonic()
        server.breaker.succeeded()
    else:  # who was silent to everybody all the while hangs: the rest of the question need not find it out anew
        server.breaker.failed(surely=failure.silent and server.heard < asked)
    if failure.option:
        logger.warning("%s refuses the option %s and is asked without it", server.name, failure.option)
        served.refused.add(failure.option)
    if failure.context:  # the next question's prompt will fit
        served.context, served.context_read = failure.context, time.monotonic()
    if failure.lasting:
        logger.error("%s", failure.error)
        served.refusal = str(failure.error)
        served.breaker.failed(surely=True)


def _heard(chunks: Iterator[dict[str, Any]], server: LlmServer) -> Iterator[dict[str, Any]]:
    for chunk in chunks:
        server.heard = time.monotonic()
        yield chunk


def _first_model(server: LlmServer, seconds: float) -> str:
    if not server.model:
        listed = server.client.listed(seconds)
        if not listed:
            raise ModelError(f"The language model server {server.name} lists no model; set llm.model.")
        server.model = str(listed[0]["id"])
    return server.model


def _any_set(*events: threading.Event | None) -> bool:
    return any(event is not None and event.is_set() for event in events)


def _sleep(seconds: float, cancelled: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not cancelled():
        time.sleep(min(left, CHECK_SECONDS))


def _log(role: Role, reply: Reply, seconds: float) -> None:
    logger.info("%s: %d + %d tokens in %.0f ms", role, reply.prompt_tokens, reply.completion_tokens, 1000 * seconds)
