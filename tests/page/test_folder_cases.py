"""Every case folder of tests/cases/confluence-2/ holds: answers of the API, or one file, and what must come of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from askwiki.configuration import Configuration
from askwiki.data import Loss, Page
from askwiki.settings import Settings
from indexer.commands.check import check
from indexer.commands.show import page_text
from indexer.confluence.sources.forms import Form, convert_file
from indexer.opening import open_source
from tests.support.case_reading import faults, normal

FOLDER = Path(__file__).parents[1] / "cases" / "confluence-2"
CONFIGURATION = Configuration(Settings(), FOLDER, {})
CASES = sorted(case.parent for case in FOLDER.glob("*/case.yaml"))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case_holds(case: Path) -> None:
    rules = yaml.safe_load((case / "case.yaml").read_text(encoding="utf-8"))
    text, losses, pages = read(case, rules)
    assert list(faults(text, rules)) == []
    assert {once: normal(text).count(normal(once)) for once in rules.get("once", ())} == dict.fromkeys(
        rules.get("once", ()), 1
    )
    assert {loss.name for loss in losses} >= set(rules.get("loss", ()))
    for wanted in rules.get("meta", {}).get("pages", ()):
        page = pages[wanted["id"]]
        assert list(page.path) == wanted.get("path", [])
        assert {group for clause in page.readers or () for group in clause.groups} >= set(wanted["view"]["groups"])
        assert not any(clause.unknown for clause in page.readers or ())
    if told := rules.get("ledger"):
        ledger = check(open_source(f"rest:{case / 'input'}", CONFIGURATION)).to_text()
        assert [name for name in told if name not in ledger] == []


def read(case: Path, rules: dict[str, Any]) -> tuple[str, tuple[Loss, ...], dict[str, Page]]:
    """What a person sees, what was lost, and the pages by id."""
    if rules["form"] != "rest":
        file = next(file for file in sorted(case.iterdir()) if file.name != "case.yaml")
        return (*convert_file(str(file), cast(Form, rules["form"]), CONFIGURATION), {})
    found = open_source(f"rest:{case / 'input'}", CONFIGURATION).pages()
    pages = {page.id: page for page in found if isinstance(page, Page)}
    losses = tuple(loss for page in pages.values() for loss in page.losses)
    return "\n".join(page_text(page) for page in pages.values()), losses, pages
