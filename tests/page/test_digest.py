"""What a scheduled run compares before it reads anything: only what pages depend on changes it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from askwiki.configuration import Configuration, replace_setting
from askwiki.settings import Settings
from indexer.sync.digest import run_digest

CONFIG = Path(__file__).resolve().parents[2] / "config"


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    (tmp_path / "wiki").mkdir()
    (tmp_path / "wiki" / "page.md").write_text("# Отпуск\n", encoding="utf-8")
    return Configuration(Settings(), Path(shutil.copytree(CONFIG, tmp_path / "config")), {})


def digest(configuration: Configuration) -> str:
    return run_digest(f"markdown:{configuration.folder.parent / 'wiki'}", {"size": 8}, configuration)


def changed(configuration: Configuration, key: str, value: object) -> Configuration:
    return Configuration(replace_setting(configuration.settings, key, value, "test"), configuration.folder, {})


@pytest.mark.parametrize("key", ["wiki.url", "llm.model", "chunking.tokens"])
def test_a_setting_that_pages_depend_on_reads_them_anew(configuration: Configuration, key: str) -> None:
    value = "http://other" if key != "chunking.tokens" else 100
    assert digest(changed(configuration, key, value)) != digest(configuration)


def test_what_the_chat_calls_the_wiki_reads_no_page_anew(configuration: Configuration) -> None:
    assert digest(changed(configuration, "wiki.name", "Атлас")) == digest(configuration)


@pytest.mark.parametrize(
    ("file", "anew"),
    [("settings.yaml", False), ("texts/ru.yaml", False), ("glossary.yaml", True), ("prompts/ru/context.md", True)],
)
def test_of_the_folder_only_what_an_indexing_model_reads_counts(
    configuration: Configuration, file: str, anew: bool
) -> None:
    before = digest(configuration)
    with (configuration.folder / file).open("a", encoding="utf-8") as stream:
        stream.write("\n# more\n")
    assert (digest(configuration) != before) is anew
