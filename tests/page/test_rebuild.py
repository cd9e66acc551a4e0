"""``python -m indexer sync`` and ``rebuild`` as commands, over a Markdown folder and the embedded models."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from askwiki.commands.command_line import main
from askwiki.configuration import CHECKOUT
from askwiki.store.embedded.store import embedded_reader
from indexer.__main__ import COMMANDS

COUNTS = ("expected", "read", "indexed", "unchanged", "skipped", "failed", "removed")


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    folder = tmp_path / "wiki"
    folder.mkdir()
    (folder / "password.md").write_text("# Пароль\n\nПароль меняют в портале.\n", encoding="utf-8")
    (folder / "machine.md").write_text("# Машина\n\nМашину создают в облаке.\n", encoding="utf-8")
    return folder


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


class CommandLine:
    """``python -m indexer …`` in a folder of its own, in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        monkeypatch.chdir(folder)
        monkeypatch.setenv("ASKWIKI_CONFIG", str(CHECKOUT / "config"))
        monkeypatch.setenv("ASKWIKI_STORE_PATH", str(folder / "store"))
        monkeypatch.setenv("ASKWIKI_SYNC__CACHE", str(folder / "cache"))
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *words: str, **settings: str) -> Done:
        with self.monkeypatch.context() as patched:
            for name, value in settings.items():
                patched.setenv(name, value)
            code = main("indexer", "indexer.commands", COMMANDS, words)
        said = self.capsys.readouterr()
        return Done(code, said.out, said.err)


@pytest.fixture
def indexer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], wiki: Path) -> CommandLine:
    return CommandLine(monkeypatch, capsys, wiki.parent)


def ledger(done: Done) -> Any:
    return json.loads(done.stdout)


def pages(said: Any) -> list[int]:
    return [said["pages"][name] for name in COUNTS]


def test_sync_prints_only_json_on_stdout_and_a_second_one_costs_no_model(indexer: CommandLine) -> None:
    first = indexer("sync", "--source", "markdown:wiki", "--json")
    assert first.returncode == 0, first.stderr
    said = ledger(first)
    assert pages(said) == [2, 2, 2, 0, 0, 0, 0]
    assert (said["chunks"], said["truncated"], said["model_calls"]) == (2, 0, 1)
    again = ledger(indexer("sync", "--source", "markdown:wiki", "--json"))
    assert pages(again) == [2, 2, 0, 2, 0, 0, 0]
    assert (again["chunks"], again["model_calls"]) == (2, 0)


def test_sync_sees_an_edit_and_a_deletion(indexer: CommandLine, wiki: Path) -> None:
    indexer("sync", "--source", "markdown:wiki")
    (wiki / "password.md").write_text("# Пароль\n\nПароль меняют в кабинете.\n", encoding="utf-8")
    (wiki / "machine.md").unlink()
    said = ledger(indexer("sync", "--source", "markdown:wiki", "--json"))
    assert pages(said) == [1, 1, 1, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("sync", "--source", "markdown:nowhere"), "nowhere"),
        (("sync", "--source", "paper:wiki"), "is no source"),
        (("rebuild",), "give --source KIND:PATH"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_exit_code_two(
    indexer: CommandLine, words: tuple[str, ...], sentence: str
) -> None:
    done = indexer(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_rebuild_takes_the_sources_of_the_index_and_mends_a_mismatch(indexer: CommandLine, tmp_path: Path) -> None:
    indexer("sync", "--source", "markdown:wiki")
    changed = {"ASKWIKI_CHUNKING__TOKENS": "300"}
    refused = indexer("sync", "--source", "markdown:wiki", **changed)
    assert refused.returncode == 2
    assert (
        "chunker.tokens 400 in the index, 300 in the settings" in refused.stderr or "chunker.tokens" in refused.stderr
    )
    reader = embedded_reader(tmp_path / "store")
    assert reader.count() == 2
    rebuilt = indexer("rebuild", "--json", **changed)
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert [pages(said) for said in ledger(rebuilt)] == [[2, 2, 2, 0, 0, 0, 0]]
    assert reader.fingerprint()["chunker"]["tokens"] == 300
    assert reader.count() == 2
    reader.close()
    again = ledger(indexer("sync", "--source", "markdown:wiki", "--json", **changed))
    assert pages(again) == [2, 2, 0, 2, 0, 0, 0]


def test_a_rebuild_from_which_no_page_came_leaves_the_old_index(
    indexer: CommandLine, tmp_path: Path, wiki: Path
) -> None:
    indexer("sync", "--source", "markdown:wiki")
    for file in wiki.rglob("*.md"):
        file.write_bytes(b"\xff\xfe\xff")
    assert indexer("rebuild").returncode == 2
    reader = embedded_reader(tmp_path / "store")
    assert reader.count() == 2
    reader.close()
