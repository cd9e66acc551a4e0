"""The commands of docs/operations.md, run as they stand there: backup, an empty host, restore, upgrade, and back."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

pytest.importorskip("playwright.sync_api")

from tests.compose.engine import FILES, START_SECONDS
from tests.compose.place import ROOT
from tests.compose.scenes import REFUND
from tests.compose.test_faults import ANSWER, answers, state
from tests.compose.test_use import ratings
from tests.compose.world import LASTING, World
from tests.e2e.test_chat import open_valves, save_valves
from tests.support.waiting import until

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


def indexed(here: World) -> None:
    until(lambda: here.project.doctor()["freshness"] == "ok", "all is indexed", seconds=START_SECONDS, every=2.0)


def test_a_backup_made_while_it_runs_fills_an_empty_host(here: World) -> None:
    indexed(here)
    chat = here.sitting("m.sokolov").open()
    chat.ask_and_wait(REFUND.question)
    chat.page.get_by_label("Хороший ответ").click()
    until(lambda: ratings(here), "the rating is kept", every=0.5)
    panel = here.panel()
    open_valves(panel)
    panel.page.get_by_role("switch").nth(1).click()
    save_valves(panel)
    before = state(here)
    run(here, "backup")
    here.project.compose("down", "--volumes", "--timeout", "5")
    run(here, "restore")
    here.project.await_health(*LASTING)
    indexed(here)
    assert state(here) == before
    answers(chat, ANSWER, "the restored host answers")


def test_an_upgrade_keeps_everything_and_the_way_back_too(here: World) -> None:
    indexed(here)
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
