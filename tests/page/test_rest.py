"""The REST source: paging, patience, rights and joined forms, against a small wiki on loopback."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from askwiki.configuration import Configuration
from askwiki.data import Attachment, Clause, Loss, Page
from askwiki.errors import SourceError, SourceNotWhole
from askwiki.settings import ConfluenceSettings, Settings, WikiSettings
from indexer.confluence.sources.rest.client import RestClient
from indexer.confluence.sources.rest.live import LiveRecords
from indexer.confluence.sources.rest.outage import LONGEST_WAIT
from indexer.confluence.sources.rest.records import Records
from indexer.confluence.sources.rest.source import RestSource
from indexer.confluence.sources.rest.tree import DEEPEST, RestTree
from indexer.opening import open_source
from indexer.sources import PageFailure, PageRef
from tests.support.rest_wiki import Wiki, groups, page, restricted, serving, users


def configuration(base: str = "", token: str = "secret") -> Configuration:
    settings = Settings(wiki=WikiSettings(url=base), confluence=ConfluenceSettings(token=token, page_size=50))
    return Configuration(settings, Path(), {})


def live(wiki: Wiki, choice: str = "space=KB", waits: list[float] | None = None) -> RestSource:
    """The source over the wiki; waits are noted instead of slept."""
    settings = configuration(wiki.base)
    noted = waits if waits is not None else []
    client = RestClient(wiki.base, settings.settings.confluence, sleep=noted.append)
    return RestSource(choice, settings, LiveRecords(choice, settings, client))


def read(source: RestSource) -> dict[str, Page]:
    return {one.id: one for one in source.pages() if isinstance(one, Page)}


def folder(tmp_path: Path, *answers: Any) -> RestSource:
    for number, answer in enumerate(answers):
        (tmp_path / f"{number}.json").write_text(json.dumps(answer), encoding="utf-8")
    source = open_source(f"rest:{tmp_path}", configuration())
    assert isinstance(source, RestSource)
    return source


# --- the live wiki ---


def test_every_page_of_a_space_comes_although_the_server_lowers_the_limit() -> None:
    with serving(Wiki([page(str(number), f"Страница {number}") for number in range(1, 8)])) as wiki:
        source = live(wiki)
        assert [ref.id for ref in source.expected()] == ["1", "2", "3", "4", "5", "6", "7"]
        assert list(read(source)) == ["1", "2", "3", "4", "5", "6", "7"]
        assert source.losses == ()


def test_a_page_carries_what_the_api_says_of_it() -> None:
    one = page("5", "Акты", ancestors=[{"id": "1", "title": "Главная"}])
    one["metadata"]["labels"]["results"] = [{"prefix": "global", "name": "тара"}, {"prefix": "my", "name": "избранное"}]
    with serving(Wiki([page("1", "Главная"), one])) as wiki:
        found = read(live(wiki))["5"]
        assert (found.title, found.path, found.space, found.version) == ("Акты", ("Главная",), "KB", 3)
        assert found.updated == "2025-03-01T10:00:00+03:00"
        assert found.labels == ("тара",)
        assert found.url == f"{wiki.base}/pages/viewpage.action?pageId=5"
        assert found.markdown == "Текст 5"


def test_a_busy_server_is_waited_for_as_long_as_it_asks() -> None:
    waits: list[float] = []
    with serving(Wiki([page("1", "А")], busy=[(429, "7"), (503, None), (429, "86400")])) as wiki:
        assert list(read(live(wiki, waits=waits))) == ["1"]
    assert waits == [7.0, 2.0, LONGEST_WAIT]


def test_a_server_that_stays_busy_fails_with_a_sentence() -> None:
    with (
        serving(Wiki([page("1", "А")], busy=[(503, "1")] * 20)) as wiki,
        pytest.raises(SourceError, match="answers 503, 6 times"),
    ):
        live(wiki).expected()


def test_a_wrong_token_is_named() -> None:
    with (
        serving(Wiki([page("1", "А")], token="other")) as wiki,
        pytest.raises(SourceError, match="ASKWIKI_CONFLUENCE_TOKEN"),
    ):
        live(wiki).expected()


def test_a_page_that_the_listing_leaves_out_is_asked_for_by_its_id() -> None:
    with serving(Wiki([page("1", "А"), page("2", "Б"), page("3", "В")], hidden={"2"})) as wiki:
        assert sorted(read(live(wiki))) == ["1", "2", "3"]


def test_a_run_cut_off_in_the_middle_goes_on_page_by_page() -> None:
    with serving(Wiki([page(str(number), f"С{number}") for number in range(1, 6)])) as wiki:
        source = live(wiki)
        source.expected()
        found = source.pages()
        first = [next(found), next(found)]
        wiki.busy = [(500, None)]
        rest = list(found)
        assert [one.id for one in [*first, *rest] if isinstance(one, Page)] == ["1", "2", "3", "4", "5"]


def test_a_page_that_never_comes_is_a_failure_and_the_rest_is_there() -> None:
    with serving(Wiki([page("1", "А"), page("2", "Б")])) as wiki:
        source = live(wiki)
        source.expected()
        wiki.pages.pop()
        assert [one for one in source.pages() if isinstance(one, PageFailure)] == [
            PageFailure(PageRef("2", "Б"), "announced by the wiki, but it does not give it")
        ]


def test_the_wikis_own_count_tells_of_missing_pages() -> None:
    with serving(Wiki([page("1", "А")], count=4)) as wiki:
        source = live(wiki)
        with pytest.raises(SourceNotWhole, match="the wiki counts 4 pages, its listing gave 1"):
            source.expected()
        assert source.losses == (Loss("pages", "count", 3, "the wiki counts 4 pages, its listing gave 1"),)


def test_a_page_that_only_the_search_index_knows_is_asked_for() -> None:
    """The listing left it out: it is read. The index is behind: it is not missed."""
    with serving(Wiki([page("1", "А"), page("2", "Б"), page("3", "В")], unlisted={"2"})) as wiki:
        assert sorted(read(live(wiki))) == ["1", "2", "3"]
    with serving(Wiki([page("1", "А")], count=2, stale=[page("9", "Удалена")])) as wiki:
        assert [ref.id for ref in live(wiki).expected()] == ["1"]


def test_a_listing_that_never_ends_is_stopped() -> None:
    with serving(Wiki([page("1", "А")], endless=True)) as wiki, pytest.raises(SourceError, match="never ends"):
        live(wiki).expected()


@pytest.mark.parametrize(
    ("elsewhere", "host"),
    [("http://elsewhere.example/rest/api/content", "http://elsewhere.example;"), ("http://[a/rest", "http://[a/rest;")],
)
def test_the_token_is_never_sent_to_another_host(elsewhere: str, host: str) -> None:
    wiki = Wiki([page("1", "А"), page("2", "Б"), page("3", "В")], elsewhere=elsewhere)
    with serving(wiki), pytest.raises(SourceError, match=re.escape(f"sends us on to {host}")):
        live(wiki).expected()


@pytest.mark.parametrize(
    ("choice", "cql"),
    [
        ("root=1", "ancestor+%3D+1+and+type+%3D+page"),
        ("label=тара", "label+%3D+%22"),
        ("cql=creator = me", "%28creator+%3D+me%29+and+type+in+%28page%2C+blogpost%29"),
    ],
)
def test_part_of_a_wiki_is_chosen_by_subtree_label_or_query(choice: str, cql: str) -> None:
    with serving(Wiki([page("1", "А"), page("2", "Б")])) as wiki:
        assert sorted(read(live(wiki, choice))) == ["1", "2"]
        assert any(asked.startswith(f"/confluence/rest/api/content/search?cql={cql}") for asked in wiki.asked)


def test_changes_are_asked_for_from_the_day_before_on() -> None:
    """The query's time is read in the account's own time zone, which the API does not tell."""
    with serving(Wiki([page("1", "А"), page("2", "Б")])) as wiki:
        source = live(wiki)
        changed = [one.id for one in source.changed(datetime(2026, 3, 2, 4, 5, tzinfo=UTC)) if isinstance(one, Page)]
        assert source.live
        assert sorted(changed) == ["1", "2"]
        [asked] = {asked for asked in wiki.asked if "lastmodified" in asked and "start" not in asked}
        assert "type+in+%28page%2C+blogpost%29+and+lastmodified+%3E%3D+%222026-03-01+04%3A05%22" in asked


def test_an_address_without_a_choice_of_pages_is_refused() -> None:
    with pytest.raises(SourceError, match=r"add one of \?space"):
        open_source("rest:https://wiki.example.com", configuration())


def test_an_address_with_a_login_is_refused_for_links_are_made_of_it() -> None:
    with pytest.raises(SourceError, match="holds a name or password") as told:
        open_source("rest:https://robot:key@wiki.example?space=IT", configuration())
    assert "robot" not in str(told.value)


def test_a_choice_without_an_address_is_refused() -> None:
    with pytest.raises(SourceError, match="ASKWIKI_WIKI_URL"):
        open_source("rest:space=KB", configuration())


@pytest.mark.parametrize(("address", "wiki"), [("rest:http://[a?space=KB", ""), ("rest:space=KB", "http://[a")])
def test_a_broken_address_is_refused(address: str, wiki: str) -> None:
    with pytest.raises(SourceError, match="cannot be read: Invalid IPv6 URL"):
        open_source(address, configuration(wiki))


# --- rights ---


SPACE = {
    "key": "KB",
    "permissions": [
        {
            "operation": {"operation": "read", "targetType": "space"},
            "subjects": {"group": groups("staff"), "user": users()},
        }
    ],
}


def test_readers_are_the_space_and_the_page_and_every_ancestor() -> None:
    top = page("1", "Главная", restrictions=restricted(group_names=("legal",)))
    low = page("2", "Дело", ancestors=[{"id": "1", "title": "Главная"}], restrictions=restricted(("o.veresova",)))
    with serving(Wiki([top, low], space=SPACE)) as wiki:
        found = read(live(wiki))
    assert found["1"].readers == (Clause((), ("staff",)), Clause((), ("legal",)))
    assert found["2"].readers == (Clause((), ("staff",)), Clause((), ("legal",)), Clause(("o.veresova",), ()))


def test_a_space_open_to_anonymous_visitors_makes_an_unrestricted_page_public() -> None:
    anonymous = {
        "key": "KB",
        "permissions": [{"operation": {"operation": "read", "targetType": "space"}, "anonymousAccess": True}],
    }
    with serving(Wiki([page("1", "А")], space=anonymous)) as wiki:
        assert read(live(wiki))["1"].readers == ()


def test_an_unknown_space_permission_is_never_everybody() -> None:
    with serving(Wiki([page("1", "А")])) as wiki:
        assert read(live(wiki))["1"].readers is None


STAFF = Clause((), ("staff",))
UNKNOWN = Clause(unknown=True)
NOBODY = Clause()


def half(**parts: Any) -> dict[str, Any]:
    return {"read": {"restrictions": parts}}


@pytest.mark.parametrize(
    ("restrictions", "own"),
    [
        ({}, UNKNOWN),
        (half(user=users()), UNKNOWN),
        (half(user={"results": [{"username": "a"}], "size": 2, "limit": 1}, group=groups()), Clause(("a",))),
        (half(user={"results": [], "_links": {"next": "/more"}}, group=groups()), NOBODY),
        (half(user={"results": [], "size": 1}, group=groups()), NOBODY),
        (half(user=users(), group=None), NOBODY),
        (half(user=users(), group={"results": [None]}), NOBODY),
        (half(user={"results": [1, {"username": "a"}]}, group={"results": [1]}), Clause(("a",))),
        (half(user={"results": [{"username": ["a"]}]}, group={"results": [{"name": {"a": 1}}]}), NOBODY),
        (None, NOBODY),
        ([1], NOBODY),
        ({"read": None}, NOBODY),
        ({"read": {"restrictions": "none"}}, NOBODY),
    ],
)
def test_a_restriction_that_is_not_whole_lets_in_only_whom_it_names(restrictions: Any, own: Clause) -> None:
    with serving(Wiki([page("1", "А", restrictions=restrictions)], space=SPACE)) as wiki:
        assert read(live(wiki))["1"].readers == (STAFF, own)


@pytest.mark.parametrize("ancestors", [None, "x", [1], [{}], [{"id": None}], {"results": []}])
def test_a_place_in_the_tree_that_is_not_told_is_no_place_at_its_root(ancestors: Any) -> None:
    with serving(Wiki([page("1", "А", ancestors=ancestors)], space=SPACE)) as wiki:
        assert read(live(wiki))["1"].readers == (STAFF, UNKNOWN)


def test_an_ancestor_that_one_record_leaves_out_is_known_from_another() -> None:
    top = page("1", "Тайна", restrictions=restricted(("boss",)))
    middle = page("2", "Б", ancestors=[{"id": "1", "title": "Тайна"}])
    low = page("3", "В", ancestors=[{"id": "2", "title": "Б"}])
    with serving(Wiki([top, middle, low], space=SPACE)) as wiki:
        assert read(live(wiki))["3"].readers == (STAFF, Clause(("boss",)))


def test_records_that_name_only_their_parents_keep_the_restrictions_of_all_above() -> None:
    pages = [page("1", "Верх", restrictions=restricted(("boss",)))]
    for number in range(2, 6):
        above = [{"id": str(number - 1), "title": "Выше"}]
        pages.append(page(str(number), f"Страница {number}", ancestors=above))
    with serving(Wiki(pages, space=SPACE, limit=50)) as wiki:
        assert {found.readers for found in read(live(wiki)).values()} == {(STAFF, Clause(("boss",)))}


@pytest.mark.parametrize("anonymous", ["false", 1, [0], {"a": 1}])
def test_only_a_plain_yes_opens_a_space_to_everybody(anonymous: Any) -> None:
    permission = {"operation": {"operation": "read", "targetType": "space"}, "anonymousAccess": anonymous}
    with serving(Wiki([page("1", "А")], space={"key": "KB", "permissions": [permission, None, 7]})) as wiki:
        assert read(live(wiki))["1"].readers == (NOBODY,)


def test_a_space_whose_permissions_are_refused_closes_its_part_not_the_pages_own() -> None:
    own = restricted(group_names=("legal",))
    with serving(Wiki([page("1", "А", restrictions=own)], answers={"/space/KB": [403]})) as wiki:
        assert read(live(wiki))["1"].readers == (UNKNOWN, Clause((), ("legal",)))


def test_an_ancestor_that_the_wiki_does_not_show_is_an_unknown_restriction() -> None:
    with serving(Wiki([page("2", "Б", ancestors=[{"id": "1", "title": "Тайна"}])], space=SPACE)) as wiki:
        assert read(live(wiki))["2"].readers == (STAFF, UNKNOWN)


# --- a folder of answers ---


TARGET = '<ac:parameter ac:name=""><ac:link><ri:page ri:content-title="Б" /></ac:link></ac:parameter>'


def macro(name: str, inside: str) -> str:
    return f'<ac:structured-macro ac:name="{name}">{inside}</ac:structured-macro>'


def test_a_folder_of_listings_gives_their_pages(tmp_path: Path) -> None:
    listing = {"results": [page("1", "А"), page("2", "Б")], "_links": {"base": "https://wiki.example.com"}}
    source = folder(tmp_path, listing, page("3", "В"), {"key": "KB", "name": "База"})
    assert source.expected() == [PageRef("1", "А"), PageRef("2", "Б"), PageRef("3", "В")]
    assert read(source)["1"].url == "https://wiki.example.com/pages/viewpage.action?pageId=1"


def test_a_folder_whose_last_listing_is_missing_says_so(tmp_path: Path) -> None:
    source = folder(tmp_path, {"results": [page("1", "А")], "_links": {"next": "/rest/api/content?start=1"}})
    assert [loss.detail for loss in source.losses] == ["every saved listing names a next one: the last is missing"]


def test_the_two_forms_of_a_page_are_joined(tmp_path: Path) -> None:
    report = macro("detailssummary", '<ac:parameter ac:name="cql">label = "x"</ac:parameter>')
    table = '<table class="metadata-summary-macro"><tr><th>Система</th></tr><tr><td>Каскад</td></tr></table>'
    stored = page("1", "А", body={"storage": {"value": f"<p>До</p>{report}<p>После</p>"}})
    viewed = page("1", "А", body={"export_view": {"value": f"<p>До</p><div>{table}</div><p>После</p>"}})
    found = read(folder(tmp_path, stored, viewed))["1"]
    assert found.markdown == "До\n\n| Система |\n| --- |\n| Каскад |\n\nПосле"


def test_an_include_is_brought_in_from_another_page(tmp_path: Path) -> None:
    include = macro("include", TARGET)
    first = page("1", "А", body={"storage": {"value": include}})
    assert read(folder(tmp_path, first, page("2", "Б"), SPACE))["1"].markdown == "Текст 2"


def test_an_include_of_a_more_restricted_page_is_only_named(tmp_path: Path) -> None:
    include = macro("include", TARGET)
    first = page("1", "А", body={"storage": {"value": include}})
    secret = page("2", "Б", restrictions=restricted(("o.veresova",)))
    assert read(folder(tmp_path, first, secret, SPACE))["1"].markdown == "→ [Б](/pages/viewpage.action?pageId=2)"


def test_an_include_of_a_page_that_is_not_here_is_taken_from_the_rendering(tmp_path: Path) -> None:
    view = '<div class="conf-macro output-block" data-macro-name="include"><p>Текст Б.</p></div>'
    bodies = {"storage": {"value": macro("include", TARGET)}, "export_view": {"value": view}}
    found = read(folder(tmp_path, page("1", "А", body=bodies), SPACE))["1"]
    assert (found.markdown, [loss.kind for loss in found.losses]) == ("Текст Б.", ["rights"])


def test_the_rendering_never_lets_a_more_restricted_page_through(tmp_path: Path) -> None:
    view = '<div class="conf-macro output-block" data-macro-name="include"><p>Тайна.</p></div>'
    bodies = {"storage": {"value": macro("include", TARGET)}, "export_view": {"value": view}}
    secret = page("2", "Б", restrictions=restricted(("o.veresova",)))
    found = read(folder(tmp_path, page("1", "А", body=bodies), secret, SPACE))["1"]
    assert found.markdown == "→ [Б](/pages/viewpage.action?pageId=2)"


def test_an_include_from_another_space_is_asked_for_by_its_title() -> None:
    first = page("1", "А", body={"storage": {"value": macro("include", TARGET)}})
    with serving(Wiki([first], space=SPACE, elsewhere_pages=[page("2", "Б")])) as wiki:
        assert read(live(wiki))["1"].markdown == "Текст 2"


def test_files_of_a_page_come_with_their_addresses(tmp_path: Path) -> None:
    listed = [
        {"title": "план.png", "metadata": {"mediaType": "image/png"}, "_links": {"download": "/download/1/план.png"}}
    ]
    one = page("1", "А", children={"attachment": {"results": listed}})
    found = read(folder(tmp_path, {"results": [one], "_links": {"base": "https://w.example"}}))["1"]
    assert found.attachments == (Attachment("план.png", "https://w.example/download/1/план.png", "image/png"),)


def test_version_two_pages_find_their_path_by_their_parents(tmp_path: Path) -> None:
    def second(identity: str, title: str, parent: str, kind: str = "page") -> dict[str, Any]:
        return {
            "id": identity, "title": title, "status": "current", "spaceId": "77",
            "parentId": parent, "parentType": kind,
            "version": {"number": 2, "createdAt": "2025-02-03T04:05:06.000Z"},
            "body": {"storage": {"value": f"<p>{title}</p>"}},
            "_links": {"webui": f"/spaces/KB/pages/{identity}"},
        }  # fmt: skip

    listing = {
        "results": [
            second("1", "Корень", ""),
            second("2", "Ветвь", "1"),
            second("3", "Лист", "2"),
            second("4", "В папке", "900", "folder"),
        ],
        "_links": {"base": "https://x.example.com/wiki"},
    }
    found = read(folder(tmp_path, listing, {"results": [{"id": "77", "key": "KB", "name": "База"}]}))
    assert found["3"].path == ("Корень", "Ветвь")
    assert found["3"].url == "https://x.example.com/wiki/spaces/KB/pages/3"
    assert (found["3"].updated, found["3"].readers, found["4"].path) == ("2025-02-03T04:05:06+00:00", None, ())


def test_pages_in_the_cloud_editors_format_are_converted(tmp_path: Path) -> None:
    document = {
        "type": "doc",
        "content": [{"type": "heading", "attrs": {"level": 2}, "content": [{"type": "text", "text": "Смена"}]}],
    }
    one = page("1", "А", body={"atlas_doc_format": {"value": json.dumps(document)}})
    assert read(folder(tmp_path, one))["1"].markdown == "## Смена"


def test_a_picture_of_the_cloud_editor_gets_the_name_and_the_address_of_its_file(tmp_path: Path) -> None:
    media = {"type": "mediaSingle", "content": [{"type": "media", "attrs": {"id": "f-1", "type": "file"}}]}
    one = page(
        "1", "А", body={"atlas_doc_format": {"value": json.dumps({"type": "doc", "content": [media]})}},
        children={"attachment": {"results": [{"title": "план.png", "extensions": {"fileId": "f-1"}}]}},
        _links={"base": "https://w.example/wiki", "webui": "/spaces/KB/pages/1/A"},
    )  # fmt: skip
    assert read(folder(tmp_path, one))["1"].markdown == (
        "![план.png](https://w.example/wiki/download/attachments/1/план.png)"
    )


def test_drafts_and_archived_pages_are_skipped_by_rule(tmp_path: Path) -> None:
    source = folder(tmp_path, page("1", "А"), page("2", "Б", status="archived"), page("3", "В", status="draft"))
    assert [(one.ref.id, one.reason, one.skipped) for one in source.pages() if isinstance(one, PageFailure)] == [
        ("2", "archived", True),
        ("3", "draft", True),
    ]


def test_a_folder_without_pages_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"results": []}', encoding="utf-8")
    with pytest.raises(SourceError, match="holds no page in JSON"):
        open_source(f"rest:{tmp_path}", configuration())


def test_a_broken_answer_among_others_is_a_loss(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    source = folder(tmp_path, page("1", "А"))
    assert [(loss.kind, loss.name) for loss in source.losses] == [("file", "broken.json")]
    assert list(read(source)) == ["1"]


def test_parents_in_a_circle_make_the_readers_unknown(tmp_path: Path) -> None:
    def second(identity: str, parent: str) -> dict[str, Any]:
        return {
            "id": identity,
            "title": f"С{identity}",
            "status": "current",
            "parentId": parent,
            "body": {"storage": {"value": "<p>x</p>"}},
        }

    found = read(folder(tmp_path, second("1", "2"), second("2", "1")))
    assert {identity: (one.readers, one.path) for identity, one in found.items()} == {"1": (None, ()), "2": (None, ())}


class Answers:
    """Records by id, as the tree asks for them; notes what it was asked."""

    def __init__(self, *records: dict[str, Any], spaces: dict[str, dict[str, Any]] | None = None) -> None:
        self.records = {record["id"]: record for record in records}
        self.spaces = spaces or {}
        self.asked: list[object] = []

    def one(self, page_id: str) -> tuple[dict[str, Any], str] | None:
        self.asked.append(page_id)
        return (self.records[page_id], "https://w.example") if page_id in self.records else None

    def space(self, key: str, identity: str) -> dict[str, Any]:
        self.asked.append((key, identity))
        return self.spaces.get(key or identity, {})


def second_version(identity: str, parent: str | None, **more: Any) -> dict[str, Any]:
    read = {"read": {"restrictions": {"user": users(), "group": groups()}}}
    return {"id": identity, "title": f"С{identity}", "parentId": parent, "restrictions": read, **more}


def tree(*records: dict[str, Any], **more: Any) -> tuple[RestTree, Answers]:
    answers = Answers(*records, **more)
    return RestTree(cast(Records, answers), "https://base.example"), answers


def test_parents_are_followed_to_the_root_and_asked_for_once() -> None:
    made, answers = tree(
        second_version("1", None, restrictions=restricted(("boss",))), second_version("2", "1"), spaces={"KB": SPACE}
    )
    low = made.learn(second_version("3", "2", space={"key": "KB"}), "")
    assert (made.readers(low), made.path(low)) == ((STAFF, Clause(("boss",))), ("С1", "С2"))
    made.readers(low)
    assert answers.asked == ["2", "1", ("KB", "")]
    assert (made.title("3"), made.title("404"), low.url) == (
        "С3", "", "https://base.example/pages/viewpage.action?pageId=3"
    )  # fmt: skip


def test_a_parent_that_the_wiki_does_not_show_is_unknown_and_asked_for_once() -> None:
    made, answers = tree(spaces={"KB": SPACE})
    low = made.learn(second_version("3", "2", space={"key": "KB"}), "")
    assert (made.readers(low), made.path(low)) == ((STAFF, UNKNOWN), ())
    made.readers(low)
    assert answers.asked == ["2", ("KB", "")]


def test_a_parent_whose_own_place_is_not_told_makes_the_rest_unknown() -> None:
    made, _ = tree(second_version("2", "1", ancestors=None), spaces={"KB": SPACE})
    low = made.learn(second_version("3", "2", space={"key": "KB"}), "")
    assert made.readers(low) == (STAFF, UNKNOWN)


def test_a_chain_of_parents_may_be_deep_but_not_endless() -> None:
    deep = [second_version(str(number), str(number - 1) if number else None) for number in range(DEEPEST + 2)]
    made, _ = tree(*deep, spaces={"KB": SPACE})
    at_the_end = made.learn(second_version("a", str(DEEPEST - 1), space={"key": "KB"}), "")
    beyond = made.learn(second_version("b", str(DEEPEST), space={"key": "KB"}), "")
    assert (made.readers(at_the_end), made.readers(beyond)) == ((STAFF,), (STAFF, UNKNOWN))
    assert DEEPEST == 200


def test_a_space_known_by_its_id_gives_its_key_and_is_asked_for_its_readers() -> None:
    made, answers = tree(spaces={"77": {"key": "KB"}, "KB": SPACE})
    one = made.learn(second_version("1", None, spaceId="77"), "")
    assert (one.space, one.space_id, made.readers(one)) == ("KB", "77", (STAFF,))
    assert answers.asked == [("", "77"), ("KB", "77")]
    inside, _ = tree(spaces={"77": {"key": "KB"}, "KB": SPACE})
    one = inside.learn(second_version("1", None, space={"id": "77"}), "")
    assert (one.space, one.space_id) == ("KB", "77")
    nameless, answers = tree(spaces={"77": {**SPACE, "key": None}})
    one = nameless.learn(second_version("1", None, spaceId="77"), "")
    assert (one.space, nameless.readers(one), answers.asked) == ("", (STAFF,), [("", "77")] * 2)


def test_a_page_of_which_nothing_is_known_has_no_readers_and_an_open_one_has_no_clause() -> None:
    made, _ = tree(spaces={"KB": {"permissions": [{"operation": {"operation": "read"}, "anonymousAccess": True}]}})
    assert made.readers(made.learn(second_version("1", None, space={"key": "KB"}), "")) == ()
    assert made.readers(made.learn({"id": "2", "title": "Б", "space": {"key": "X"}}, "")) is None
