"""Every conversion case of tests/cases/confluence/ holds: pairs of an input and what must be in its Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from askwiki.configuration import Configuration
from askwiki.settings import Settings
from indexer.confluence.parse.html_page import read_html_page
from indexer.confluence.sources.forms import Form, convert_file
from tests.support.case_reading import Case, cases, faults

FOLDER = Path(__file__).parents[1] / "cases" / "confluence"
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


@pytest.mark.parametrize("case", [case for case in CASES if case.form == "html-export"], ids=lambda case: case.name)
def test_what_an_html_page_says_of_itself_is_read(case: Case) -> None:
    meta = case.rules["meta"]
    page = read_html_page(case.file.read_bytes(), meta.get("file", case.file.name))
    read = {
        "title": page.title,
        "path": list(page.path),
        "modified": page.updated,
        "page_id": page.id,
        "space_name": page.space_name,
        "attachments": [file.name for file in page.attachments],
    }
    assert {name: read[name] for name in read if name in meta} == {name: meta[name] for name in read if name in meta}


@pytest.mark.parametrize(
    "case", [case for case in CASES if "readers" in case.rules.get("meta", {})], ids=lambda case: case.name
)
def test_the_readers_of_an_export_are_read(case: Case) -> None:
    wanted = case.rules["meta"]["readers"]
    found = [matter["readers"] for matter in front_matters(case)]
    assert found == (wanted if isinstance(wanted, list) else [wanted])


@pytest.mark.parametrize(
    "case", [case for case in CASES if "titles" in case.rules.get("meta", {})], ids=lambda case: case.name
)
def test_the_current_pages_of_an_export_are_read(case: Case) -> None:
    assert [matter["title"] for matter in front_matters(case)] == case.rules["meta"]["titles"]


def front_matters(case: Case) -> list[dict[str, Any]]:
    markdown, _ = convert_file(str(case.file), "entities", CONFIGURATION)
    return [yaml.safe_load(part) for part in markdown.split("---\n")[1::2]]


def test_an_export_gives_front_matter_for_each_current_page() -> None:
    pages = front_matters(next(case for case in CASES if case.name == "22-xml-export"))
    assert [(page["title"], page["path"], page["updated"], page["labels"]) for page in pages] == [
        ("Главная", [], "2022-01-10T10:00:00", []),
        ("Приёмка тары", ["Главная"], "2024-11-05T14:20:11", ["тара"]),
        ("Акты возврата", ["Главная", "Приёмка тары"], "2024-03-04T12:00:00", []),
    ]
    nobody = {"users": [], "groups": []}  # the case does not say who may view the space
    restricted = [nobody, {"users": ["o.veresova"], "groups": ["sklad-smena"]}]
    assert [page["readers"] for page in pages] == [None, restricted, restricted]
