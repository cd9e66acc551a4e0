"""Settings: defaults < file < environment; every fault is one sentence that names key and place."""

from __future__ import annotations

from pathlib import Path

import pytest

from askwiki.configuration import (
    CHECKOUT,
    GONE,
    RENAMED,
    load_configuration,
    open_values,
    setting_names,
    settings_digest,
    variable_of,
)
from askwiki.errors import SettingsError
from askwiki.settings import Settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "settings.yaml").write_text("", encoding="utf-8")
    return tmp_path


def write(folder: Path, text: str) -> None:
    (folder / "settings.yaml").write_text(text, encoding="utf-8")


def test_an_empty_file_gives_the_defaults(folder: Path) -> None:
    assert load_configuration({}, folder).settings == Settings()


def test_the_environment_wins_over_the_file(folder: Path) -> None:
    write(folder, "search:\n  candidates: 40\n  depth: 70\n")
    configuration = load_configuration({"ASKWIKI_SEARCH__CANDIDATES": "30"}, folder)
    assert (configuration.settings.search.candidates, configuration.settings.search.depth) == (30, 70)
    assert configuration.origins["search.candidates"] == "ASKWIKI_SEARCH__CANDIDATES"
    assert configuration.origins["search.depth"] == str(folder / "settings.yaml")


def test_a_setting_two_levels_deep_is_reached(folder: Path) -> None:
    settings = load_configuration({"ASKWIKI_LLM__ANSWER__TEMPERATURE": "0.3"}, folder).settings
    assert settings.llm.answer.temperature == 0.3
    assert settings.llm.answer.max_tokens == Settings().llm.answer.max_tokens


def test_the_short_names_stand_for_settings(folder: Path) -> None:
    settings = load_configuration({"ASKWIKI_QDRANT_URL": "http://q:6333", "ASKWIKI_LLM_KEY": "s3cret"}, folder).settings
    assert (settings.store.qdrant_url, settings.llm.key) == ("http://q:6333", "s3cret")


def test_an_empty_variable_is_as_if_unset(folder: Path) -> None:
    assert load_configuration({"ASKWIKI_LLM_URL": ""}, folder).settings == Settings()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "search:\n  canidates: 3\n",
            "search.canidates (in {file}) is no setting. Allowed here: boost_intent, boost_place, candidates, depth,",
        ),
        ("serch:\n  k: 3\n", "serch.k (in {file}) is no setting. Allowed here: access, answer,"),
        (
            "search:\n  candidates: many\n",
            "search.candidates (in {file}) is 'many'; it must be a whole number, 0 or more.",
        ),
        ("search:\n  candidates: -1\n", "search.candidates (in {file}) is -1; it must be a whole number, 0 or more."),
        ("search:\n  candidates: 2.5\n", "search.candidates (in {file}) is 2.5; it must be a whole number, 0 or more."),
        (
            "sparse:\n  kind: magic\n",
            "sparse.kind (in {file}) is 'magic'; it must be one of bm25, bge-m3, gte, remote.",
        ),
        ("context:\n  llm: perhaps\n", "context.llm (in {file}) is 'perhaps'; it must be true or false."),
        ("search: 3\n", "search (in {file}) is no setting: its place in the tree is wrong."),
        ("- a\n", "{file} must hold sections with settings, not a list."),
        ("llm:\n  key: abc\n", "llm.key is a secret: take it out of {file} and set ASKWIKI_LLM__KEY."),
    ],
)
def test_a_wrong_file_is_one_sentence(folder: Path, text: str, sentence: str) -> None:
    write(folder, text)
    with pytest.raises(SettingsError) as caught:
        load_configuration({}, folder)
    assert str(caught.value).startswith(sentence.format(file=folder / "settings.yaml"))


def test_an_unknown_variable_is_refused(folder: Path) -> None:
    with pytest.raises(SettingsError, match="ASKWIKI_SERCH__DEPTH is no setting"):
        load_configuration({"ASKWIKI_SERCH__DEPTH": "3"}, folder)


def test_secrets_do_not_show_in_repr(folder: Path) -> None:
    settings = load_configuration(
        {"ASKWIKI_LLM_KEY": "s3cret-1", "ASKWIKI_CONFLUENCE_TOKEN": "s3cret-2"}, folder
    ).settings
    assert "s3cret" not in repr(settings)


def test_every_setting_has_a_name_and_secrets_are_marked() -> None:
    secrets = [name for name, _, secret in setting_names() if secret]
    assert secrets == ["store.qdrant_key", "embedding.key", "sparse.key", "llm.key", "rerank.key", "confluence.token"]


def test_the_digest_of_settings_changes_with_every_setting_but_the_secrets(folder: Path) -> None:
    def digest(**environ: str) -> str:
        return settings_digest(load_configuration(environ, folder).settings)

    assert digest() == settings_digest(Settings())
    assert digest(ASKWIKI_SEARCH__CANDIDATES="40") != digest()
    assert digest(ASKWIKI_LLM__ANSWER__MODEL="other") != digest()
    assert digest(ASKWIKI_LLM_KEY="sk-secret") == digest()


def test_a_setting_that_is_gone_is_said_and_left_out(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(folder, "llm:\n  connect_timeout: 2\n")
    read = load_configuration({"ASKWIKI_LLM__CONNECT_TIMEOUT": "3"}, folder)
    assert read.settings == Settings() and not read.origins
    said = "is no setting any more: a server has 5 seconds to take a connection. Take it out."
    assert [record.getMessage() for record in caplog.records] == [
        f"llm.connect_timeout in {place} {said}" for place in (folder / "settings.yaml", "ASKWIKI_LLM__CONNECT_TIMEOUT")
    ]


@pytest.mark.parametrize("name", [*RENAMED, *GONE])
def test_a_name_of_the_last_release_does_not_stop_a_start(folder: Path, name: str) -> None:
    settings = load_configuration({variable_of(name): "7"}, folder).settings
    present = RENAMED.get(name)
    assert open_values(settings) == {**open_values(Settings()), **({present: 7} if present else {})}


def test_the_file_that_comes_with_it_repeats_no_default() -> None:
    assert load_configuration({}, CHECKOUT / "config").origins.keys() == {"language"}


@pytest.mark.parametrize("address", ["https://robot:key@wiki.example", "https://robot@wiki.example/wiki"])
def test_the_wikis_address_holds_no_login_for_links_are_made_of_it(folder: Path, address: str) -> None:
    with pytest.raises(SettingsError, match=r"wiki\.url \(in ASKWIKI_WIKI_URL\) holds a name or password") as told:
        load_configuration({"ASKWIKI_WIKI_URL": address}, folder)
    assert "robot" not in str(told.value)
    assert load_configuration({"ASKWIKI_WIKI_URL": "https://wiki.example/x@y"}, folder).settings.wiki.url
