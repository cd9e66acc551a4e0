"""The other doors in the real chat: a function instead of the connection, and a foreign model that calls our tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api")

from playwright.sync_api import expect

from askwiki.openwebui.provision import EVERYBODY, WebUi, install_function, provision
from tests.e2e.browser import SOURCE_CHIP, Chat
from tests.e2e.scenes import STATUSES
from tests.e2e.world import World
from tests.support.scripted import Asking, Rule, Saying

pytestmark = pytest.mark.e2e
FUNCTION, CALLER, SERVER = "wiki_function", "caller", "wiki"
TOOL = "query_knowledge_files"


def test_the_function_answers_as_the_connection_does(here: World, belova: Chat, tmp_path: Path) -> None:
    admin, server = here.admin(), here.stack.server
    install_function(admin, FUNCTION, "Вики (функция)", "", url=server.url, key=server.key)
    install_function(admin, FUNCTION, "Вики (функция)", "", url=server.url, key=server.key)  # again: renewed
    provision(admin, FUNCTION, "Вики (функция)", "")
    by_connection = belova.ask_and_wait(STATUSES.question).inner_text()
    sources = [link.get_attribute("href") for link in belova.answer.locator("ol a").all()]
    belova.page.goto(f"{belova.url}/?models={FUNCTION}")
    belova.page.locator("#chat-input").wait_for()
    answer = belova.ask_and_wait(STATUSES.question)
    assert answer.inner_text().splitlines()[-3:] == by_connection.splitlines()[-3:]
    assert sources and [link.get_attribute("href") for link in answer.locator("ol a").all()] == sources
    expect(answer.locator(SOURCE_CHIP).first).to_be_visible()
    assert belova.statuses()[-1] == "Готово, источников: 1"


@pytest.fixture
def caller(here: World) -> Iterator[None]:
    """A model of another vendor in the chat that calls tools, and our server among its tools."""
    admin = here.admin()
    before = admin.call("GET", "/openai/config").json()
    rule = here.llm.rule
    here.llm.rule, here.llm.models = _calls(rule), [*here.llm.models, CALLER]
    added = {
        **before,
        "OPENAI_API_BASE_URLS": [*before["OPENAI_API_BASE_URLS"], here.llm.url],
        "OPENAI_API_KEYS": [*before["OPENAI_API_KEYS"], "none"],
    }
    try:
        _done(admin, "/openai/config/update", added)
        _done(admin, "/api/v1/configs/tool_servers", {"TOOL_SERVER_CONNECTIONS": [_connection(here)]})
        provision(admin, CALLER, "Другая модель", "")
        _done(admin, "/api/v1/models/model/update", _with_tools(admin))
        yield
    finally:
        here.llm.rule, here.llm.models = rule, here.llm.models[:-1]
        _done(admin, "/api/v1/configs/tool_servers", {"TOOL_SERVER_CONNECTIONS": []})
        _done(admin, "/openai/config/update", before)


def test_a_model_that_calls_our_search_shows_our_places_as_its_sources(here: World, belova: Chat, caller: None) -> None:
    belova.page.goto(f"{belova.url}/?models={CALLER}")
    belova.page.locator("#chat-input").wait_for()
    answer = belova.ask_and_wait(STATUSES.question)
    expect(answer).to_contain_text("Нашёл в вики")
    answer.locator(SOURCE_CHIP).first.click()
    dialog = belova.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Статусы перевода")
    asked = [json.loads(each.body["messages"][-1]["content"]) for each in here.llm.requests if _answers_a_tool(each)]
    assert any("Статусы перевода" in place["source"] for place in asked[-1])


def _connection(here: World) -> dict[str, Any]:
    return {
        "url": f"{here.stack.server.url}/tools/openwebui",
        "path": "openapi.json",
        "type": "openapi",
        "auth_type": "bearer",
        "key": here.stack.server.key,
        "config": {"enable": True, "access_grants": EVERYBODY},
        "info": {"id": SERVER, "name": "Вики", "description": ""},
        "headers": {
            "X-User-Email": "{{USER_EMAIL}}",
            "X-User-Groups": "{{USER_GROUPS}}",
            "X-User-Group-Ids": "{{USER_GROUP_IDS}}",
        },
    }


def _with_tools(admin: WebUi) -> dict[str, Any]:
    record: dict[str, Any] = admin.call("GET", f"/api/v1/models/model?id={CALLER}").json()
    kept = {key: record[key] for key in ("id", "base_model_id", "name", "params", "is_active")}
    return {**kept, "meta": {**record["meta"], "toolIds": [f"server:{SERVER}"]}, "access_grants": EVERYBODY}


def _done(admin: WebUi, path: str, body: dict[str, Any]) -> None:
    answer = admin.call("POST", path, body)
    assert answer.status_code == 200, (path, answer.text)


def _answers_a_tool(asking: Asking) -> bool:
    return bool(asking.body["model"] == CALLER and asking.body["messages"][-1]["role"] == "tool")


def _calls(other: Rule) -> Rule:
    """The model first calls the search with the person's words, then answers from what came."""

    def rule(asking: Asking) -> Saying | str:
        if asking.body["model"] != CALLER:
            return other(asking)
        if _answers_a_tool(asking) or TOOL not in json.dumps(asking.body.get("tools", [])):
            return "Нашёл в вики [1]."
        call = {"name": TOOL, "arguments": json.dumps({"query": STATUSES.question}, ensure_ascii=False)}
        delta = {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": call}]}
        head = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": CALLER}
        events = [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        ]
        lines = [f"data: {json.dumps(event)}\n\n" for event in events]
        return Saying(raw="".join([*lines, "data: [DONE]\n\n"]), headers={"Content-Type": "text/event-stream"})

    return rule
