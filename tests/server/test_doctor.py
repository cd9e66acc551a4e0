"""The doctor: each part on its own line, each failure with the way to mend it, no secret shown."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from askwiki.commands import doctor as command
from askwiki.configuration import load_configuration
from askwiki.doctor.checks import MOST_EMBEDDED, Finding, changed_settings, examine, of_size
from askwiki.doctor.llm import probe_llm
from askwiki.doctor.openwebui import probe_chat
from askwiki.doctor.qdrant import of_nodes, of_version
from askwiki.kit import build_kit
from askwiki.openwebui.valve_memory import LastGood, keep
from askwiki.settings import LlmSettings, RoleSettings, Settings, StoreSettings
from askwiki.store.qdrant.shards import Nodes
from tests.support.scripted import ScriptedServer

CONFIG = Path(__file__).resolve().parents[2] / "config"
KEY = "a-key-of-the-test"
DEAD = "http://127.0.0.1:9/v1"  # the discard port: nobody listens


def environ(tmp_path: Path, **more: str) -> dict[str, str]:
    plugins = tmp_path / "plugins"
    plugins.mkdir(exist_ok=True)
    return {
        "ASKWIKI_STORE_PATH": str(tmp_path / "store"),
        "PIPELINES_API_KEY": KEY,
        "PIPELINES_DIR": str(plugins),
        **more,
    }


def found(tmp_path: Path, **more: str) -> dict[str, Finding]:
    variables = environ(tmp_path, **more)
    return {finding.part: finding for finding in examine(load_configuration(variables, CONFIG), variables)}


def test_a_fresh_installation_warns_of_the_empty_index_and_the_missing_model_only(tmp_path: Path) -> None:
    states = {part: finding.state for part, finding in found(tmp_path).items()}
    assert states == {
        "configuration": "ok",
        "server": "ok",
        "groups": "ok",
        "encoders": "ok",
        "store": "warning",
        "fingerprint": "ok",
        "confidence": "ok",
        "rights": "ok",
        "freshness": "warning",
        "llm": "warning",
        "chat": "ok",
    }


def test_every_warning_says_how_to_mend_it(tmp_path: Path) -> None:
    assert [part for part, finding in found(tmp_path).items() if finding.state != "ok" and not finding.mend] == []


def test_a_missing_key_and_a_plugin_put_aside_are_failures(tmp_path: Path) -> None:
    assert found(tmp_path, PIPELINES_API_KEY="")["server"].state == "failure"
    failed = tmp_path / "plugins" / "failed"
    failed.mkdir()
    (failed / "wiki_answer.py").touch()
    server = found(tmp_path)["server"]
    assert (server.state, "wiki_answer.py" in server.said) == ("failure", True)


@pytest.mark.parametrize(
    ("kept", "closed", "state", "named"),
    [
        (True, "plugins", "ok", ""),  # a container: the plugins' folder is the image's, the valves lie in volumes
        (True, "plugins/wiki_answer", "failure", "plugins/wiki_answer"),
        (False, "plugins", "failure", "plugins"),  # nobody has saved a valve yet: the folder would be made here
    ],
)
def test_the_folders_where_valves_are_saved_must_be_writable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool, closed: str, state: str, named: str
) -> None:
    variables = environ(tmp_path)
    for plugin in ("wiki_answer", "wiki_condense"):
        (tmp_path / "plugins" / f"{plugin}.py").touch()
        if kept:
            (tmp_path / "plugins" / plugin).mkdir()
    access = os.access  # root may write anywhere
    monkeypatch.setattr(os, "access", lambda place, mode: place != tmp_path / closed and access(place, mode))
    server = next(one for one in examine(load_configuration(variables, CONFIG), variables) if one.part == "server")
    assert (server.state, server.said.split(" cannot be written")[0] if named else "") == (
        state,
        str(tmp_path / named) if named else "",
    )


def test_an_unusable_encoder_leaves_the_other_parts_examined(tmp_path: Path) -> None:
    findings = found(tmp_path, ASKWIKI_EMBEDDING__KIND="openai", ASKWIKI_EMBEDDING__URL=DEAD, ASKWIKI_LLM_URL=DEAD)
    assert (findings["encoders"].state, findings["store"].state, findings["llm"].state) == (
        "failure",
        "warning",
        "failure",
    )


@pytest.mark.parametrize(
    ("chunks", "url", "state"),
    [
        (MOST_EMBEDDED, "", "ok"),
        (MOST_EMBEDDED + 1, "", "warning"),
        (MOST_EMBEDDED + 1, "http://qdrant:6333", "ok"),
    ],
)
def test_an_index_too_large_for_the_embedded_store_is_a_warning(chunks: int, url: str, state: str) -> None:
    finding = of_size(chunks, Settings(store=StoreSettings(qdrant_url=url)))
    assert (finding.state, "ASKWIKI_QDRANT_URL" in finding.mend) == (state, state == "warning")


def test_secrets_are_hidden_and_origins_told(tmp_path: Path) -> None:
    variables = environ(tmp_path, ASKWIKI_LLM_KEY="sk-secret", ASKWIKI_SEARCH__CANDIDATES="30")
    changed = {name: (value, origin) for name, value, origin in changed_settings(load_configuration(variables, CONFIG))}
    assert changed["llm.key"] == ("(set, hidden)", "ASKWIKI_LLM_KEY")
    assert changed["search.candidates"] == ("30", "ASKWIKI_SEARCH__CANDIDATES")


def test_the_report_as_json_has_findings_and_settings_and_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ(tmp_path, ASKWIKI_LLM_KEY="sk-secret", ASKWIKI_CONFIG=str(CONFIG)).items():
        monkeypatch.setenv(name, value)
    assert command.run(argparse.Namespace(json=True, webui="")) == 0
    printed = capsys.readouterr().out
    report = json.loads(printed)
    assert (report["ok"], len(report["findings"])) == (True, 11)
    assert report["settings"]["llm.key"] == {"value": "(set, hidden)", "from": "ASKWIKI_LLM_KEY"}
    assert "sk-secret" not in printed
    assert KEY not in printed


def test_the_screen_shows_a_line_for_each_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ(tmp_path, ASKWIKI_CONFIG=str(CONFIG)).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PIPELINES_API_KEY", "")
    assert command.run(argparse.Namespace(json=False, webui="")) == 1
    screen = capsys.readouterr().out
    assert "FAILS  server " in screen
    assert "-> Run: python -m indexer sync --source KIND:PATH" in screen


def test_no_language_model_is_a_warning_not_a_call() -> None:
    assert [line[:2] for line in probe_llm(Settings())] == [("llm", "warning")]


def test_a_dead_language_model_is_a_failure_with_its_address() -> None:
    (line,) = probe_llm(Settings(llm=LlmSettings(url=DEAD)))
    assert (line[1], DEAD in line[2]) == ("failure", True)


def test_a_working_language_model_is_probed_once_for_each_model() -> None:
    large, small = RoleSettings(model="large"), RoleSettings(model="small")
    with ScriptedServer(lambda asking: '{"answer": "yes"}', models=["small", "large"]) as server:
        llm = LlmSettings(url=server.url, model="small", answer=large, relevance=small, context_tokens=8_192)
        lines = list(probe_llm(Settings(llm=llm)))
    assert [(part, state) for part, state, _, _ in lines] == [
        ("llm", "ok"),
        ("llm condense/relevance", "ok"),
        ("llm answer", "ok"),
    ]
    assert len(server.requests) == 4


def test_a_model_that_gives_no_json_is_a_failure() -> None:
    with ScriptedServer(lambda asking: "I would rather not.") as server:
        lines = list(probe_llm(Settings(llm=LlmSettings(url=server.url, retries=0, context_tokens=8_192))))
    assert [state for _, state, _, _ in lines] == ["ok", "failure"]


@pytest.mark.parametrize("name", ["glossary.yaml", "synonyms.yaml"])
def test_a_broken_file_of_words_is_a_failure_of_the_configuration_and_stops_nothing(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "config"
    shutil.copytree(CONFIG, folder)
    (folder / name).write_text("- [", encoding="utf-8")
    variables = environ(tmp_path)
    configuration = load_configuration(variables, folder)
    findings = {finding.part: finding for finding in examine(configuration, variables)}
    assert (findings["configuration"].state, name in findings["configuration"].said) == ("failure", True)
    assert build_kit(configuration).settings == configuration.settings


def test_refused_valves_are_told(tmp_path: Path) -> None:
    variables = environ(tmp_path)
    folder = Path(variables["PIPELINES_DIR"], "wiki_answer")
    folder.mkdir()
    keep(folder, LastGood({"candidates": 40}, ("Кандидаты: many",)))
    finding = found(tmp_path)["server"]
    assert (finding.state, "Кандидаты: many" in finding.said) == ("warning", True)


def test_names_that_anybody_can_write_are_told(tmp_path: Path) -> None:
    finding = found(tmp_path, ASKWIKI_ACCESS__USER_ATTRIBUTE="name")["groups"]
    assert (finding.state, "trust_names" in finding.mend) == ("warning", True)


# --- the Qdrant server ----------------------------------------------------------------------------


def test_a_server_outside_the_clients_range_is_a_warning() -> None:
    assert of_version("1.18.3", "1.19.1") == ("qdrant", "ok", "Server 1.18.3, client 1.19.1.", "")
    assert of_version("1.19.0", "1.19.1")[2] == "Server 1.19.0, client 1.19.1; tested with 1.18.3."
    for server in ("1.17.9", "1.21.0", "2.19.0", "nonsense"):
        part, state, said, mend = of_version(server, "1.19.1")
        assert (part, state) == ("qdrant", "warning")
        assert (
            said == f"Server {server}, client 1.19.1: this client is made for servers at most one minor version away."
        )
        assert mend.startswith("Run the server 1.18.3, ")


@pytest.mark.parametrize(
    ("version", "state", "said"),
    [
        ("0.12.4", "ok", "Open WebUI 0.12.4; 0.12.4 was tested."),
        ("0.11.4", "ok", "Open WebUI 0.11.4; 0.12.4 was tested."),
        ("1.0.0", "ok", "Open WebUI 1.0.0; 0.12.4 was tested."),
        ("0.11.3", "warning", "Open WebUI 0.11.3 is too old: groups with Cyrillic names do not arrive"),
        ("0.9.6", "warning", "Open WebUI 0.9.6 is too old: it sends no groups at all"),
        ("dev", "warning", "tells no version of three numbers."),
    ],
)
def test_the_chat_is_told_from_one_that_is_too_old(version: str, state: str, said: str) -> None:
    body = json.dumps({"version": version})
    with ThreadingHTTPServer(("127.0.0.1", 0), _answering(body)) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        line = probe_chat(f"http://127.0.0.1:{server.server_address[1]}/")
    assert (line[1], said in line[2]) == (state, True)


def test_a_chat_that_is_not_there_is_a_warning_with_the_versions_that_work() -> None:
    assert probe_chat("http://127.0.0.1:9") == (
        "chat",
        "warning",
        "Open WebUI at http://127.0.0.1:9 does not tell its version: ConnectionError.",
        "Open WebUI 0.11.4 or newer works, 0.12.4 was tested.",
    )


def _answering(body: str) -> type[BaseHTTPRequestHandler]:
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/api/version" else 404)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Answering


TWICE = Nodes({"http://a": "1.18.3", "http://b": "1.18.3"}, (), 3, 2, {0: 2, 1: 2})


@pytest.mark.parametrize(
    ("nodes", "state", "said"),
    [
        (TWICE, "ok", "3 nodes, 2 shards in 2 copies each."),
        (
            replace(TWICE, gone=("http://c",), copies={0: 1, 1: 2}),
            "warning",
            "http://c: no answer. Shards with fewer than 2 copies to be asked: 0 of 2.",
        ),
        (
            replace(TWICE, copies={0: 1, 1: 1}, filling=2, dead=("http://c:6335",)),
            "warning",
            "Shards with fewer than 2 copies to be asked: 0, 1 of 2. 2 copies are being filled on http://c:6335.",
        ),
        (
            replace(TWICE, gone=("http://b", "http://c"), copies={0: 0, 1: 1}),
            "failure",
            "http://b, http://c: no answer. Shards that no node can be asked about: 0 of 2; questions fail.",
        ),
        (replace(TWICE, gone=("http://c",)), "warning", "http://c: no answer. Every shard has its 2 copies."),
        (
            replace(TWICE, wanted=1, copies={0: 1}),
            "warning",
            "3 nodes, 1 shards in 1 copy each. A lost node takes its pages along.",
        ),
    ],
    ids=["whole", "a node is gone", "it is back and catches up", "two are gone", "one that holds nothing", "one copy"],
)
def test_what_is_said_of_a_cluster(nodes: Nodes, state: str, said: str) -> None:
    assert of_nodes(nodes)[1:3] == (state, said)
    assert bool(of_nodes(nodes)[3]) == (state != "ok")


@pytest.mark.parametrize(
    ("told", "wanted", "state", "said"),
    [
        ({"max_model_len": 32_768}, 0, "ok", "one takes 32768 tokens, 32768 are used."),
        ({"max_model_len": 32_768}, 8_192, "ok", "one takes 32768 tokens, 8192 are used."),
        ({"meta": {"n_ctx": 4_096}}, 0, "warning", "one takes 4096 tokens: little room is left for sources."),
        ({"max_model_len": 4_096}, 8_192, "failure", "one takes 4096 tokens, llm.context_tokens says 8192."),
        ({}, 0, "warning", "The server does not say how many tokens one takes: 8192 are used."),
    ],
)
def test_what_is_said_of_the_models_context(told: dict[str, Any], wanted: int, state: str, said: str) -> None:
    with ScriptedServer(lambda asking: '{"answer": "yes"}', models=["other", "one"]) as server:
        server.of_models = told
        lines = probe_llm(Settings(llm=LlmSettings(url=server.url, model="one", context_tokens=wanted)))
        assert [line[1:3] for line in lines if line[0] == "llm context"] == [(state, said)]


def test_of_a_context_that_only_the_settings_know_nothing_is_said() -> None:
    with ScriptedServer(lambda asking: '{"answer": "yes"}', models=["one"]) as server:
        lines = list(probe_llm(Settings(llm=LlmSettings(url=server.url, context_tokens=9_000))))
        assert "llm context" not in [line[0] for line in lines]
