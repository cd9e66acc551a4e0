"""Every conversion case of tests/confluence/ holds: pairs of an input and what must be in its Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
import yaml

from askwiki.configuration import Configuration
from askwiki.settings import Settings
from indexer.confluence.forms import Form, convert_file
from tests.case_reading import Case, cases, faults

FOLDER = Path(__file__).parent / "confluence"
CONFIGURATION = Configuration(Settings(), FOLDER, {})
CASES = cases(FOLDER)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case_holds(case: Case) -> None:
    markdown, _ = convert_file(str(case.file), cast(Form, case.form), CONFIGURATION)
    assert list(faults(markdown, case.rules)) == []


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_form_of_a_case_is_guessed(case: Case) -> None:
    given, _ = convert_file(str(case.file), cast(Form, case.form), CONFIGURATION)
    assert convert_file(str(case.file), None, CONFIGURATION)[0] == given


def test_an_export_gives_front_matter_for_each_current_page() -> None:
    markdown, _ = convert_file(str(FOLDER / "22-xml-export.xml"), "entities", CONFIGURATION)
    pages = [yaml.safe_load(part) for part in markdown.split("---\n")[1::2]]
    assert [(page["title"], page["path"], page["updated"], page["labels"]) for page in pages] == [
        ("Главная", [], "2022-01-10T10:00:00", []),
        ("Приёмка тары", ["Главная"], "2024-11-05T14:20:11", ["тара"]),
        ("Акты возврата", ["Главная", "Приёмка тары"], "2024-03-04T12:00:00", []),
    ]
    restricted = [{"users": ["o.veresova"], "groups": ["sklad-smena"]}]
    assert [page["readers"] for page in pages] == [None, restricted, restricted]
