"""What ``make demo`` does, on a wiki small enough for every run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import demo
from tests.support.edge_wiki import write_wiki
from tests.support.running import ROOT


def test_the_demo_prints_progress_answer_and_links_and_ends_well(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wiki, place = write_wiki(tmp_path / "wiki"), tmp_path / "demo"
    code = demo.main(["Какие статусы у перевода?", "--source", f"markdown:{wiki}", "--place", str(place)])
    printed = capfd.readouterr().out
    assert code == 0
    assert printed.index("… Ищу в вики…") < printed.index("«Выплачен»") < printed.index("… Готово")
    assert "  Статусы перевода\n    https://wiki.example.com/statuses" in printed
    assert (place / "store").is_dir()


def test_a_source_that_is_not_there_ends_the_demo_with_a_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = demo.main(["Вопрос?", "--source", f"xml:{tmp_path / 'no'}", "--place", str(tmp_path)])
    printed = capfd.readouterr()
    assert code == 2
    assert "Traceback" not in printed.err
    assert str(tmp_path / "no") in printed.err


def test_an_index_of_another_version_is_made_anew(tmp_path: Path) -> None:
    wiki, store = write_wiki(tmp_path / "wiki"), tmp_path / "store"
    environ = demo.demo_environment(tmp_path)
    assert demo.index(f"markdown:{wiki}", store, {**environ, "ASKWIKI_CHUNKING__TOKENS": "200"}) == 0
    assert demo.index(f"markdown:{wiki}", store, environ) == 0


def test_the_makefile_hands_its_question_to_the_demo() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "export Q SOURCE" in makefile
    assert "-m tests.demo\n" in makefile


@pytest.mark.long
def test_the_sample_wikis_statuses_come_with_the_link_of_their_page(capfd: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["Какие статусы у перевода?"]) == 0
    printed = capfd.readouterr().out
    assert "1. [Статусы перевода" in printed
    assert "https://wiki.example.com/pages/viewpage.action?pageId=65631" in printed
