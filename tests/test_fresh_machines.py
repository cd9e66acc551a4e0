"""How `make test-fresh` makes its machines and what it reads there; the engine for containers is a double here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fresh.__main__ import megabytes
from tests.fresh.machines import NotToBeHadError, container
from tests.fresh.trust import debian_mirror


def test_a_container_loses_its_network_for_one_command_and_is_taken_away_after(
    tmp_path: Path,
) -> None:
    """On a double of the engine, which writes down what it is told."""
    engine = tmp_path / "engine"
    engine.write_text(f'#!/bin/sh\necho "$1 $2" >>{tmp_path}/told\n')
    engine.chmod(0o755)
    (tmp_path / "checkout").mkdir()
    with container(str(engine), "trixie", tmp_path / "checkout") as fresh:
        (tmp_path / "told").write_text("")
        fresh.run("make demo", network=False)
        told = (tmp_path / "told").read_text().splitlines()
        assert [line for line in told if not line.startswith("exec")] == ["network disconnect", "network connect"]
        assert told[1].startswith("exec")
    assert (tmp_path / "told").read_text().splitlines()[3:] == ["rm --force", "network rm"]


def test_an_engine_without_the_image_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    engine = tmp_path / "engine"
    engine.write_text(f'#!/bin/sh\necho "$1 $2" >>{tmp_path}/told\n[ "$1" != run ] || {{ echo no image; exit 125; }}\n')
    engine.chmod(0o755)
    with pytest.raises(NotToBeHadError, match="no image"), container(str(engine), "trixie", tmp_path):
        pass
    assert (tmp_path / "told").read_text().splitlines()[-2:] == ["rm --force", "network rm"]


def test_what_pip_says_that_it_fetched_is_added_up() -> None:
    said = [
        "Collecting a",
        "  Downloading a.metadata (500 bytes)",
        "  Downloading a (250 kB)",
        "Downloading b (1.5 MB)",
    ]
    assert megabytes("\n".join(said)) == pytest.approx(1.7505)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sources.list.d/debian.sources", "Types: deb\nURIs: http://mirror.example/debian\nSuites: trixie\n"),
        ("sources.list", "# old\ndeb [arch=amd64] http://mirror.example/debian trixie main\n"),
    ],
)
def test_debians_mirror_is_the_one_of_this_machine(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / name).write_text(text)
    (tmp_path / "release").write_text("ID=debian\n")
    assert debian_mirror(tmp_path, tmp_path / "release") == "http://mirror.example/debian"
    (tmp_path / "release").write_text("ID=ubuntu\nID_LIKE=debian\n")
    assert debian_mirror(tmp_path, tmp_path / "release") is None
