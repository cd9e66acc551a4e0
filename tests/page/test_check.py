"""``python -m indexer check``: the ledger of a source without indexing it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from askwiki.configuration import Configuration
from askwiki.settings import Settings
from indexer.commands.check import check
from indexer.opening import open_source
from indexer.sync.ledger import Ledger

ROOT = Path(__file__).resolve().parents[2]
WIKI = ROOT / "tests" / "wiki"


def ledger_of(spec: str) -> Ledger:
    return check(open_source(spec, Configuration(Settings(), Path(), {})))


def indexer(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "indexer", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_json_goes_alone_to_stdout() -> None:
    done = indexer("check", f"xml:{WIKI / 'xml'}", "--json")
    written = json.loads(done.stdout)
    assert done.returncode == 0
    assert written["pages"]["expected"] == written["pages"]["read"] > 50
    assert written["pages"]["failed"] == 0


@pytest.mark.parametrize("kind", ["xml", "html"])
def test_no_visible_letter_of_the_sample_wiki_is_lost(kind: str) -> None:
    ledger = ledger_of(f"{kind}:{WIKI / kind}")
    for construct in ("characters", "tables", "rows", "code", "images", "links"):
        there, here = ledger.counts[construct]
        assert (construct, there - here) == (construct, 0)


def test_diagrams_that_the_html_form_cannot_hold_are_listed_and_nothing_else() -> None:
    weak = ledger_of(f"html:{WIKI / 'html'}").weak
    assert [(page.id, [loss.kind for loss in page.losses]) for page in weak] == [
        ("65631", ["plantuml"]),
        ("65655", ["plantuml"]),
    ]
    assert ledger_of(f"xml:{WIKI / 'xml'}").weak == ()


def test_some_failed_pages_give_exit_code_1_and_their_names(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("хорошо", encoding="utf-8")
    (tmp_path / "b.md").write_bytes(b"\xff\xfe\xff")
    done = indexer("check", f"markdown:{tmp_path}")
    assert done.returncode == 1
    assert "b (b.md): The file is not UTF-8" in done.stdout


def test_nothing_that_can_be_read_gives_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_bytes(b"\xff\xfe\xff")
    assert ledger_of(f"markdown:{tmp_path}").exit_code == 2


@pytest.mark.parametrize("spec", ["html:/nowhere/at/all", "pdf:x", "xml:"])
def test_a_bad_source_is_one_sentence_and_exit_code_2(spec: str) -> None:
    done = indexer("check", spec)
    assert (done.returncode, done.stdout, len(done.stderr.strip().split("\n"))) == (2, "", 1)


def test_bodies_without_an_export_around_them_are_pages_too(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<p>один</p>", encoding="utf-8")
    (tmp_path / "b.xml").write_text("<p>два", encoding="utf-8")
    ledger = ledger_of(f"xml:{tmp_path}")
    assert (ledger.expected, ledger.read, ledger.losses) == (2, 2, {("markup", "broken tags"): 1})
