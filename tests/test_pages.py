"""The pages say what is: every setting, command and make target stands in one, and what they name exists."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from askwiki.__main__ import COMMANDS as ASKWIKI_COMMANDS
from askwiki.commands.settings import page
from askwiki.configuration import NOT_SETTINGS, RENAMED, SHORT_NAMES, setting_names
from indexer.__main__ import COMMANDS as INDEXER_COMMANDS

ROOT = Path(__file__).resolve().parents[1]
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = {path.relative_to(ROOT).as_posix(): path for path in FILES}
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in PAGES.items()}
README = TEXTS["README.md"]
MOST_BYTES = 12_288  # of the README: five minutes of reading; what is looked up belongs in docs/


def test_the_page_of_settings_is_fresh() -> None:
    stale = "docs/settings.md is stale: python -m askwiki settings > docs/settings.md"
    assert TEXTS["docs/settings.md"] == page(), stale


@pytest.mark.parametrize("name", [name for name, _, _ in setting_names() if not re.fullmatch(r"llm\.\w+\.\w+", name)])
def test_every_setting_has_its_row_and_says_something(name: str) -> None:
    row = re.search(rf"^\| `{re.escape(name)}` \| .*? \| (.+?) \|$", TEXTS["docs/settings.md"], re.MULTILINE)
    assert row and row[1].strip()


def test_every_variable_with_a_name_of_its_own_is_named() -> None:
    for variable in [*SHORT_NAMES, *NOT_SETTINGS, "PIPELINES_API_KEY", "PIPELINES_DIR"]:
        assert f"`{variable}`" in TEXTS["docs/settings.md"], variable


def test_every_setting_that_was_renamed_names_one_that_exists() -> None:
    names = {name for name, _, _ in setting_names()}
    assert set(RENAMED.values()) <= names and not set(RENAMED) & names


def test_the_readme_is_short_and_shows_the_chat() -> None:
    assert len(README.encode()) <= MOST_BYTES
    assert re.search(r"^!\[.+\]\(docs/pictures/.+\.png\)$", README, re.MULTILINE)


def test_every_command_is_named() -> None:
    for command in [*ASKWIKI_COMMANDS, *INDEXER_COMMANDS]:
        assert f"`{command}`" in README, command


def test_every_make_target_is_named() -> None:
    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for target in targets:
        assert f"make {target}" in README + TEXTS["docs/develop.md"], target


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_links_to_exists(name: str) -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)[^)]*\)", TEXTS[name]):
        assert (PAGES[name].parent / target).exists(), target


def test_the_files_that_the_page_of_developers_names_exist() -> None:
    places = [ROOT / place for place in ("", "pipelines", "pipelines/askwiki", "indexer", "indexer/confluence")]
    rows = re.search(r"## I want to change.*?\n\n(.*?)\n\n", TEXTS["docs/develop.md"], re.DOTALL)
    assert rows
    for file in re.findall(r"`([\w/]+\.(?:py|yaml))`", rows[1]):
        if "/" in file:
            assert any((place / file).exists() for place in places), file


def test_the_top_level_holds_what_belongs_there_and_nothing_else() -> None:
    folders = {"pipelines", "indexer", "config", "tests", "docs"}
    files = {"Dockerfile", "docker-compose.yml", "pyproject.toml", "README.md", "Makefile", "LICENSE", "CHANGELOG.md"}
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    top = {line.split("/")[0] for line in tracked.stdout.split("\0") if line}
    strangers = {name for name in top - folders - files - {"requirements.lock"} if not name.startswith(".")}
    assert strangers == set()
