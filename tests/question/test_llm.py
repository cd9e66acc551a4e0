"""The LLM adapter against a real HTTP server that a script answers."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from askwiki.calls.breaker import Breaker
from askwiki.calls.pool import CALL_SECONDS, REMEMBERED, FairPool
from askwiki.errors import Cancelled, ContextOverflow, ModelError, SettingsError
from askwiki.llm.factory import make_llm
from askwiki.llm.port import Llm, Message, Reply
from askwiki.llm.reading import ThinkingFilter, conforms, read_json, without_thinking
from askwiki.llm.servers import base_urls
from askwiki.settings import LlmSettings, RoleSettings
from tests.support.scripted import Asking, Rule, Saying, ScriptedServer
from tests.support.waiting import PATIENCE, until

NOBODY = "http://127.0.0.1:9/v1"  # the discard port: nobody listens there
ASK = [Message("system", "Be short."), Message("user", "How are you?")]
SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string"}, "kind": {"type": "string", "enum": ["a", "b"]}},
    "required": ["word"],
}
FAST = LlmSettings(
    retries=2,
    condense=RoleSettings(max_tokens=50, timeout=PATIENCE),
    relevance=RoleSettings(max_tokens=8, timeout=PATIENCE),
    answer=RoleSettings(temperature=0.1, max_tokens=100, timeout=PATIENCE),
)


def in_turn(*sayings: Saying | str) -> Rule:
    """Each request gets the next reply, the last one from then on."""
    left = list(sayings)
    return lambda asking: left.pop(0) if len(left) > 1 else left[0]


def llm_of(*servers: ScriptedServer, settings: LlmSettings = FAST) -> Llm:
    llm = make_llm(replace(settings, url=",".join(server.url for server in servers)))
    assert llm is not None
    return llm


def streamed(llm: Llm, cancel: threading.Event | None = None) -> tuple[str, Reply]:
    pieces = llm.stream("answer", ASK, cancel=cancel)
    text = ""
    while True:
        try:
            text += next(pieces)
        except StopIteration as end:
            reply: Reply = end.value
            return text, reply


def test_no_address_means_no_model() -> None:
    assert make_llm(LlmSettings(url="  ")) is None


@pytest.mark.parametrize(
    ("setting", "urls"),
    [
        ("http://a:8080", ["http://a:8080/v1"]),
        ("http://a:8080/", ["http://a:8080/v1"]),
        ("http://a/v1/, https://b/api/v3", ["http://a/v1", "https://b/api/v3"]),
    ],
)
def test_addresses_are_completed(setting: str, urls: list[str]) -> None:
    assert base_urls(setting) == urls


@pytest.mark.parametrize("setting", ["a:8080", "ftp://a", "http://", "http://[a"])
def test_what_is_no_address_is_refused(setting: str) -> None:
    with pytest.raises(SettingsError, match=r"llm\.url"):
        base_urls(setting)


def test_a_call_carries_its_roles_settings_and_gives_text_and_tokens() -> None:
    with ScriptedServer(in_turn("fine")) as server:
        assert llm_of(server).complete("condense", ASK) == Reply("fine", 7, 3)
        body = server.requests[0].body
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("scripted", 50, 0.0)
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body["messages"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "How are you?"},
    ]


def test_pictures_travel_as_parts() -> None:
    with ScriptedServer(in_turn("a cat")) as server:
        llm_of(server).complete("vision", [Message("user", "What is it?", ("data:image/png;base64,AA",))])
        (message,) = server.requests[0].body["messages"]
    assert message["content"] == [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
    ]


def test_a_stream_gives_pieces_as_they_come_and_the_reply_at_its_end() -> None:
    with ScriptedServer(in_turn("one two three")) as server:
        pieces = llm_of(server).stream("answer", ASK)
        assert list(pieces) == ["one ", "two ", "three"]
        assert streamed(llm_of(server)) == ("one two three", Reply("one two three", 7, 3))


@pytest.mark.parametrize(
    "saying",
    [
        Saying("<think>Hm, 5?</think>\n\nFour."),
        Saying("<thinking>a < b</thinking>Four."),
        Saying("Four.", thinking="The person wants a number."),
        Saying("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Four."),
    ],
)
def test_thinking_never_leaves(saying: Saying) -> None:
    with ScriptedServer(in_turn(saying)) as server:
        llm = llm_of(server)
        assert llm.complete("answer", ASK).text == "Four."
        assert streamed(llm)[0] == "Four."


def test_a_block_that_the_template_opened_is_thinking_too() -> None:
    assert without_thinking("Let me see.\n</think>\nFour.") == "Four."


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_the_thinking_filter_does_not_mind_where_pieces_end(size: int) -> None:
    text = "<think>no <b> no</think>If a < b and <thin> then <thinking>x</thinking>yes <"
    thinking = ThinkingFilter()
    pieces = [thinking.feed(text[place : place + size]) for place in range(0, len(text), size)]
    assert "".join(pieces) + thinking.finish() == "If a < b and <thin> then yes <"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"word": "yes"}', {"word": "yes"}),
        ('Sure! ```json\n{"word": "yes", "kind": "a"}\n``` Anything else?', {"word": "yes", "kind": "a"}),
        ('{"other": 1} {"word": "второй"}', {"word": "второй"}),
        ('[{"word": "in a list"}]', {"word": "in a list"}),
        ('{"word": "line\nbreak"}', {"word": "line\nbreak"}),
    ],
)
def test_json_is_found_in_prose(text: str, found: dict[str, str]) -> None:
    assert read_json(text, SCHEMA) == found


@pytest.mark.parametrize(
    "text", ["", "No.", '{"word": "cut', '{"word": 5}', '{"kind": "a"}', '{"word":"x","kind":"c"}']
)
def test_what_is_not_the_json_asked_for_raises(text: str) -> None:
    with pytest.raises(ModelError, match="JSON"):
        read_json(text, SCHEMA)


@pytest.mark.parametrize(
    ("value", "schema", "fits"),
    [
        (True, {"type": "integer"}, False),
        (1, {"type": "number"}, True),
        (None, {"type": ["string", "null"]}, True),
        ([1, "a"], {"type": "array", "items": {"type": "integer"}}, False),
        ({"a": {"b": 1}}, {"properties": {"a": {"required": ["b"]}}}, True),
        ({"a": {}}, {"properties": {"a": {"required": ["b"]}}}, False),
    ],
)
def test_the_schema_is_held(value: object, schema: dict[str, object], fits: bool) -> None:
    assert conforms(value, schema) is fits


def test_ten_megabytes_of_brackets_are_given_up_quickly() -> None:
    started = time.thread_time()
    with pytest.raises(ModelError):
        read_json('{"a":' * 2_000_000, SCHEMA)
    assert time.thread_time() - started < 5.0  # seconds of this thread alone; square time would be hours


def test_decide_asks_by_schema_and_a_second_time_when_prose_comes() -> None:
    with ScriptedServer(in_turn("I would say yes.", '{"word": "yes"}')) as server:
        assert llm_of(server).decide("condense", ASK, SCHEMA) == {"word": "yes"}
        first, second = server.requests
    assert first.schema == SCHEMA
    assert [message["role"] for message in second.body["messages"]] == ["system", "user", "assistant", "user"]


def test_decide_gives_up_after_two_answers_without_json() -> None:
    with ScriptedServer(in_turn("No.")) as server:
        with pytest.raises(ModelError, match="JSON"):
            llm_of(server).decide("condense", ASK, SCHEMA)
        assert len(server.requests) == 2


def test_an_answer_cut_by_its_limit_is_not_asked_for_again() -> None:
    with ScriptedServer(in_turn(Saying('{"word": "ye', finish="length"))) as server:
        with pytest.raises(ModelError, match="JSON"):
            llm_of(server).decide("condense", ASK, SCHEMA)
        assert len(server.requests) == 1


def test_options_that_a_server_refuses_are_left_out_from_then_on() -> None:
    def rule(asking: Asking) -> Saying | str:
        form = asking.body.get("response_format", {}).get("type")
        if "chat_template_kwargs" in asking.body:
            return Saying(status=400, error="Unrecognized request argument supplied: chat_template_kwargs")
        if form == "json_schema":
            return Saying(status=400, error="response_format of type json_schema is not supported")
        if form == "json_object":
            return Saying(status=422, error="response_format: json_object is unknown")
        if asking.body["messages"][0]["role"] == "system":
            return Saying(status=400, error="System role not supported")
        return '{"word": "yes"}'

    with ScriptedServer(rule) as server:
        llm = llm_of(server)
        assert llm.decide("condense", ASK, SCHEMA) == {"word": "yes"}
        asked = len(server.requests)
        assert llm.decide("condense", ASK, SCHEMA) == {"word": "yes"}
        assert (asked, len(server.requests)) == (5, 6)
        content = server.requests[-1].body["messages"][0]["content"]
    assert content.startswith("Be short.\n\nHow are you?") and '"required": ["word"]' in content


@pytest.mark.parametrize(
    "message",
    [
        "the request exceeds the available context size, try increasing it",
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096",
        "Requested token count exceeds the model's maximum context length of 4096 tokens",
        "`inputs` tokens + `max_new_tokens` must be <= 4096",
    ],
)
@pytest.mark.parametrize("status", [400, 500])
def test_a_prompt_that_is_too_long_is_recognised_and_not_repeated(message: str, status: int) -> None:
    with ScriptedServer(in_turn(Saying(status=status, error=message))) as server:
        llm = llm_of(server)
        with pytest.raises(ContextOverflow):
            llm.complete("answer", ASK)
        with pytest.raises(ContextOverflow):
            streamed(llm)
        assert len(server.requests) == 2


def test_busy_and_failing_servers_are_asked_again() -> None:
    busy = Saying(status=429, error="slow down", headers={"Retry-After": "0"})
    with ScriptedServer(
        in_turn(busy, Saying(status=500, error="oops", headers={"Retry-After": "0"}), "fine")
    ) as server:
        assert llm_of(server).complete("answer", ASK).text == "fine"
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("saying", "sentence"),
    [
        (Saying(status=401, error="bad key"), "refuses the key; set ASKWIKI_LLM_KEY"),
        (Saying(status=404, error="no such model"), "answered 404: .*no such model"),
        (Saying(status=400, error="temperature of 9"), "answered 400"),
        (Saying(raw="<html>login</html>"), "not in the OpenAI form"),
        (Saying(raw="{}"), "not in the OpenAI form"),
    ],
)
def test_what_will_not_pass_is_said_at_once(saying: Saying, sentence: str) -> None:
    settings = replace(FAST, model="one", thinking=True)
    with ScriptedServer(in_turn(saying)) as server, pytest.raises(ModelError, match=sentence):
        llm_of(server, settings=settings).complete("answer", ASK)


def test_the_key_is_sent_and_never_shown() -> None:
    with ScriptedServer(in_turn("fine")) as server:
        settings = replace(FAST, key="s3cret")
        llm_of(server, settings=settings).complete("answer", ASK)
        assert server.requests[0].headers["authorization"] == "Bearer s3cret"
    assert "s3cret" not in repr(settings)


def test_several_servers_take_turns_and_one_that_is_down_is_left_alone() -> None:
    with ScriptedServer(in_turn("fine")) as one, ScriptedServer(in_turn("fine")) as two:
        llm = llm_of(one, two)
        for _ in range(4):
            llm.complete("answer", ASK)
        assert (len(one.requests), len(two.requests)) == (2, 2)
        two.rule = in_turn(Saying(status=503, error="loading", headers={"Retry-After": "0"}))
        for _ in range(12):
            assert llm.complete("answer", ASK).text == "fine"
        assert len(two.requests) == 2 + 3  # three failures, then its breaker is open


def test_when_no_server_answers_the_next_call_fails_at_once() -> None:
    """The sentence says so: no connection is tried for it, and nothing is waited for."""
    llm = make_llm(replace(FAST, url=NOBODY, model="one", retries=2))
    assert llm is not None
    started = time.monotonic()
    with pytest.raises(ModelError, match="connection"):
        llm.complete("answer", ASK)
    tried = time.monotonic()
    with pytest.raises(ModelError, match="does not answer; it will be tried again shortly"):
        llm.complete("answer", ASK)
    assert time.monotonic() - tried < tried - started  # which has two pauses


def test_a_slow_answer_ends_at_the_roles_time_limit() -> None:
    settings, given_up = replace(FAST, retries=0, model="one", answer=RoleSettings(timeout=0.3)), threading.Event()

    def late(asking: Asking) -> str:
        given_up.wait(PATIENCE)
        return "late"

    with ScriptedServer(late) as server, pytest.raises(ModelError, match="did not answer in time"):
        llm_of(server, settings=settings).complete("answer", ASK)
    given_up.set()


@pytest.mark.parametrize(
    ("saying", "text", "sentence"),
    [
        (Saying("one two three", break_after=2), "one two ", "connection|broke off"),
        (Saying("one two", error="CUDA error"), "one two", "CUDA error"),
    ],
)
def test_a_stream_that_dies_keeps_what_it_gave_and_is_not_repeated(saying: Saying, text: str, sentence: str) -> None:
    with ScriptedServer(in_turn(saying)) as server:
        pieces, seen = llm_of(server).stream("answer", ASK), ""
        with pytest.raises(ModelError, match=sentence):
            for piece in pieces:
                seen += piece
        assert (seen, len(server.requests)) == (text, 1)


@pytest.mark.parametrize("saying", [Saying(""), Saying("<think>only thoughts</think>")])
def test_an_empty_stream_is_an_error(saying: Saying) -> None:
    with ScriptedServer(in_turn(saying)) as server, pytest.raises(ModelError, match="answered with nothing"):
        streamed(llm_of(server))


def test_a_stream_is_read_whatever_stands_between_its_events() -> None:
    event = '{"choices": [{"delta": {"content": "one\u2028two"}, "finish_reason": "stop"}]}'
    raw = f": hello\r\n\r\nevent: x\r\ndata:{event}\r\n\r\ndata: [DONE]\r\n\r\n"
    with ScriptedServer(in_turn(Saying(raw=raw))) as server:
        assert streamed(llm_of(server))[0] == "one\u2028two"


def test_a_stream_without_end_is_cut_and_says_so() -> None:
    with ScriptedServer(in_turn(Saying("word " * 3, finish="length"))) as server:
        assert streamed(llm_of(server))[1].cut is True


def test_a_stopped_chat_closes_its_stream() -> None:
    with ScriptedServer(in_turn(Saying("word " * 500, pause=0.02))) as server:
        cancel = threading.Event()
        pieces = llm_of(server).stream("answer", ASK, cancel=cancel)
        assert next(pieces) == "word "
        cancel.set()
        with pytest.raises(Cancelled):
            list(pieces)
        assert server.gone.wait(PATIENCE)


def test_a_generator_that_is_closed_closes_its_stream() -> None:
    with ScriptedServer(in_turn(Saying("word " * 500, pause=0.02))) as server:
        pieces = llm_of(server).stream("answer", ASK)
        next(pieces)
        pieces.close()
        assert server.gone.wait(PATIENCE)


def test_a_call_of_a_stopped_chat_is_not_made() -> None:
    cancel = threading.Event()
    cancel.set()
    with ScriptedServer(in_turn("fine")) as server:
        with pytest.raises(Cancelled):
            llm_of(server).complete("answer", ASK, cancel=cancel)
        assert server.requests == []


def test_no_more_calls_run_at_once_than_the_setting_says() -> None:
    """Three calls wait for one another, and a little longer, for a fourth that should not come."""
    together = threading.Barrier(3, timeout=PATIENCE)

    def rule(asking: Asking) -> Saying:
        together.wait()
        return Saying("1", delay=0.02)

    with ScriptedServer(rule) as server:
        llm = llm_of(server, settings=replace(FAST, parallel=3, model="one"))
        futures = [llm.submit(number, lambda: llm.complete("relevance", ASK)) for number in range(12)]
        assert [future.result().text for future in futures] == ["1"] * 12
        assert server.most_at_once == 3


def test_the_log_has_tokens_and_milliseconds_but_no_words(caplog: pytest.LogCaptureFixture) -> None:
    with ScriptedServer(in_turn("fine")) as server, caplog.at_level(logging.INFO, logger="askwiki"):
        llm_of(server).complete("answer", ASK)
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("answer: 7 + 3 tokens in ") and "fine" not in line


# --- the pool -------------------------------------------------------------------------------------


@pytest.fixture
def now() -> list[float]:
    """The time of ``blocked``."""
    return [0.0]


@pytest.fixture
def blocked(now: list[float]) -> Iterator[tuple[FairPool, threading.Event]]:
    """A pool of one place, held by a job until the event is set."""
    pool, go = FairPool(1, clock=lambda: now[0]), threading.Event()
    started = threading.Event()

    def hold() -> None:
        started.set()
        go.wait(PATIENCE)

    pool.submit("holder", hold)
    assert started.wait(PATIENCE)
    yield pool, go
    go.set()


def test_free_places_go_round_the_owners(blocked: tuple[FairPool, threading.Event]) -> None:
    pool, go = blocked
    order: list[str] = []
    jobs = [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("c", 1), ("b", 2)]
    futures = [pool.submit(owner, lambda name=f"{owner}{number}": order.append(name)) for owner, number in jobs]  # type: ignore[misc]
    go.set()
    for future in futures:
        future.result(PATIENCE)
    assert order == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_who_came_first_does_not_queue_again_behind_all_that_came_later(
    blocked: tuple[FairPool, threading.Event], now: list[float]
) -> None:
    pool, go = blocked
    order: list[str] = []
    waiting = [pool.submit(owner, lambda name=owner: order.append(name)) for owner in ("old", *"abcdefgh")]  # type: ignore[misc]
    now[0] += 1.5 * CALL_SECONDS
    newer = [pool.submit(owner, lambda name=owner: order.append(name)) for owner in ("new", "old")]  # type: ignore[misc]
    go.set()
    for future in waiting + newer:
        future.result(PATIENCE)
    assert order == ["old", *"abcdefgh", "old", "new"]


def test_one_place_of_eight_is_not_for_long_calls() -> None:
    pool, go, begun = FairPool(8), threading.Event(), threading.Semaphore(0)

    def hold() -> None:
        begun.release()
        go.wait(PATIENCE)

    held = [pool.submit(number, hold, long=True) for number in range(8)]
    assert all(begun.acquire(timeout=PATIENCE) for _ in range(7))
    assert pool.submit("short", lambda: "at once").result(PATIENCE) == "at once"
    assert not held[7].running()
    go.set()
    for future in held:
        future.result(PATIENCE)


def test_a_call_before_which_a_chat_shows_nothing_goes_first(blocked: tuple[FairPool, threading.Event]) -> None:
    pool, go = blocked
    order: list[str] = []

    def ask_first() -> None:
        with pool.place("new", threading.Event(), first=True):
            order.append("new")

    waiting = pool.submit("old", lambda: order.append("old"))
    thread = threading.Thread(target=ask_first)
    thread.start()
    until(lambda: pool._first, "the new chat waits")
    go.set()
    waiting.result(PATIENCE)
    thread.join(PATIENCE)
    assert order == ["new", "old"]


def test_owners_that_are_long_gone_are_forgotten() -> None:
    pool = FairPool(1)
    for number in range(REMEMBERED + 50):
        pool.submit(number, lambda: None).result(PATIENCE)
    assert len(pool._turns) <= REMEMBERED + 1


def test_a_cancelled_job_never_starts(blocked: tuple[FairPool, threading.Event]) -> None:
    pool, go = blocked
    ran: list[int] = []
    first, second = pool.submit("a", lambda: ran.append(1)), pool.submit("a", lambda: ran.append(2))
    assert first.cancel()
    go.set()
    second.result(PATIENCE)
    assert ran == [2]


def test_a_direct_call_waits_for_its_place_and_leaves_the_queue_when_stopped(
    blocked: tuple[FairPool, threading.Event],
) -> None:
    pool, go = blocked
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled), pool.place("a", cancel):
        pass
    go.set()
    with pool.place("a", threading.Event()):
        waiting = pool.submit("b", lambda: "done")
        assert not waiting.done()
    assert waiting.result(PATIENCE) == "done"


def test_a_direct_call_inside_the_pool_needs_no_second_place() -> None:
    pool = FairPool(1)

    def nested() -> str:
        with pool.place("a"):
            return "no deadlock"

    assert pool.submit("a", nested).result(PATIENCE) == "no deadlock"


def test_an_error_in_a_job_reaches_who_waits_and_frees_the_place() -> None:
    pool = FairPool(1)

    def fail() -> None:
        raise ModelError("no")

    with pytest.raises(ModelError, match="no"):
        pool.submit("a", fail).result(PATIENCE)
    assert pool.submit("a", lambda: 1).result(PATIENCE) == 1


def test_a_breaker_opens_after_failures_in_a_row_and_lets_one_trial_through() -> None:
    now = [0.0]
    breaker = Breaker(failures=2, pause=10.0, clock=lambda: now[0])
    breaker.failed()
    breaker.succeeded()
    breaker.failed()
    assert [breaker.open, breaker.allows()] == [False, True]
    breaker.failed()
    assert [breaker.open, breaker.allows()] == [True, False]
    now[0] = 10.0
    assert [breaker.allows(), breaker.allows()] == [True, False]
    breaker.succeeded()
    assert [breaker.allows(), breaker.allows()] == [True, True]


def test_a_server_that_is_silent_to_everybody_is_left_alone_at_once() -> None:
    settings = replace(FAST, retries=0, model="one", condense=RoleSettings(timeout=0.3))
    given_up = threading.Event()

    def late(asking: Asking) -> str:
        given_up.wait(PATIENCE)
        return "late"

    with ScriptedServer(late) as server:
        llm = llm_of(server, settings=settings)
        with pytest.raises(ModelError, match="did not answer in time"):
            llm.complete("condense", ASK)
        with pytest.raises(ModelError, match="tried again shortly"):
            llm.complete("answer", ASK)
        assert len(server.requests) == 1
        given_up.set()


def test_one_slow_call_among_answered_ones_does_not_close_the_server() -> None:
    settings = replace(FAST, retries=0, model="one", condense=RoleSettings(timeout=1.0))
    given_up, held = threading.Event(), threading.Event()

    def late_once(asking: Asking) -> str:
        if "hold" in asking.text:
            held.set()
            given_up.wait(PATIENCE)
        return "said"

    with ScriptedServer(late_once) as server:
        llm = llm_of(server, settings=settings)
        slow = llm.submit("slow", lambda: llm.complete("condense", [Message("user", "hold")]))
        assert held.wait(PATIENCE)
        assert llm.complete("answer", ASK).text == "said"
        with pytest.raises(ModelError, match="did not answer in time"):
            slow.result(PATIENCE)
        assert llm.complete("answer", ASK).text == "said"
        given_up.set()


def test_a_stream_that_says_nothing_ends_at_the_limit_for_silence() -> None:
    settings = replace(FAST, retries=0, model="one", silence=0.3)
    with ScriptedServer(lambda asking: Saying("late", delay=3.0)) as server:
        started = time.monotonic()
        with pytest.raises(ModelError, match="did not answer in time"):
            list(llm_of(server, settings=settings).stream("answer", ASK))
        assert time.monotonic() - started < 2.5


def test_the_names_of_models_are_asked_for_within_the_roles_limit_too() -> None:
    """A server that takes the connection and never answers: asked for its models it held each call for a minute."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = replace(FAST, url=f"http://127.0.0.1:{silent.getsockname()[1]}/v1", model="", retries=0)
        llm = make_llm(replace(settings, answer=RoleSettings(timeout=0.3)))
        started = time.monotonic()
        with pytest.raises(ModelError, match="did not answer in time"):
            assert llm is not None
            llm.complete("answer", ASK)
        assert time.monotonic() - started < 10
