"""Every route of the running server without, with a wrong and with the right key; and random bodies over HTTP."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.edge_wiki import HIDDEN_WORD, PERSON
from tests.support.running import Running, complete
from tests.support.waiting import PATIENCE

QUESTION = {"model": "wiki_answer", "messages": [{"role": "user", "content": "Что такое ТК?"}], "stream": False}
INLET = {"user": PERSON, "body": {"model": "wiki_answer", "messages": QUESTION["messages"]}}

# method, route, body -> status without a key, with a wrong one, with the right one
TABLE: list[tuple[str, str, Any, tuple[int, int, int]]] = [
    ("GET", "/", None, (200, 200, 200)),
    ("GET", "/health", None, (200, 200, 200)),
    ("GET", "/v1", None, (401, 401, 200)),
    ("GET", "/models", None, (401, 401, 200)),
    ("GET", "/v1/models", None, (401, 401, 200)),
    ("GET", "/pipelines", None, (401, 401, 200)),
    ("GET", "/v1/pipelines", None, (401, 401, 200)),
    ("GET", "/metrics", None, (401, 401, 200)),
    ("GET", "/docs", None, (401, 401, 200)),
    ("GET", "/openapi.json", None, (401, 401, 200)),
    ("GET", "/wiki_answer/valves", None, (401, 401, 200)),
    ("GET", "/wiki_condense/valves", None, (401, 401, 200)),
    ("GET", "/v1/wiki_answer/valves", None, (401, 401, 200)),
    ("GET", "/wiki_answer/valves/spec", None, (401, 401, 200)),
    ("GET", "/v1/wiki_condense/valves/spec", None, (401, 401, 200)),
    ("POST", "/wiki_answer/valves/update", {}, (401, 401, 200)),
    ("POST", "/v1/wiki_condense/valves/update", {}, (401, 401, 200)),
    ("POST", "/wiki_condense/filter/inlet", INLET, (401, 401, 200)),
    ("POST", "/v1/wiki_condense/filter/inlet", INLET, (401, 401, 200)),
    ("POST", "/wiki_condense/filter/outlet", INLET, (401, 401, 200)),
    ("POST", "/wiki_answer/filter/inlet", INLET, (401, 401, 200)),
    ("POST", "/chat/completions", QUESTION, (401, 401, 200)),
    ("POST", "/v1/chat/completions", QUESTION, (401, 401, 200)),
    ("POST", "/pipelines/add", {"url": "https://evil.example/x.py"}, (401, 401, 403)),
    ("POST", "/v1/pipelines/add", {"url": "https://evil.example/x.py"}, (401, 401, 403)),
    ("POST", "/pipelines/upload", None, (401, 401, 403)),
    ("POST", "/v1/pipelines/upload", None, (401, 401, 403)),
    ("DELETE", "/pipelines/delete", {"id": "wiki_answer"}, (401, 401, 403)),
    ("DELETE", "/v1/pipelines/delete", {"id": "wiki_answer"}, (401, 401, 403)),
    ("POST", "/pipelines/reload", None, (401, 401, 403)),
    ("POST", "/v1/pipelines/reload", None, (401, 401, 403)),
    ("GET", "/nothing/valves", None, (401, 401, 404)),
    ("POST", "/nothing/filter/inlet", INLET, (401, 401, 404)),
    ("POST", "/chat/completions", {**QUESTION, "model": "nothing"}, (401, 401, 404)),
    ("POST", "/chat/completions", {**QUESTION, "model": "wiki_condense"}, (401, 401, 404)),
    ("POST", "/chat/completions", {"model": "wiki_answer"}, (401, 401, 422)),
    ("GET", "/nowhere", None, (401, 401, 404)),
    ("DELETE", "/models", None, (401, 401, 404)),
    ("GET", "/docs/oauth2-redirect", None, (401, 401, 404)),
    ("POST", "/pipelines/upload%0a", None, (401, 401, 404)),
    ("POST", "/v1/pipelines/reload%0A", None, (401, 401, 404)),
    ("POST", "/pipelines/reload/", None, (401, 401, 404)),
]


@pytest.fixture(scope="module", autouse=True)
def valves_as_before(served: Running) -> Iterator[None]:
    """Random bodies turn valves, too; other tests share the server."""
    yield
    for name in ("wiki_answer", "wiki_condense"):
        requests.post(f"{served.url}/{name}/valves/update", json={}, headers=served.headers, timeout=PATIENCE)


def status(served: Running, method: str, route: str, body: Any, headers: dict[str, str]) -> int:
    return requests.request(method, served.url + route, json=body, headers=headers, timeout=PATIENCE).status_code


@pytest.mark.parametrize(("method", "route", "body", "expected"), TABLE, ids=[f"{row[0]} {row[1]}" for row in TABLE])
def test_the_table_of_routes(
    served: Running, method: str, route: str, body: Any, expected: tuple[int, int, int]
) -> None:
    keys = [{}, {"Authorization": "Bearer wrong"}, served.headers]
    assert tuple(status(served, method, route, body, headers) for headers in keys) == expected


def test_the_table_knows_every_route_of_the_server(served: Running) -> None:
    listed = requests.get(f"{served.url}/openapi.json", headers=served.headers, timeout=PATIENCE).json()["paths"]
    known = {
        route.replace("/wiki_answer/", "/{pipeline_id}/")
        .replace("/wiki_condense/", "/{pipeline_id}/")
        .removeprefix("/v1")
        for _, route, _, _ in TABLE
    }
    assert {path.removeprefix("/v1") or "/" for path in listed} <= known | {"/"}


TARGETS = [
    b"POST /pipelines/upload%0a",
    b"POST /pipelines/upload%0A?x=1",
    b"POST /v1/pipelines/upload%0a",
    b"POST //pipelines/upload",
    b"POST /pipelines//upload",
    b"POST /%70ipelines/upload%0a",
    b"POST /pipelines/upload%2f",
    b"POST /pipelines/upload;x",
    b"POST /x/../pipelines/upload",
    b"POST http://wiki.example/pipelines/upload%0a",
    b"POST http://wiki.example/pipelines/upload",
    b"POST /pipelines/upload#x",
    b"post /pipelines/upload%0a",
]


@pytest.mark.parametrize("target", TARGETS, ids=[target.decode() for target in TARGETS])
def test_no_way_of_writing_the_address_loads_a_plugin(served: Running, target: bytes, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w')"
    head = 'Content-Disposition: form-data; name="file"; filename="evil.py"'
    body = f"--b\r\n{head}\r\nContent-Type: text/x-python\r\n\r\n{code}\r\n--b--\r\n".encode()
    host, _, port = served.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        connection.sendall(
            target
            + f" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {served.key}\r\nConnection: close\r\n"
            f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        answer = connection.makefile("rb").read()
    assert answer.split(b" ")[1] in {b"400", b"403", b"404"}, answer
    assert not ran.exists()


def test_another_site_is_allowed_nothing(served: Running) -> None:
    headers = {**served.headers, "Origin": "https://evil.example"}
    answer = requests.get(f"{served.url}/models", headers=headers, timeout=PATIENCE)
    assert [name for name in answer.headers if name.lower().startswith("access-control")] == []
    preflight = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    assert requests.options(f"{served.url}/chat/completions", headers=preflight, timeout=PATIENCE).status_code == 401


@pytest.mark.parametrize("route", ["chat/completions", "v1/chat/completions", "wiki_condense/filter/inlet"])
def test_a_body_over_the_limit_is_refused_with_a_sentence(served: Running, route: str) -> None:
    body = {**QUESTION, "padding": "x" * 4_000_001}
    answer = requests.post(f"{served.url}/{route}", json=body, headers=served.headers, timeout=PATIENCE)
    assert (answer.status_code, answer.json()["detail"]) == (
        413,
        "Сообщение слишком большое для ассистента. Начните новый чат и задайте вопрос словами, без картинок.",
    )


def test_what_the_chat_reads_of_a_fault_is_in_its_language_and_the_rest_in_english(served: Running) -> None:
    chat = requests.post(f"{served.url}/chat/completions", json={}, headers=served.headers, timeout=PATIENCE)
    assert chat.json()["detail"].startswith("Ассистент не смог прочитать это сообщение.")
    filtered = requests.post(
        f"{served.url}/wiki_condense/filter/inlet", json={}, headers=served.headers, timeout=PATIENCE
    )
    assert filtered.json()["detail"].startswith("The request is not of the form this server reads")


# --- random bodies ------------------------------------------------------------------------------------

TEXTS = st.one_of(
    st.text(max_size=40), st.sampled_from(["\ud800", "\x00", "### Task:", "data: x", "{{", "]]>", "💥" * 9])
)
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)
ANYTHING = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8
)
PARTS = st.lists(st.one_of(ANYTHING, st.fixed_dictionaries({"type": st.just("text"), "text": ANYTHING})), max_size=3)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "tool", ""]), "content": st.one_of(TEXTS, PARTS)}
)
CHAT = st.fixed_dictionaries(
    {"model": st.just("wiki_answer"), "messages": st.lists(MESSAGE, max_size=3)},
    optional={"stream": st.booleans(), "user": ANYTHING, "askwiki": ANYTHING, "metadata": ANYTHING, "files": ANYTHING},
)
BODIES = st.one_of(CHAT, CHAT, ANYTHING)
FUZZED = [
    "/chat/completions",
    "/wiki_condense/filter/inlet",
    "/wiki_condense/filter/outlet",
    "/wiki_answer/valves/update",
]
fuzzing = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def checked(answer: requests.Response) -> None:
    """A good answer, or a sentence; never a trace, never a word of a hidden page."""
    text = answer.content.decode("utf-8", "replace")
    assert answer.status_code == 200 or 400 <= answer.status_code < 500 or answer.status_code == 503, text
    assert "Traceback" not in text and 'File "' not in text
    assert HIDDEN_WORD not in text
    if answer.status_code != 200:
        assert json.loads(text)["detail"]


@pytest.mark.parametrize("route", FUZZED)
@given(body=BODIES)
@fuzzing
def test_random_bodies_get_an_answer_or_a_sentence(served: Running, route: str, body: Any) -> None:
    if route.endswith("let"):
        body = {"user": PERSON, "body": body}
    data = json.dumps(body).encode()
    checked(requests.post(served.url + route, data=data, headers=served.headers, timeout=PATIENCE))


@given(data=st.binary(max_size=200))
@fuzzing
def test_random_bytes_get_a_sentence(served: Running, data: bytes) -> None:
    headers = {**served.headers, "Content-Type": "application/json"}
    answer = requests.post(f"{served.url}/chat/completions", data=data, headers=headers, timeout=PATIENCE)
    checked(answer)
    assert answer.status_code in {400, 422}


def test_json_nested_a_hundred_thousand_deep_gets_a_sentence(served: Running) -> None:
    data = b'{"model": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    checked(requests.post(f"{served.url}/chat/completions", data=data, headers=served.headers, timeout=PATIENCE))


def test_after_all_that_the_server_answers_and_nothing_of_it_is_in_the_log(served: Running) -> None:
    answer = complete(served, {**QUESTION, "user": PERSON})
    assert answer.json()["choices"][0]["message"]["content"]
    assert HIDDEN_WORD not in served.logged()
