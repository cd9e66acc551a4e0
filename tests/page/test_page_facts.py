"""Who wrote a page, who owns it and in which state it is: from every form of export to the answer."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from askwiki.configuration import Configuration
from askwiki.data import Chunk, Page, Passage, State
from askwiki.settings import ChunkingSettings, Settings
from askwiki.stages.passages.versions import find_twins
from askwiki.stages.sources import source_list
from askwiki.store.payload import chunk_payload, to_chunk
from askwiki.texts import load_texts
from indexer.chunking.screens import state_of
from indexer.opening import open_source
from tests.page.test_xml_export import EVERYBODY, SPACE, body, target, thing, value
from tests.page.test_xml_export import page as xml_page
from tests.page.test_xml_export import pages as xml_pages
from tests.support.rest_wiki import page
from tests.support.small_wiki import chunk

TEXTS = load_texts(Path(__file__).parents[2] / "config" / "texts")
RULES = "Возврат тары принимают у ворот три раза в неделю до обеда. Акт подписывает старший смены и водитель."


def facts(one: Page) -> tuple[str, str, str]:
    return one.author, one.editor, one.owner


def read(spec: str) -> Page:
    return next(
        one for one in open_source(spec, Configuration(Settings(), Path(), {})).pages() if isinstance(one, Page)
    )


FIRST = {
    "history": {"createdBy": {"displayName": "Анна Сажина"}, "ownedBy": {"displayName": "Пётр Лугов"}},
    "version": {"number": 3, "by": {"displayName": "Нина Осипова"}},
}
SECOND = {
    "authorId": "5b10a2844c20165700ede21g",
    "ownerId": "unknown-account-id",
    "version": {
        "number": 3,
        "authorId": "2",
        "by": {"accountId": "5b10a2844c20165700ede21g", "displayName": "Анна Сажина"},
    },
}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (FIRST, ("Анна Сажина", "Нина Осипова", "Пётр Лугов")),
        (SECOND, ("Анна Сажина", "Анна Сажина", "unknown-account-id")),
        ({"history": 1, "version": {"number": 1, "by": []}}, ("", "", "")),
        ({"authorId": "557058:0867a421-a9ee-4659-801a-bc0ee4a4487e"}, ("", "", "")),
    ],
)
def test_the_api_says_who(tmp_path: Path, record: dict[str, Any], expected: tuple[str, str, str]) -> None:
    (tmp_path / "a.json").write_text(json.dumps(page("1", "А", **record)), encoding="utf-8")
    assert facts(read(f"rest:{tmp_path}")) == expected


def test_an_xml_export_says_who(tmp_path: Path) -> None:
    user = f'<object class="ConfluenceUserImpl" package="p"><id name="key">k1</id>{value("name", "e.titova")}</object>'
    known = thing("InternalUser", "u1", value("name", "e.titova"), value("displayName", "Елена Титова"))
    who = target("creator", "ConfluenceUserImpl", "k1", "key") + value("lastModifierName", "e.titova")
    found = xml_pages(tmp_path, SPACE, EVERYBODY, user, known, xml_page("1", "А", who), body("1", "<p>т</p>"))
    assert facts(found["1"]) == ("Елена Титова", "Елена Титова", "")


def test_an_html_export_says_who(tmp_path: Path) -> None:
    people = '<span class="author">А. С.</span>, last modified by <span class="editor">Н. О.</span>'
    said = f'<div class="page-metadata">Created by {people}</div>'
    (tmp_path / "a.html").write_text(
        f'<html><body>{said}<div id="main-content">т</div></body></html>', encoding="utf-8"
    )
    assert facts(read(f"html:{tmp_path}")) == ("А. С.", "Н. О.", "")


def test_front_matter_says_who_and_other_tools_may_say_it_otherwise(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nauthor: [А, Б]\nowner: {x: 1}\nstate: outdated\n---\nт", encoding="utf-8")
    found = read(f"markdown:{tmp_path}")
    assert (facts(found), found.state) == (("А, Б", "", ""), "outdated")


@pytest.mark.parametrize(
    ("labels", "said", "state"),
    [
        ((), "", ""),
        (("Устарело",), "", "outdated"),
        (("deprecated", "verified"), "", "outdated"),
        (("draft",), "", "draft"),
        (("проверено",), "", "verified"),
        (("архив",), "", "archived"),
        (("проверено",), "archived", "archived"),
        (("устаревание",), "", ""),
    ],
)
def test_labels_say_the_state(labels: tuple[str, ...], said: State, state: State) -> None:
    one = Page("1", "KB", "А", (), "", "", labels=labels, state=said)
    assert state_of(one, ChunkingSettings()) == state


def test_a_chunk_carries_them_and_one_of_an_older_index_is_read_without() -> None:
    one = chunk("1", "т", author="А", editor="Б", owner="В", state="outdated", content="blogpost")
    payload = chunk_payload("s", one)
    assert to_chunk(payload) == one
    older = {name: payload[name] for name in payload if name not in ("author", "editor", "owner", "state", "content")}
    assert to_chunk(older) == one._replace(author="", editor="", owner="", state="", content="page")
    assert Chunk._fields[-1] == "hash"


def passage(identity: str, updated: str, state: State = "") -> Passage:
    return Passage(1, identity, "Возврат тары", (), (), "https://w/x", updated, RULES, (identity,), state=state)


@pytest.mark.parametrize("state", ["outdated", "archived"])
def test_an_old_page_stands_behind_its_successor_however_late_it_was_edited(state: State) -> None:
    old, new = passage("1", "2026-01-01", state), passage("2", "2020-01-01")
    [twin] = find_twins([old, new])
    assert (twin.newer, twin.older) == (1, 0)
    assert find_twins([passage("1", "2026-01-01", "verified"), new])[0].newer == 0


def test_an_old_page_is_called_old_in_the_list() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    told = source_list([passage("1", "", "outdated")], title="И", texts=TEXTS, language="ru", now=now)
    assert told.endswith("1. [Возврат тары](https://w/x) · устаревшая страница")
