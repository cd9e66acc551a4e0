"""Language models that say what a test tells them: one in the process, one behind real HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

from askwiki.calls.pool import FairPool
from askwiki.errors import Cancelled
from askwiki.llm.context import UNSAID
from askwiki.llm.port import Message, Reply, Role

T = TypeVar("T")
Said = str | dict[str, Any] | Exception | Sequence[str | Exception]
Scripted = Said | Callable[[Sequence[Message]], Said]


@dataclass(frozen=True, slots=True)
class Asked:
    """One call that ``ScriptedLlm`` received."""

    role: Role
    messages: tuple[Message, ...]
    schema: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        return "\n".join(message.content for message in self.messages)


class ScriptedLlm:
    """The ``Llm`` Protocol with a queue of replies for each role and a ``history`` of what was asked.

    A reply is a text, a dictionary (for ``decide``), an exception to raise, a list of pieces (for
    ``stream``, an exception among them breaks it off), or a function from the messages to one of these.
    ``always`` sets what a role says once its queue is empty; a call nobody scripted fails the test.
    """

    def __init__(self, *, parallel: int = 4, context: int = UNSAID) -> None:
        self._context = context
        self.history: list[Asked] = []
        self._queues: dict[Role, deque[Scripted]] = defaultdict(deque)
        self._always: dict[Role, Scripted] = {}
        self._lock = threading.Lock()
        self._pool = FairPool(parallel)

    def enqueue(self, role: Role, *replies: Scripted) -> ScriptedLlm:
        self._queues[role].extend(replies)
        return self

    def always(self, role: Role, reply: Scripted) -> ScriptedLlm:
        self._always[role] = reply
        return self

    def asked(self, role: Role) -> list[Asked]:
        return [asked for asked in self.history if asked.role == role]

    def complete(self, role: Role, messages: Sequence[Message], *, cancel: threading.Event | None = None) -> Reply:
        said = self._next(role, messages, None, cancel)
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        return Reply(text, sum(len(message.content) for message in messages), len(text))

    def decide(
        self,
        role: Role,
        messages: Sequence[Message],
        schema: dict[str, Any],
        *,
        cancel: threading.Event | None = None,
    ) -> dict[str, Any]:
        said = self._next(role, messages, schema, cancel)
        if not isinstance(said, dict):
            raise AssertionError(f"{role}: decide needs a dictionary, {said!r} was scripted")
        return said

    def stream(
        self, role: Role, messages: Sequence[Message], *, cancel: threading.Event | None = None
    ) -> Generator[str, None, Reply]:
        said = self._next(role, messages, None, cancel)
        if isinstance(said, dict):
            raise AssertionError(f"{role}: a stream needs text, {said!r} was scripted")
        text = ""
        for piece in _words(said) if isinstance(said, str) else said:
            if cancel is not None and cancel.is_set():
                raise Cancelled("The chat was stopped.")
            if isinstance(piece, Exception):
                raise piece
            text += piece
            yield piece
        return Reply(text, sum(len(message.content) for message in messages), len(text))

    def context(self, role: Role) -> int:
        return self._context

    def submit(self, owner: Hashable, call: Callable[[], T]) -> Future[T]:
        return self._pool.submit(owner, call)

    def _next(
        self,
        role: Role,
        messages: Sequence[Message],
        schema: dict[str, Any] | None,
        cancel: threading.Event | None,
    ) -> str | dict[str, Any] | Sequence[str | Exception]:
        if cancel is not None and cancel.is_set():
            raise Cancelled("The chat was stopped.")
        with self._lock:
            self.history.append(Asked(role, tuple(messages), schema))
            queue = self._queues[role]
            reply = queue.popleft() if queue else self._always.get(role)
        if reply is None:
            raise AssertionError(f"nothing is scripted for {role}: {messages[-1].content[:200]}")
        said = reply(messages) if callable(reply) else reply
        if isinstance(said, Exception):
            raise said
        return said


def _words(text: str) -> list[str]:
    """The text in pieces as a model streams it: a word and the blank after it."""
    return [piece for piece in text.replace(" ", " \0").split("\0") if piece]


@dataclass(frozen=True, slots=True)
class Asking:
    """One HTTP request that ``ScriptedServer`` received."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def text(self) -> str:
        """Everything the messages say."""
        return "\n".join(str(message["content"]) for message in self.body.get("messages", ()))

    @property
    def schema(self) -> dict[str, Any] | None:
        form = self.body.get("response_format") or {}
        schema: dict[str, Any] | None = form.get("json_schema", {}).get("schema")
        return schema


@dataclass(frozen=True, slots=True)
class Saying:
    """How the server answers one request."""

    text: str = ""
    status: int = 200
    error: str = ""  # message of an error answer (with a status of 400 and more, or amid a stream)
    thinking: str = ""  # reasoning_content before the text
    delay: float = 0.0  # seconds before the first byte
    pause: float = 0.0  # seconds between the pieces of a stream
    break_after: int | None = None  # pieces after which the connection is cut
    finish: str = "stop"
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: str | None = None  # sent as the whole body instead


Rule = Callable[[Asking], Saying | str]


class ScriptedServer:
    """A small OpenAI-compatible server, on a free loopback port or another ``address``, answering by a rule.

    with ScriptedServer(lambda asking: "1") as server:
        make_llm(LlmSettings(url=server.url))
    """

    def __init__(
        self, rule: Rule, *, models: Sequence[str] = ("scripted",), address: tuple[str, int] = ("127.0.0.1", 0)
    ) -> None:
        self.rule = rule
        self.models = list(models)
        self.of_models: dict[str, Any] = {}  # what it says of each of them beside the name
        self.requests: list[Asking] = []
        self.gone = threading.Event()  # a client closed its stream before the end
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self._http = _Http(self, address)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *details: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def received(self, asking: Asking) -> Saying:
        with self._lock:
            self.requests.append(asking)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            said = self.rule(asking)
            saying = Saying(said) if isinstance(said, str) else said
            time.sleep(saying.delay)
            return saying
        finally:
            with self._lock:
                self._at_once -= 1


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, script: ScriptedServer, address: tuple[str, int]) -> None:
        self.script = script
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what some tests are about; nothing is printed."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""

    def do_GET(self) -> None:
        script = self.server.script
        entry = {"object": "model", "created": 0, "owned_by": "test", **script.of_models}
        models = [{"id": name, **entry} for name in script.models]
        self._whole(200, json.dumps({"object": "list", "data": models}), {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asking = Asking(self.path, body, {name.lower(): value for name, value in self.headers.items()})
        saying = self.server.script.received(asking)
        if saying.raw is not None:
            self._whole(saying.status, saying.raw, saying.headers)
        elif saying.status >= 400:
            error = {"error": {"message": saying.error, "type": "error", "code": saying.status}}
            self._whole(saying.status, json.dumps(error), saying.headers)
        elif asking.stream:
            self._stream(saying)
        elif saying.break_after is not None:
            self.close_connection = True
        else:
            self._whole(200, json.dumps(_completion(saying)), saying.headers)

    def _whole(self, status: int, text: str, headers: Mapping[str, str]) -> None:
        data = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, saying: Saying) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = saying.break_after is not None
        try:
            for number, event in enumerate(_events(saying)):
                if number == saying.break_after:
                    return
                line = f"data: {event}\n\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                time.sleep(saying.pause)
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
            self.server.script.gone.set()


def _completion(saying: Saying) -> dict[str, Any]:
    message = {"role": "assistant", "content": saying.text}
    if saying.thinking:
        message["reasoning_content"] = saying.thinking
    choice = {"index": 0, "message": message, "finish_reason": saying.finish}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    head = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted"}
    return {**head, "choices": [choice], "usage": usage}


def _events(saying: Saying) -> Generator[str, None, None]:
    head = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}

    def chunk(delta: dict[str, str], finish: str | None = None) -> str:
        return json.dumps({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    if saying.thinking:
        yield chunk({"reasoning_content": saying.thinking})
    for piece in _words(saying.text):
        yield chunk({"content": piece})
    if saying.error:
        yield json.dumps({"error": {"message": saying.error, "code": 500}})
        return
    yield chunk({}, saying.finish)
    yield json.dumps({**head, "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}})
    yield "[DONE]"
