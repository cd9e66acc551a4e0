"""What stands in the tree of pages and is none (folders, whiteboards …), blog posts, and archived spaces."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from askwiki.configuration import Configuration
from askwiki.data import Clause, Page
from askwiki.settings import ConfluenceSettings, Settings
from indexer.confluence.sources.rest.client import RestClient
from indexer.confluence.sources.rest.live import LiveRecords
from indexer.confluence.sources.rest.source import RestSource
from indexer.opening import open_source
from indexer.sources import PageFailure, PageRef
from tests.support.rest_wiki import Wiki, groups, page, restricted, serving, users

UNKNOWN = Clause(unknown=True)
KB = Clause(groups=("kb",))
SPACE = {
    "id": 9,
    "key": "KB",
    "permissions": [
        {
            "subjects": {"group": {"results": [{"name": "kb"}], "size": 1}},
            "operation": {"operation": "read", "targetType": "space"},
            "anonymousAccess": False,
        }
    ],
}
TOP = page("1", "Корень", restrictions=restricted(group_names=("top",)))


def held(identity: str, title: str, parent: str | None, kind: str = "folder", **more: Any) -> dict[str, Any]:
    """A folder or the like as version 2 gives it."""
    return {"id": identity, "type": kind, "status": "current", "title": title, "parentId": parent, **more}


def second(identity: str, title: str, parent: str | None, parent_kind: str = "page") -> dict[str, Any]:
    """A page as version 2 gives it, with the restrictions that somebody joined to it."""
    return {
        **{"id": identity, "status": "current", "title": title, "spaceId": "9", "parentId": parent},
        **{"parentType": parent_kind, "version": {"number": 1}, "body": {"storage": {"value": "<p>текст</p>"}}},
        "restrictions": {"read": {"restrictions": {"user": users(), "group": groups()}}},
    }


def pages(tmp_path: Path, *records: Any, confluence: ConfluenceSettings | None = None) -> dict[str, Any]:
    for number, record in enumerate((*records, SPACE)):
        (tmp_path / f"{number}.json").write_text(json.dumps(record), encoding="utf-8")
    settings = dataclasses.replace(Settings(), confluence=confluence or ConfluenceSettings())
    found = open_source(f"rest:{tmp_path}", Configuration(settings, Path(), {})).pages()
    return {one.id if isinstance(one, Page) else one.ref.id: one for one in found}


@pytest.mark.parametrize("kind", ["folder", "whiteboard", "database", "embed"])
def test_a_page_below_a_folder_keeps_its_path_and_the_readers_of_all_above(tmp_path: Path, kind: str) -> None:
    ancestors = [{"id": "1", "type": "page", "title": "Корень"}, {"id": "2", "type": kind}]
    found = pages(tmp_path, TOP, held("2", "Папка", "1", kind), page("3", "Ниже", ancestors=ancestors))
    assert list(found) == ["1", "3"]
    assert found["3"].path == ("Корень", "Папка")
    assert found["3"].readers == (KB, Clause(groups=("top",)))


def test_by_the_parent_alone_the_path_goes_on_above_folders_in_folders(tmp_path: Path) -> None:
    found = pages(
        tmp_path,
        TOP,
        held("2", "Папка", "1"),
        held("3", "Внутри", "2", "database"),
        second("4", "Ниже", "3", "database"),
    )
    assert found["4"].path == ("Корень", "Папка", "Внутри")
    assert found["4"].readers == (KB, Clause(groups=("top",)))


def test_the_restriction_of_a_folder_holds_for_the_pages_below(tmp_path: Path) -> None:
    closed = held("2", "Папка", "1", restrictions=restricted(user_names=("anna",)))
    found = pages(tmp_path, TOP, closed, second("4", "Ниже", "2", "folder"))
    assert found["4"].readers == (KB, Clause(groups=("top",)), Clause(users=("anna",)))


@pytest.mark.parametrize("restrictions", [{}, {"read": {}}, {"read": {"restrictions": {"user": users()}}}])
def test_a_restriction_of_a_folder_that_is_not_whole_leaves_the_readers_unknown(
    tmp_path: Path, restrictions: dict[str, Any]
) -> None:
    found = pages(tmp_path, TOP, held("2", "Папка", "1", restrictions=restrictions), second("4", "Ниже", "2", "folder"))
    assert UNKNOWN in found["4"].readers


def test_a_folder_that_is_not_here_leaves_the_readers_unknown(tmp_path: Path) -> None:
    ancestors = [{"id": "1", "type": "page", "title": "Корень"}, {"id": "2", "type": "folder", "title": "Папка"}]
    found = pages(tmp_path, TOP, second("4", "Ниже", "2", "folder"), page("3", "Ниже", ancestors=ancestors))
    assert UNKNOWN in found["3"].readers and UNKNOWN in found["4"].readers
    assert found["3"].path == ("Корень", "Папка")


def test_a_folder_that_does_not_say_where_it_stands_opens_nothing_above_it(tmp_path: Path) -> None:
    lost = {name: value for name, value in held("2", "Папка", "1").items() if name != "parentId"}
    assert UNKNOWN in pages(tmp_path, TOP, lost, second("4", "Ниже", "2", "folder"))["4"].readers


def test_folders_in_a_circle_open_nothing(tmp_path: Path) -> None:
    found = pages(tmp_path, TOP, held("2", "А", "3"), held("3", "Б", "2"), second("4", "Ниже", "2", "folder"))
    assert UNKNOWN in found["4"].readers


@pytest.mark.parametrize(
    "webui", ["/spaces/KB/blog/2025/03/01/5/Title", "/display/KB/2025/03/01/Title", "/spaces/KB/blog/2025/03/01/5"]
)
def test_a_blog_post_without_a_type_is_told_by_its_address(tmp_path: Path, webui: str) -> None:
    post = second("5", "Новость", None)
    post = {name: value for name, value in post.items() if name not in ("parentId", "parentType")}
    found = pages(tmp_path, TOP, {**post, "_links": {"webui": webui}})["5"]
    assert (found.content, found.readers, found.markdown) == ("blogpost", (KB,), "текст")


def test_blog_posts_are_left_out_by_a_setting_and_told(tmp_path: Path) -> None:
    post = page("5", "Новость", type="blogpost")
    found = pages(tmp_path, TOP, post, confluence=ConfluenceSettings(blog_posts=False))
    assert found["5"] == PageFailure(
        PageRef("5", "Новость"), "a blog post, left out by confluence.blog_posts", skipped=True
    )


@pytest.mark.parametrize("wanted", [True, False])
def test_the_live_wiki_is_asked_for_blog_posts_too(wanted: bool) -> None:
    settings = Configuration(Settings(confluence=ConfluenceSettings(token="secret", blog_posts=wanted)), Path(), {})
    with serving(Wiki([page("1", "А"), page("5", "Новость", type="blogpost")], space=SPACE)) as wiki:
        records = LiveRecords(f"{wiki.base}?space=KB", settings, RestClient(wiki.base, settings.settings.confluence))
        if not wanted:
            wiki.count = 1
        found = RestSource(f"{wiki.base}?space=KB", settings, records)
        assert [one.id for one in found.pages() if isinstance(one, Page)] == (["1", "5"] if wanted else ["1"])


@pytest.mark.parametrize("space", [{"key": "KB", "status": "archived"}, {"key": "OLD"}])
def test_pages_of_an_archived_space_are_left_out_as_archived_ones(tmp_path: Path, space: dict[str, Any]) -> None:
    old = page("6", "Старое", space=space)
    listing = {"results": [{**SPACE, "key": "OLD", "id": 10, "status": "archived"}]}
    assert pages(tmp_path, TOP, old, listing)["6"] == PageFailure(PageRef("6", "Старое"), "archived", skipped=True)
    found = pages(tmp_path, TOP, old, listing, confluence=ConfluenceSettings(include_archived=True))
    assert found["6"].markdown == "Текст 6"
