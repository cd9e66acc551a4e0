"""The commands of docs/operations.md, run as they stand there: backup, an empty host, restore, upgrade, and back."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

pytest.importorskip("playwright.sync_api")

from tests.compose.engine import FILES
from tests.compose.place import ROOT
from tests.compose.test_faults import ANSWER, answers, state, use
from tests.compose.world import LASTING, World

pytestmark = pytest.mark.compose
PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("\n## Backup, restore, upgrade")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)
COMMANDS = dict(zip(("backup", "restore", "upgrade", "back"), BLOCKS, strict=True))  # as they stand there


def run(here: World, name: str) -> str:
    """The block of that name, in the project's folder."""
    environ = {**os.environ, "COMPOSE_PROJECT_NAME": here.project.name, "COMPOSE_FILE": ":".join(FILES)}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", COMMANDS[name]],
        cwd=here.project.folder, env=environ, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def test_a_backup_made_while_it_runs_fills_an_empty_host(here: World) -> None:
    chat = use(here, "Хороший ответ")
    before = state(here)
    run(here, "backup")
    here.project.compose("down", "--volumes", "--timeout", "5")
    run(here, "restore")
    here.project.await_health(*LASTING)
    here.project.await_indexed()
    assert state(here) == before
    answers(chat, ANSWER, "the restored host answers")


def test_an_upgrade_keeps_everything_and_the_way_back_too(here: World) -> None:
    here.project.await_indexed()
    before = state(here)
    chat = here.sitting("m.sokolov").open()
    marked = here.project.folder / "pipelines" / "askwiki" / "__init__.py"  # another version: the image is built anew
    marked.write_text(marked.read_text(encoding="utf-8") + "\nNEWER = True\n", encoding="utf-8")
    said = run(here, "upgrade")
    assert "FAILS" not in said
    here.project.await_health(*LASTING)
    assert here.project.run("pipelines", "python", "-c", "import askwiki; print(askwiki.NEWER)").strip() == "True"
    answers(chat, ANSWER, "the upgraded host answers")
    assert state(here) == before
    run(here, "back")
    here.project.await_health(*LASTING)
    newer = here.project.run("pipelines", "python", "-c", "import askwiki; print(hasattr(askwiki, 'NEWER'))")
    assert newer.strip() == "False"
    answers(chat, ANSWER, "the older host answers")
    assert state(here) == before
