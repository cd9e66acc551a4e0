"""No secret comes out: not what a server echoes, not what stands in an address, by any of the real ways."""

from __future__ import annotations

import argparse
import json
import logging
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from askwiki import masking
from askwiki.access.wiki_groups import WikiGroups
from askwiki.commands import doctor, feedback
from askwiki.commands.command_line import main
from askwiki.configuration import load_configuration, open_values
from askwiki.encoders.factory import make_embedder, make_sparse
from askwiki.encoders.rerankers import make_reranker
from askwiki.errors import AskWikiError
from askwiki.llm.factory import make_llm
from askwiki.llm.port import Message
from askwiki.logs import set_up_logging
from askwiki.masking import MASK, echoed, masked, remember, remember_address, remember_login
from askwiki.openwebui.provision import WebUi, provision, sign_in
from askwiki.settings import (
    ConfluenceSettings,
    EmbeddingSettings,
    LlmSettings,
    RerankSettings,
    Settings,
    SparseSettings,
    StoreSettings,
)
from askwiki.store import open_reader
from indexer.confluence.sources.rest.client import RestClient

CONFIG = Path(__file__).resolve().parents[2] / "config"
KEY = 'sk-9f/Ü+"x\\7d2a41'  # signs that addresses, JSON and headers each write in their own way
ASCII_KEY = "sk-9f2c7d2a41b8e6"
PASSWORD = "pa55-word"
ADDRESS = "https://robot:pa55-word@host.example/v1?api_key=sk-9f2c7d2a41b8e6"


class Echo(BaseHTTPRequestHandler):
    """Refuses everything, and says the whole request back."""

    status = 400

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        sent = {"path": self.path, "headers": dict(self.headers), "body": self.rfile.read(length).decode()}
        if self.path.endswith("/auths/signin"):
            status, said = 200, {"token": ASCII_KEY}
        elif self.path.startswith("/api/models"):
            status, said = 200, {"data": [{"id": "wiki_answer"}]}
        else:
            status, said = self.status, {"error": {"message": f"refused: {json.dumps(sent)}"}, "detail": sent}
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def echo() -> Iterator[str]:
    """host:port of a server that echoes."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins without the secrets of those before it."""
    monkeypatch.setattr(masking, "_secrets", frozenset())


def ask_llm(host: str) -> object:
    settings = LlmSettings(url=f"http://robot:{PASSWORD}@{host}/v1?api_key={ASCII_KEY}", key=ASCII_KEY, model="m")
    client = make_llm(settings)
    assert client is not None
    return client.complete("answer", [Message("user", "?")])


def ask_embedder(host: str) -> object:
    url = f"http://robot:{PASSWORD}@{host}/v1"
    return make_embedder(EmbeddingSettings(kind="openai", url=url, key=ASCII_KEY, retries=0)).query("?")


def ask_sparse(host: str) -> object:
    return make_sparse(SparseSettings(kind="remote", url=f"http://{host}", key=ASCII_KEY, retries=0)).query("?")


def ask_store(host: str) -> object:
    settings = StoreSettings(qdrant_url=f"http://robot:{PASSWORD}@{host}", qdrant_key=ASCII_KEY, retries=0)
    return open_reader(settings).count()


def ask_reranker(host: str) -> object:
    url = f"http://robot:{PASSWORD}@{host}/rerank?key={ASCII_KEY}"
    reranker = make_reranker(RerankSettings(kind="endpoint", url=url, key=ASCII_KEY))
    assert reranker is not None
    return reranker.scores("?", ["text"])


def ask_wiki(host: str) -> object:
    settings = ConfluenceSettings(token=ASCII_KEY, user="robot")
    return RestClient(f"http://robot:{PASSWORD}@{host}", settings).get("/rest/api/content")


def ask_groups(host: str) -> object:
    return WikiGroups(f"http://robot:{PASSWORD}@{host}", ConfluenceSettings(token=ASCII_KEY)).of("anna")


def set_up_webui(host: str) -> object:
    webui = sign_in(f"http://robot:{PASSWORD}@{host}", "admin@example.com", PASSWORD, wait=0)
    return provision(webui, "wiki_answer", "Wiki", "", wait=0)


def pull_ratings(host: str) -> object:
    remember(ASCII_KEY)
    return feedback._export(WebUi(f"http://robot:{PASSWORD}@{host}", ASCII_KEY), "")


WAYS: list[Callable[[str], object]] = [
    ask_llm,
    ask_embedder,
    ask_sparse,
    ask_store,
    ask_reranker,
    ask_wiki,
    ask_groups,
    set_up_webui,
    pull_ratings,
]


def says_no_secret(text: str) -> bool:
    return not any(secret in text for secret in (ASCII_KEY, ASCII_KEY[:8], PASSWORD, "cm9ib3Q6"))


@pytest.mark.parametrize("status", [400, 401, 404, 422])
@pytest.mark.parametrize("way", WAYS)
def test_what_a_server_echoes_and_what_stands_in_its_address_is_masked(
    echo: str, way: Callable[[str], object], status: int, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(Echo, "status", status)
    set_up_logging("DEBUG", "text")
    with pytest.raises(AskWikiError) as raised:
        way(echo)
    try:
        raise raised.value
    except AskWikiError:
        logging.getLogger("askwiki").exception("it failed: %s", raised.value)
    assert says_no_secret(str(raised.value)), str(raised.value)
    assert says_no_secret(printed := capsys.readouterr().err), printed


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name in ("askwiki", "indexer", "uvicorn"):
        logging.getLogger(name).setLevel(logging.NOTSET)


@pytest.mark.parametrize("as_json", [True, False])
def test_the_doctor_shows_no_secret(echo: str, as_json: bool, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    url = f"http://robot:{PASSWORD}@{echo}/v1"
    variables = {
        "ASKWIKI_LLM_URL": url,
        "ASKWIKI_LLM_KEY": ASCII_KEY,
        "ASKWIKI_EMBEDDING__KIND": "openai",
        "ASKWIKI_EMBEDDING__URL": url,
        "ASKWIKI_EMBEDDING__RETRIES": "0",
        "ASKWIKI_QDRANT_URL": f"http://{echo}",
        "ASKWIKI_QDRANT_KEY": ASCII_KEY,
        "ASKWIKI_STORE__RETRIES": "0",
        "ASKWIKI_CONFIG": str(CONFIG),
        "ASKWIKI_STORE_PATH": str(tmp_path),
        "PIPELINES_DIR": str(tmp_path),
        "PIPELINES_API_KEY": "the-key-of-the-server",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert doctor.run(argparse.Namespace(json=as_json, webui="")) == 1
    printed = capsys.readouterr().out
    assert says_no_secret(printed), printed
    assert f"{MASK}@{echo}" in printed


def test_a_command_that_fails_says_no_secret(echo: str, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setenv("WEBUI_ADMIN_EMAIL", "admin@example.com")
    monkeypatch.setenv("WEBUI_ADMIN_PASSWORD", PASSWORD)
    words = ["provision", "--url", f"http://robot:{PASSWORD}@{echo}", "--wait", "0"]
    assert main("askwiki", "askwiki.commands", {"provision": ""}, words) == 2
    assert says_no_secret(printed := capsys.readouterr().err), printed


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_line_of_the_log_has_no_secret_in_message_or_trace(form: str, capsys: Any) -> None:
    remember(KEY)
    set_up_logging("INFO", form)
    try:
        raise ValueError(f"header {KEY} of {ADDRESS}, {urllib.parse.quote(KEY)}, {json.dumps(KEY)}")
    except ValueError:
        logging.getLogger("askwiki").exception("asked %s with %s", ADDRESS, KEY)
    printed = capsys.readouterr().err
    for form_of_key in (KEY, urllib.parse.quote(KEY), urllib.parse.quote(KEY, safe=""), json.dumps(KEY)[1:-1]):
        assert form_of_key not in printed
    assert PASSWORD not in printed and "sk-9f2c" not in printed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://robot:x@host/p", f"http://{MASK}@host/p"),
        ("postgres://x@host", f"postgres://{MASK}@host"),
        ("https://host/p?a=1&token=abc&b=2", f"https://host/p?a=1&token={MASK}&b=2"),
        ("Authorization: Bearer abcdefghijklmnop", f"Authorization: Bearer {MASK}"),
        ("basic authentication is a bearer of nothing", "basic authentication is a bearer of nothing"),
        ("https://wiki.example/x?page=1#a@b", "https://wiki.example/x?page=1#a@b"),
        ("Write to a@b.example", "Write to a@b.example"),
    ],
)
def test_a_secret_is_known_by_its_place(text: str, expected: str) -> None:
    assert masked(text) == expected


def test_short_words_are_no_secrets_and_short_keys_are_masked_where_they_stand_alone() -> None:
    remember("key", "secret", "none", "", "a1b2")
    assert masked("The key a1b2 is secret, a1b2c is not.") == f"The key {MASK} is secret, a1b2c is not."


def test_secrets_of_addresses_and_logins_are_known_wherever_they_come_back() -> None:
    remember_address(f"{ADDRESS},http://[half")
    remember_login("robot", "token-of-robot")
    assert masked(f"{PASSWORD} {ASCII_KEY} token-of-robot cm9ib3Q6dG9rZW4tb2Ytcm9ib3Q=") == " ".join([MASK] * 4)
    remember_login("robot", "")
    assert masked("Og== cm9ib3Q6") == "Og== cm9ib3Q6"


def test_a_key_is_masked_before_the_servers_words_are_cut() -> None:
    remember(ASCII_KEY)
    assert echoed(f"no:  {ASCII_KEY}", 8) == f"no: {MASK}"


def test_reports_hold_addresses_without_their_secrets(monkeypatch: Any) -> None:
    settings = load_configuration({"ASKWIKI_LLM_URL": ADDRESS, "ASKWIKI_LLM_KEY": ASCII_KEY}, CONFIG).settings
    assert settings.llm.url == ADDRESS
    assert says_no_secret(json.dumps(open_values(settings)))
    assert open_values(Settings())["llm.url"] == ""


def test_masking_takes_time_in_proportion_to_the_text() -> None:
    import time

    remember(*(f"key-number-{number}" for number in range(20)))

    def seconds(text: str) -> float:
        started = time.perf_counter()
        masked(text)
        return time.perf_counter() - started

    for piece in ("/", "//", "a", "//a", "?", "?key=", "bearer ", " ", "@", "key-number-", "basic\t"):
        short, long = seconds(piece * 20_000), seconds(piece * 80_000)
        assert long < max(16 * short, 1.0), piece
