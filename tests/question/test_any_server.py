"""Servers and models as they are: refused fields, odd chunks, thinking, quotas, addresses. Each behind real HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from askwiki.data import Answer, Identity, Status, Turn
from askwiki.errors import ContextOverflow, ModelError, ModelRefuses, NoWords, SettingsError
from askwiki.flow.ask import ask
from askwiki.llm.addresses import Address, addresses
from askwiki.llm.context import UNSAID, context_in
from askwiki.llm.factory import make_llm
from askwiki.llm.port import Llm, Message, Reply
from askwiki.llm.reading import ThinkingFilter
from askwiki.llm.refusals import OPTIONS, refused_option
from askwiki.settings import LlmSettings, RoleSettings
from tests.support.scripted import Asking, Rule, Saying, ScriptedServer
from tests.support.small_wiki import chunk, kit_of, with_settings
from tests.support.waiting import PATIENCE

ASK = [Message("system", "Be short."), Message("user", "How are you?")]
DIGITS = [Message("system", "Judge."), Message("user", "Which?", pattern="[01]{3}")]
SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
FAST = LlmSettings(
    model="one",
    retries=2,
    condense=RoleSettings(timeout=PATIENCE),
    relevance=RoleSettings(timeout=PATIENCE),
    answer=RoleSettings(timeout=PATIENCE),
)


def llm_of(*servers: ScriptedServer, **more: Any) -> Llm:
    llm = make_llm(replace(FAST, url=",".join(server.url for server in servers), **more))
    assert llm is not None
    return llm


def streamed(llm: Llm) -> tuple[str, Reply]:
    pieces, text = llm.stream("answer", ASK), ""
    while True:
        try:
            text += next(pieces)
        except StopIteration as end:
            reply: Reply = end.value
            return text, reply


def events(*chunks: object) -> Saying:
    """A stream of these chunks, as they stand."""
    lines = "".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks)
    return Saying(raw=f"{lines}data: [DONE]\n\n", headers={"Content-Type": "text/event-stream"})


def delta(content: object, finish: str | None = None, **more: object) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content, **more}, "finish_reason": finish}]}


# --- what a server refuses ------------------------------------------------------------------------------

REFUSALS = [
    ("chat_template is not supported for Mistral tokenizers.", "chat_template_kwargs"),
    ("Chat templates are not supported by this tokenizer", "chat_template_kwargs"),
    ('Invalid JSON payload received. Unknown name "chatTemplateKwargs": Cannot find field.', "chat_template_kwargs"),
    ("enable-thinking is no option of this model", "chat_template_kwargs"),
    ("property 'stream_options' is unsupported", "stream_options"),
    ("Unsupported value: 'temperature' does not support 0.1 with this model.", "temperature"),
    ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
    ("Streaming is not allowed for this organisation", "stream"),
]


@pytest.mark.parametrize(("words", "field"), REFUSALS)
def test_a_refused_field_is_known_by_any_part_of_its_name_and_left_out_from_then_on(words: str, field: str) -> None:
    def rule(asking: Asking) -> Saying | str:
        return Saying(status=400, error=words) if field in asking.body else "fine"

    with ScriptedServer(rule) as server:
        llm = llm_of(server)
        assert streamed(llm)[0] == "fine"
        assert len(server.requests) == 2
        assert streamed(llm)[0] == "fine"
        assert len(server.requests) == 3


def test_a_refusal_is_read_to_its_end_and_where_the_server_points_first() -> None:
    told = {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs", "input": {"temperature": 1}}]}
    assert refused_option(json.dumps(told), set(OPTIONS)) == "usage"
    param = {"error": {"message": "temperature and more: see the docs", "param": "response_format.json_schema"}}
    assert refused_option(json.dumps(param), set(OPTIONS)) == "json_schema"
    assert refused_option("x " * 3_000 + "chat_template_kwargs", set(OPTIONS)) == "thinking"
    assert refused_option("out of memory", set(OPTIONS)) is None


def test_what_one_model_refuses_another_on_the_same_server_is_still_asked_with() -> None:
    def rule(asking: Asking) -> Saying | str:
        refused = asking.body["model"] == "old" and "chat_template_kwargs" in asking.body
        return Saying(status=400, error="chat_template is not supported") if refused else "fine"

    with ScriptedServer(rule) as server:
        llm = llm_of(server, condense=replace(FAST.condense, model="old"))
        llm.complete("condense", ASK)
        llm.complete("answer", ASK)
        assert "chat_template_kwargs" in server.requests[-1].body


def test_both_names_of_the_length_may_be_refused() -> None:
    def rule(asking: Asking) -> Saying | str:
        names = {"max_tokens", "max_completion_tokens"} & asking.body.keys()
        return Saying(status=400, error=f"{names} is not permitted") if names else "fine"

    with ScriptedServer(rule) as server:
        assert llm_of(server).complete("answer", ASK).text == "fine"
        assert len(server.requests) == 3


# --- answers in other forms -----------------------------------------------------------------------------

PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "The person wants a number."}]},
    {"type": "text", "text": "Four"},
    "!",
]


@pytest.mark.parametrize(
    ("chunks", "text"),
    [
        ([delta(PARTS, "stop")], "Four!"),
        ([delta({"type": "text", "text": {"value": "Four!"}}, "stop")], "Four!"),
        ([delta("Four"), None, [], "ping", 5, {"choices": None}, {"choices": [None]}, delta("!", "stop")], "Four!"),
        ([delta("Four"), delta(7), delta([None, 7, {"type": "image_url"}]), delta("!", "stop")], "Four!"),
        ([{"choices": [{"delta": "Four!", "finish_reason": "stop"}]}], "Four!"),
        ([{"choices": [{"text": "Four!", "finish_reason": "stop"}], "usage": "none"}], "Four!"),
    ],
)
def test_a_stream_is_read_in_whatever_form_its_chunks_are(chunks: list[object], text: str) -> None:
    with ScriptedServer(lambda asking: events(*chunks)) as server:
        assert streamed(llm_of(server))[0] == text


@pytest.mark.parametrize("chunks", [[{"answer": "Four"}], [[1, 2]], [delta({"what": "Four"}, "stop")], [{}]])
def test_a_stream_of_which_nothing_can_be_read_is_a_sentence(chunks: list[object]) -> None:
    with ScriptedServer(lambda asking: events(*chunks)) as server, pytest.raises(ModelError, match=r"^The .*\.$"):
        streamed(llm_of(server))


def test_the_same_forms_are_read_in_a_whole_answer() -> None:
    whole = {"choices": [{"message": {"role": "assistant", "content": PARTS}, "finish_reason": "stop"}]}
    with ScriptedServer(lambda asking: Saying(raw=json.dumps(whole))) as server:
        assert llm_of(server).complete("answer", ASK).text == "Four!"


@pytest.mark.parametrize("finish", ["stop", None])
def test_a_whole_answer_is_taken_where_a_stream_was_asked_for(finish: str | None) -> None:
    whole = {"choices": [{"message": {"content": "Four."}, "finish_reason": finish}], "usage": {"prompt_tokens": 5}}
    with ScriptedServer(lambda asking: Saying(raw=json.dumps(whole))) as server:
        assert streamed(llm_of(server)) == ("Four.", Reply("Four.", 5, 0))


def test_an_error_with_the_status_of_success_is_an_error() -> None:
    error = {"error": {"message": "Insufficient credits", "code": 402}}
    with ScriptedServer(lambda asking: Saying(raw=json.dumps(error))) as server:
        llm = llm_of(server)
        with pytest.raises(ModelRefuses, match="Insufficient credits"):
            llm.complete("answer", ASK)


# --- thinking -------------------------------------------------------------------------------------------


def test_thinking_whose_opening_mark_the_template_wrote_is_not_shown() -> None:
    with ScriptedServer(lambda asking: "The person wants a sum. </think>\n\nFour and more.") as server:
        assert streamed(llm_of(server))[0] == "Four and more."


def test_once_seen_it_is_known_of_the_model_however_long_it_thinks() -> None:
    long = "Let me think of it once more. " * 400
    replies = iter(["Hm. </think> 1", f"{long}</think>\n\nFour.", f"{long}</think>\n\nFive."])
    with ScriptedServer(lambda asking: next(replies)) as server:
        llm = llm_of(server)
        assert llm.complete("relevance", ASK).text == "1"
        assert streamed(llm)[0] == "Four."
        assert streamed(llm)[0] == "Five."


def test_a_model_known_to_think_that_once_does_not_is_shown_all_the_same() -> None:
    replies = iter(["Hm. </think> Four.", "Just five.", "Six at once."])
    with ScriptedServer(lambda asking: next(replies)) as server:
        llm = llm_of(server)
        assert [streamed(llm)[0] for _ in range(3)] == ["Four.", "Just five.", "Six at once."]


def test_a_model_known_to_answer_straight_is_shown_word_by_word() -> None:
    first, second = threading.Event(), threading.Event()

    def rule(asking: Asking) -> Saying:
        return Saying("one two", pause=0.01) if first.is_set() else Saying("one two")

    with ScriptedServer(rule) as server:
        llm = llm_of(server)
        streamed(llm)
        first.set()
        pieces = llm.stream("answer", ASK)
        assert next(pieces) == "one "
        second.set()
        assert list(pieces) == ["two"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_thinking_without_its_opening_mark_does_not_mind_where_pieces_end(size: int) -> None:
    text = "no <b> no</think>If a < b then yes <"
    thinking = ThinkingFilter(unopened=True)
    pieces = [thinking.feed(text[place : place + size]) for place in range(0, len(text), size)]
    assert "".join(pieces) + thinking.finish() == "If a < b then yes <"


@pytest.mark.parametrize(
    ("saying", "why"),
    [
        (Saying("", thinking="Hm."), "thought"),
        (Saying("<think>only thoughts</think>"), "thought"),
        (Saying("<think>only thoughts and no", finish="length"), "thought"),
        (Saying("", finish="content_filter"), "withheld"),
        (Saying(""), "nothing"),
    ],
)
def test_an_answer_without_words_says_why(saying: Saying, why: str) -> None:
    with ScriptedServer(lambda asking: saying) as server, pytest.raises(NoWords) as caught:
        streamed(llm_of(server))
    assert caught.value.why == why


def test_a_prompt_that_the_filter_of_the_server_stops_is_told_as_that() -> None:
    words = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
    with ScriptedServer(lambda asking: Saying(status=400, error=words)) as server, pytest.raises(NoWords) as caught:
        streamed(llm_of(server))
    assert caught.value.why == "withheld"


# --- refusals that will not go away ---------------------------------------------------------------------

LASTING = [
    Saying(status=401, error="Incorrect API key provided"),
    Saying(status=403, error="Forbidden"),
    Saying(status=400, error="API key not valid. Please pass a valid API key."),
    Saying(status=429, error="You exceeded your current quota, please check your plan and billing details."),
    Saying(status=402, error="Payment required"),
    Saying(status=404, error="The model `one` does not exist."),
    Saying(status=400, error="model 'one' not found"),
    Saying(status=404, error="Not Found"),
]


@pytest.mark.parametrize("saying", LASTING, ids=lambda saying: f"{saying.status} {saying.error[:20]}")
def test_a_refusal_that_will_not_go_away_costs_one_call(saying: Saying) -> None:
    with ScriptedServer(lambda asking: saying) as server:
        llm, sentences = llm_of(server), set()
        for call in (lambda: llm.complete("answer", ASK), lambda: llm.decide("condense", ASK, SCHEMA), llm_stream(llm)):
            with pytest.raises(ModelRefuses) as caught:
                call()
            sentences.add(str(caught.value))
        assert len(server.requests) == 1
        assert len(sentences) == 1


def llm_stream(llm: Llm) -> Callable[[], object]:
    return lambda: streamed(llm)


def test_a_limit_of_calls_a_minute_does_go_away() -> None:
    busy = Saying(status=429, error="Rate limit reached for requests", headers={"Retry-After": "0"})
    replies = iter([busy, Saying("fine")])
    with ScriptedServer(lambda asking: next(replies)) as server:
        assert llm_of(server).complete("answer", ASK).text == "fine"


def test_another_server_is_asked_at_once_where_one_refuses_for_good() -> None:
    with ScriptedServer(lambda asking: LASTING[0]) as wrong, ScriptedServer(lambda asking: "fine") as right:
        llm = llm_of(wrong, right, retries=0)
        assert [llm.complete("answer", ASK).text for _ in range(4)] == ["fine"] * 4
        assert len(wrong.requests) == 1


def test_an_unknown_model_of_one_role_leaves_the_others_alone() -> None:
    def rule(asking: Asking) -> Saying | str:
        return Saying(status=404, error="model not found") if asking.body["model"] == "gone" else "fine"

    with ScriptedServer(rule) as server:
        llm = llm_of(server, condense=replace(FAST.condense, model="gone"))
        with pytest.raises(ModelRefuses):
            llm.complete("condense", ASK)
        assert llm.complete("answer", ASK).text == "fine"


WIKI = [chunk(str(number), f"Лимит перевода в страну {number} — {number} рублей.") for number in range(40)]
SINGLE = (Turn("user", "Какой лимит перевода в страну 2?"),)
DIALOGUE = (Turn("user", "Какой лимит перевода?"), Turn("assistant", "В какую страну?"), Turn("user", "А во вторую?"))


def answer_of(
    rule: Rule, turns: tuple[Turn, ...] = SINGLE, **sections: Any
) -> tuple[Answer, list[str], ScriptedServer]:
    """The answer, the warnings of the chat, the server with what it was asked."""
    with ScriptedServer(rule) as server:
        settings = replace(FAST, url=server.url, parallel=1)
        kit = with_settings(kit_of(WIKI, llm=make_llm(settings)), llm=settings, **sections)
        seen = list(ask(turns, Identity(email="a@example.com"), kit=kit))
    answer = seen[-1]
    assert isinstance(answer, Answer)
    return answer, [event.text for event in seen if isinstance(event, Status) and event.warning], server


@pytest.mark.parametrize("turns", [SINGLE, DIALOGUE], ids=["first", "follow-up"])
@pytest.mark.parametrize("saying", LASTING, ids=lambda saying: f"{saying.status} {saying.error[:20]}")
def test_a_question_meets_it_once_and_says_it_once(saying: Saying, turns: tuple[Turn, ...]) -> None:
    answer, warnings, server = answer_of(lambda asking: saying, turns)
    sentence = "Языковая модель сейчас недоступна, поэтому вместо ответа приведены выдержки из вики."
    assert (warnings, answer.degraded, len(server.requests)) == ([sentence], (sentence,), 1)
    assert "рублей" in answer.text


@pytest.mark.parametrize(
    ("saying", "sentence"),
    [
        (Saying("", thinking="Hm."), "Языковая модель только рассуждала и ответа не дала"),
        (Saying("", finish="content_filter"), "Фильтр содержания на сервере языковой модели не пропустил ответ"),
        (Saying(""), "Языковая модель вернула пустой ответ"),
    ],
)
def test_the_chat_says_what_came_instead_of_an_answer(saying: Saying, sentence: str) -> None:
    answer, warnings, _ = answer_of(lambda asking: saying if asking.stream else "1")
    assert [warning.partition(",")[0] for warning in warnings] == [sentence]
    assert "рублей" in answer.text


def test_an_answer_that_the_filter_of_the_server_broke_off_says_so() -> None:
    broken = Saying("Лимит 2 рублей [1]. И ещё", finish="content_filter")
    answer, warnings, _ = answer_of(lambda asking: broken if asking.stream else "1")
    assert warnings == ["Ответ оборван фильтром содержания на сервере языковой модели."]
    assert "*Ответ оборван фильтром содержания" in answer.text


# --- verdicts -------------------------------------------------------------------------------------------


def test_servers_that_can_are_held_to_the_digits() -> None:
    with ScriptedServer(lambda asking: "101") as server:
        llm_of(server).complete("relevance", DIGITS)
        body = server.requests[0].body
    assert (body["structured_outputs"], body["regex"]) == ({"regex": "[01]{3}"}, "[01]{3}")
    assert body["grammar"] == "root ::= [01] [01] [01]"


def test_a_server_that_knows_none_of_these_fields_is_given_a_schema_or_just_asked() -> None:
    def rule(asking: Asking) -> Saying | str:
        known = {"model", "messages", "temperature", "max_tokens", "response_format"}
        if unknown := sorted(asking.body.keys() - known):
            return Saying(status=400, error=f"Unrecognized request argument supplied: {unknown[0]}")
        return '{"verdicts": "101"}' if asking.schema else "101"

    with ScriptedServer(rule) as server:
        llm = llm_of(server)
        assert llm.complete("relevance", DIGITS).text == '{"verdicts": "101"}'
        asked = len(server.requests)
        llm.complete("relevance", DIGITS)
        assert (asked, len(server.requests)) == (4, 5)


def test_verdicts_that_cannot_be_read_are_told_as_that() -> None:
    _, warnings, _ = answer_of(lambda asking: "Лимит 2 рублей [1]." if asking.stream else "Трудно сказать.")
    assert [warning.partition(":")[0] for warning in warnings] == ["Ответ модели не удалось прочитать"]


# --- addresses ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pasted", "address"),
    [
        ("http://a/v1/chat/completions", Address("http://a/v1")),
        ("http://a/v1/chat/completions/", Address("http://a/v1")),
        ("https://a/openai/v1/models", Address("https://a/openai/v1")),
        ("https://x.openai.azure.com", Address("https://x.openai.azure.com/openai/v1", azure=True)),
        (
            "https://x.openai.azure.com/openai/v1/?api-version=preview",
            Address("https://x.openai.azure.com/openai/v1", (("api-version", "preview"),), azure=True),
        ),
        (
            "https://x.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21",
            Address(
                "https://x.openai.azure.com/openai",
                (("api-version", "2024-10-21"),),
                azure=True,
                classic=True,
                model="gpt",
            ),
        ),
    ],
)
def test_pasted_addresses_are_understood(pasted: str, address: Address) -> None:
    assert addresses(pasted) == [address]


@pytest.mark.parametrize(
    ("pasted", "right"),
    [
        ("http://a:11434/api/chat", "write http://a:11434/v1."),
        ("http://a:11434/api", "write http://a:11434/v1."),
        ("http://a/v1/embeddings", "write http://a/v1."),
        ("https://a/openai/deployments/gpt", "write https://a/openai/deployments/gpt?api-version=2024-10-21."),
        (
            "https://x.openai.azure.com/openai/deployments",
            "write https://x.openai.azure.com/openai/deployments/NAME?api-version=2024-10-21.",
        ),
    ],
)
def test_an_address_that_cannot_work_is_refused_at_the_start_with_the_right_one(pasted: str, right: str) -> None:
    with pytest.raises(SettingsError) as caught:
        make_llm(LlmSettings(url=pasted))
    assert str(caught.value).endswith(right)


def test_azure_is_asked_as_azure_wants_it() -> None:
    with ScriptedServer(lambda asking: "fine") as server:
        root = server.url.removesuffix("/v1")
        classic = f"{root}/openai/deployments/gpt/chat/completions?api-version=2024-10-21"
        llm = make_llm(replace(FAST, url=classic, key="s3cret", model="", condense=RoleSettings(model="small")))
        assert llm is not None
        llm.complete("answer", ASK)
        llm.complete("condense", ASK)
        newer = make_llm(replace(FAST, url=f"{root}/openai/v1?api-version=preview", key="s3cret"))
        assert newer is not None
        newer.complete("answer", ASK)
        one, two, three = server.requests
    assert one.path == "/openai/deployments/gpt/chat/completions?api-version=2024-10-21"
    assert (one.headers.get("api-key"), one.headers.get("authorization")) == ("s3cret", None)
    assert two.path == "/openai/deployments/small/chat/completions?api-version=2024-10-21"
    assert (three.path, three.headers.get("api-key")) == ("/openai/v1/chat/completions?api-version=preview", "s3cret")


# --- how long a prompt may be -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "length"),
    [
        ({"max_model_len": 32_768}, 32_768),  # vLLM, SGLang
        ({"context_window": 131_072}, 131_072),  # Groq
        ({"context_length": 16_384}, 16_384),  # OpenRouter
        ({"max_context_length": 40_000}, 40_000),  # Mistral
        ({"meta": {"n_ctx": 12_288, "n_ctx_train": 131_072}}, 12_288),  # llama.cpp
        ({"meta": {"n_ctx_train": 131_072}}, UNSAID),  # what it was trained with, not what it was started with
        ({"meta": None, "max_model_len": "long"}, UNSAID),
        ({}, UNSAID),
    ],
)
def test_what_the_server_says_of_its_context_is_what_prompts_may_fill(told: dict[str, Any], length: int) -> None:
    with ScriptedServer(lambda asking: "Fine.", models=["one"]) as server:
        server.of_models = told
        assert llm_of(server).context("answer") == length


@pytest.mark.parametrize(
    ("listed", "model", "length"),
    [
        (
            [{"id": "/models/one.gguf", "meta": {"n_ctx": 9_000}}],
            "gpt",
            9_000,
        ),  # it serves its one model under any name
        ([{"id": "a", "max_model_len": 1}, {"id": "b", "aliases": ["gpt"], "max_model_len": 9_000}], "gpt", 9_000),
        ([{"id": "a", "max_model_len": 9_000}, {"id": "b", "max_model_len": 1}], "", 9_000),
        (
            [{"id": "lora", "parent": "base", "max_model_len": None}, {"id": "base", "max_model_len": 9_000}],
            "lora",
            9_000,
        ),
        ([{"id": "a", "parent": "b"}, {"id": "b", "parent": "a"}], "a", 0),
        ([{"id": "a", "max_model_len": 9_000}, {"id": "b"}], "gpt", 0),
        ([], "gpt", 0),
    ],
)
def test_a_models_context_is_found_under_whatever_name_it_is_listed(
    listed: list[dict[str, Any]], model: str, length: int
) -> None:
    assert context_in(listed, model) == length


@pytest.mark.parametrize(
    ("message", "length"),
    [
        ("This model's maximum context length is 4096 tokens. However, you requested 9000 tokens (7500 in it).", 4096),
        ("request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096),
        ('{"type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 4096}', 4096),
        ("The decoder prompt (length 9000) is longer than the maximum model length of 4096.", 4096),
        ("The input (9000 tokens) is longer than the model's context length (4096 tokens).", 4096),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9000 `inputs` tokens", 4096),
        ("Prompt contains 9000 tokens, too large for model with 4096 maximum context length", 4096),
        ("prompt is too long: 9000 tokens > 4096 maximum", 4096),
        ("prompt is too long", UNSAID),
    ],
)
def test_a_refusal_of_a_long_prompt_tells_what_the_next_one_may_have(message: str, length: int) -> None:
    with ScriptedServer(lambda asking: Saying(status=400, error=message)) as server:
        llm = llm_of(server)
        with pytest.raises(ContextOverflow):
            llm.complete("answer", ASK)
        assert llm.context("answer") == length


def test_of_several_servers_the_smallest_context_holds_and_the_settings_before_all() -> None:
    with (
        ScriptedServer(lambda asking: "Fine.", models=["one"]) as small,
        ScriptedServer(lambda asking: "Fine.", models=["one"]) as large,
    ):
        small.of_models, large.of_models = {"max_model_len": 10_000}, {"max_model_len": 90_000}
        assert llm_of(large, small).context("answer") == 10_000
        assert llm_of(large, small, context_tokens=5_000).context("answer") == 5_000


def test_a_server_that_is_gone_leaves_the_careful_length() -> None:
    with ScriptedServer(lambda asking: "Fine.") as server:
        llm = llm_of(server)
    assert llm.context("answer") == UNSAID
