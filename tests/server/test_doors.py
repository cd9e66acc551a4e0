"""The tools over HTTP and MCP of the running server: what the chat finds, for whom the chat finds it, by its key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpx2
import pytest
import requests
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from askwiki.doors import mcp as mcp_door
from askwiki.doors.openapi import DESCRIPTION, routes
from askwiki.doors.tools import TOOLS
from tests.support import edge_wiki
from tests.support.edge_wiki import BOSS, FINANCE, HIDDEN_TITLE, HIDDEN_WORD, PAGES, PERSON
from tests.support.running import CALL_SECONDS, Running, chat, serving

QUESTIONS = ["Какой разовый лимит перевода?", "Как вернуть перевод?", "За сколько дней подают заявление на отпуск?"]
LIMITS = f"https://wiki.example.com/limits#{quote('лимиты-переводов')}"


def forwarded(person: dict[str, str], **more: str) -> dict[str, str]:
    """The headers in which Open WebUI names a person to a tool server."""
    return {f"X-OpenWebUI-User-{key.title()}": quote(value, safe=" @") for key, value in person.items()} | more


def post(served: Running, path: str, body: Any, headers: dict[str, str] | None = None) -> requests.Response:
    return requests.post(
        f"{served.url}{path}", json=body, headers={**served.headers, **(headers or {})}, timeout=CALL_SECONDS
    )


def over_mcp(served: Running, name: str, arguments: dict[str, Any], headers: dict[str, str] | None = None) -> Any:
    """A call by the official client, as Open WebUI makes it."""

    async def work() -> Any:
        async with (
            httpx2.AsyncClient(headers={**served.headers, **(headers or {})}, timeout=CALL_SECONDS) as http,
            Client(streamable_http_client(f"{served.url}/mcp", http_client=http)) as client,
        ):
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == list(TOOLS)
            return await client.call_tool(name, arguments)

    return anyio.run(work)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_door_gives_the_sources_that_the_chat_gives(served: Running, question: str) -> None:
    shown = chat(served, [{"role": "user", "content": question}])
    by_http = post(served, "/tools/ask", {"question": question}, forwarded(PERSON)).json()
    by_mcp = over_mcp(served, "ask", {"question": question}, forwarded(PERSON)).structured_content
    assert by_http["answer"] == by_mcp["answer"] == shown.text
    sent = [(source["source"]["name"], source["source"]["url"]) for source in shown.sources]
    cited = [(source["title"], source["url"]) for source in by_http["sources"]]
    assert cited
    assert set(cited) <= set(sent)
    assert by_http["sources"] == by_mcp["sources"]


def test_search_gives_places_with_their_citations(served: Running) -> None:
    found = post(served, "/tools/search", {"query": QUESTIONS[0], "limit": 3}, forwarded(PERSON)).json()["results"]
    assert len(found) == 3
    assert found[0]["title"] == "Лимиты переводов"
    assert found[0]["url"] == LIMITS
    assert found[0]["citation"] == f"[Лимиты переводов]({LIMITS})"
    assert "150 000 рублей" in found[0]["text"]
    assert (
        found
        == over_mcp(served, "search", {"query": QUESTIONS[0], "limit": 3}, forwarded(PERSON)).structured_content[
            "results"
        ]
    )


def test_a_page_is_read_whole(served: Running) -> None:
    page = post(served, "/tools/read", {"page": "limits.md"}, forwarded(PERSON)).json()
    assert page["text"].strip() == f"# Лимиты переводов\n\n{PAGES['limits.md'][2]}".strip()
    assert (page["title"], page["url"]) == ("Лимиты переводов", "https://wiki.example.com/limits")


@pytest.mark.parametrize(
    ("headers", "readable"),
    [
        (forwarded(BOSS, **FINANCE), True),
        (forwarded(BOSS), False),
        (FINANCE, False),  # groups of nobody
        ({}, False),
        (forwarded(BOSS, **FINANCE, **{"X-User-Email": PERSON["email"]}), False),  # two people: nobody is believed
    ],
    ids=["in the group", "not in it", "no person", "nothing", "two people"],
)
def test_the_doors_open_what_the_chat_opens(served: Running, headers: dict[str, str], readable: bool) -> None:
    query = f"{HIDDEN_TITLE}: сколько рублей?"
    answers = [
        post(served, "/tools/search", {"query": query, "limit": 20}, headers).text,
        post(served, "/tools/read", {"page": "bonus.md"}, headers).text,
        post(served, "/tools/ask", {"question": query}, headers).text,
        post(served, "/tools/openwebui/search", {"query": query}, headers).text,
        *(
            over_mcp(served, tool, arguments, headers).model_dump_json()
            for tool, arguments in [
                ("search", {"query": query}),
                ("read", {"page": "bonus.md"}),
                ("ask", {"question": query}),
            ]
        ),
    ]
    assert [HIDDEN_WORD in answer for answer in answers] == [readable] * len(answers)


def test_what_the_caller_writes_makes_it_nobody_else(served: Running) -> None:
    answer = post(served, "/tools/search", {"query": HIDDEN_TITLE, "user": BOSS, "groups": ["finance"]})
    assert (answer.status_code, HIDDEN_WORD in answer.text) == (422, False)
    assert answer.json()["detail"] == "search knows no groups, user: it takes query, limit."


@pytest.mark.parametrize(("method", "path"), sorted({*routes(), ("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp")}))
def test_no_door_opens_without_the_key(served: Running, method: str, path: str) -> None:
    answer = requests.request(method, served.url + path, json={"query": "лимит"}, timeout=CALL_SECONDS)
    assert answer.status_code == 401


@pytest.mark.parametrize(
    "path", ["/tools", "/tools/", "/tools/nothing", "/tools//search", "/Tools/search", "/mcp/", "/mcp/x"]
)
def test_nothing_else_is_a_door(served: Running, path: str) -> None:
    assert post(served, path, {"query": "лимит"}).status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        ("/tools/search", {}, "query is missing: a text that is not empty."),
        ("/tools/search", {"query": "  "}, "query is missing: a text that is not empty."),
        ("/tools/search", {"query": 7}, "query is missing: a text that is not empty."),
        ("/tools/search", {"query": "лимит", "limit": 21}, "limit must be a whole number from 1 to 20."),
        ("/tools/search", {"query": "лимит", "limit": True}, "limit must be a whole number from 1 to 20."),
        ("/tools/search", ["лимит"], "search needs a JSON object with query."),
        ("/tools/read", {"page": "no.md"}, "There is no page no.md that you may read: take an id that search gave."),
        (
            "/tools/read",
            {"page": "secret.md"},
            "There is no page secret.md that you may read: take an id that search gave.",
        ),
        ("/tools/ask", {"question": None}, "question is missing: a text that is not empty."),
    ],
)
def test_wrong_arguments_are_a_sentence(served: Running, path: str, body: Any, sentence: str) -> None:
    answer = post(served, path, body, forwarded(PERSON))
    assert (answer.status_code, answer.json()["detail"]) == (422, sentence)


def test_a_body_that_is_no_json_is_a_sentence(served: Running) -> None:
    answer = requests.post(f"{served.url}/tools/ask", data=b"{", headers=served.headers, timeout=CALL_SECONDS)
    assert answer.json()["detail"] == "The body is no JSON: ask needs an object with question."


def test_a_wrong_call_over_mcp_is_told_to_the_model(served: Running) -> None:
    result = over_mcp(served, "search", {"query": ""}, forwarded(PERSON))
    assert (result.is_error, result.content[0].text) == (True, "query is missing: a text that is not empty.")
    result = over_mcp(served, "delete", {}, forwarded(PERSON))
    assert result.content[0].text == "There is no tool delete: there are search, read, ask."


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_mcp_keeps_no_sessions(served: Running, method: str) -> None:
    answer = requests.request(method, f"{served.url}/mcp", headers=served.headers, timeout=CALL_SECONDS)
    assert (answer.status_code, answer.json()["detail"]) == (
        405,
        "This MCP server keeps no sessions: it answers POST only.",
    )


def test_the_description_names_every_tool_and_what_it_takes(served: Running) -> None:
    for root, search in (("/tools", "search"), ("/tools/openwebui", "query_knowledge_files")):
        answer = requests.get(f"{served.url}{root}/{DESCRIPTION}", headers=served.headers, timeout=CALL_SECONDS)
        document = answer.json()
        assert document["servers"] == [{"url": root}]
        assert {path: way["post"]["operationId"] for path, way in document["paths"].items()} == {
            "/search": search,
            "/read": "read",
            "/ask": "ask",
        }
        body = document["paths"]["/search"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert (list(body["properties"]), body["required"]) == (["query", "limit"], ["query"])


def test_search_for_the_chat_has_the_form_that_open_webui_shows_as_sources(served: Running) -> None:
    answer = post(served, "/tools/openwebui/search", {"query": QUESTIONS[0]}, forwarded(PERSON))
    assert answer.headers["content-type"].startswith("text/plain")
    found = answer.json()
    assert found[0]["source"] == "Лимиты переводов"
    assert found[0]["content"].startswith(f"[Лимиты переводов]({LIMITS})\n\n# Лимиты")
    assert len({each["file_id"] for each in found}) == len(found)


def test_without_the_package_mcp_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_door, "available", lambda: False)

    async def nothing(*_: Any) -> Any:
        raise AssertionError("the request must not be read")

    with pytest.raises(mcp_door.Refusal, match="pip install"):
        anyio.run(mcp_door.serve, {}, nothing, nothing, None, None)


def test_who_is_not_known_is_told_so_with_the_result(served: Running) -> None:
    told = post(served, "/tools/search", {"query": QUESTIONS[0]}).json()["note"]
    assert told == json.loads(post(served, "/tools/ask", {"question": QUESTIONS[0]}).text)["note"]
    assert "note" not in post(served, "/tools/search", {"query": QUESTIONS[0]}, forwarded(PERSON)).json()


def test_the_doors_are_closed_where_the_settings_say_so(small_store: Path, plugin_folder: Path, tmp_path: Path) -> None:
    environ = edge_wiki.variables(small_store, PIPELINES_DIR=str(plugin_folder), ASKWIKI_SERVER__TOOLS="false")
    with serving(environ, tmp_path / "server.log") as closed:
        assert post(closed, "/tools/search", {"query": QUESTIONS[0]}).status_code == 404
        assert requests.post(f"{closed.url}/mcp", headers=closed.headers, timeout=CALL_SECONDS).status_code == 404
