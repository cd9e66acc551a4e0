"""A live wiki that gives half of the truth, odd records or nothing at all: what is in the index stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from askwiki.data import PUBLIC
from askwiki.errors import SourceError, SourceNotWhole
from indexer.confluence.sources.rest.client import MOST_EMPTY, RestClient
from indexer.confluence.sources.rest.live import LiveRecords
from indexer.confluence.sources.rest.outage import LONGEST_WAIT, MOST_FAILED, TRIES
from indexer.confluence.sources.rest.source import RestSource
from indexer.sources import PageFailure
from indexer.sync.ledger import Ledger
from indexer.sync.sync import Rules
from tests.page.test_rest import configuration
from tests.support.rest_wiki import Wiki, page, restricted, serving
from tests.support.sources import Indexer

OPEN = {
    "key": "KB",
    "permissions": [{"operation": {"operation": "read", "targetType": "space"}, "anonymousAccess": True}],
}


def wiki_of(count: int, **more: Any) -> Wiki:
    pages = [page(str(number), f"Страница {number}") for number in range(1, count + 1)]
    return Wiki(pages, space=OPEN, **{"limit": 50, **more})


def source(wiki: Wiki, waits: list[float] | None = None) -> RestSource:
    settings = configuration(wiki.base)
    noted = waits if waits is not None else []
    client = RestClient(wiki.base, settings.settings.confluence, sleep=noted.append)
    return RestSource("space=KB", settings, LiveRecords("space=KB", settings, client))


def sync(indexer: Indexer, wiki: Wiki, waits: list[float] | None = None) -> Ledger:
    return indexer.run(source(wiki, waits), Rules())


def public(indexer: Indexer) -> list[str]:
    """Ids of the pages that a stranger finds."""
    found = indexer.store.contents().values()
    chunks = [payload for payload, _ in found if payload["record"] == "chunk" and payload["acl"] == PUBLIC]
    return sorted({str(payload["page_id"]) for payload in chunks}, key=int)


def failures(ledger: Ledger) -> dict[str, str]:
    return {failure.ref.id: failure.reason for failure in ledger.failures}


@pytest.fixture
def indexer(tmp_path: Path) -> Indexer:
    return Indexer(tmp_path)


# --- half of the truth ---


def test_a_500_is_tried_again_as_a_busy_server_is() -> None:
    waits: list[float] = []
    with serving(wiki_of(2, busy=[(500, None), (500, "7")])) as wiki:
        assert [ref.id for ref in source(wiki, waits).expected()] == ["1", "2"]
    assert waits == [1.0, 7.0]


def test_a_space_that_answers_500_takes_no_right_from_its_pages(indexer: Indexer) -> None:
    with serving(wiki_of(5)) as wiki:
        sync(indexer, wiki)
        wiki.answers = {"/space/KB": [500]}
        wiki.pages.append(page("6", "Новая"))
        with pytest.raises(SourceNotWhole, match="Who may read the space KB could not be asked for"):
            sync(indexer, wiki)
        assert public(indexer) == ["1", "2", "3", "4", "5"]
        wiki.answers = {}
        sync(indexer, wiki)
    assert public(indexer) == ["1", "2", "3", "4", "5", "6"]


def test_a_listing_shorter_than_the_wikis_own_count_removes_nothing(indexer: Indexer) -> None:
    with serving(wiki_of(30)) as wiki:
        sync(indexer, wiki)
        del wiki.pages[25:]
        wiki.count = 30
        with pytest.raises(SourceNotWhole, match="the wiki counts 30 pages, its listing gave 25"):
            sync(indexer, wiki)
        assert len(public(indexer)) == 30
        wiki.count = None
        assert sync(indexer, wiki).removed == 5


def test_an_ancestor_that_answers_500_leaves_the_page_as_it_was(indexer: Indexer) -> None:
    low = page("2", "Низ", ancestors=[{"id": "77", "title": "Верх"}])
    with serving(Wiki([page("1", "А"), low], space=OPEN, elsewhere_pages=[page("77", "Верх")])) as wiki:
        assert sync(indexer, wiki).failed == 0
        assert public(indexer) == ["1", "2"]
        wiki.answers = {"/content/77": [500]}
        ledger = sync(indexer, wiki)
        assert list(failures(ledger)) == ["2"]
        assert failures(ledger)["2"].startswith("what it depends on cannot be asked for: ")
        assert (public(indexer), ledger.exit_code) == (["1", "2"], 1)
        wiki.answers = {"/content/77": [404]}  # that is an answer: nobody knows what it restricts
        sync(indexer, wiki)
    assert public(indexer) == ["1"]


@pytest.mark.parametrize("entry", [1, None, [], {}, {"id": None, "title": "А"}, {"id": True, "type": "page"}])
def test_an_entry_that_may_be_any_page_removes_none(indexer: Indexer, entry: Any) -> None:
    with serving(wiki_of(3)) as wiki:
        sync(indexer, wiki)
        wiki.pages[1] = entry
        with pytest.raises(SourceNotWhole, match="an entry of the wiki's listing is no page"):
            sync(indexer, wiki)
    assert public(indexer) == ["1", "2", "3"]


@pytest.mark.parametrize("answer", [None, [], "x", {}, {"results": None}, {"results": {"1": {}}}])
def test_an_answer_that_is_no_listing_changes_nothing(indexer: Indexer, answer: Any) -> None:
    with serving(wiki_of(3)) as wiki:
        sync(indexer, wiki)
        wiki.mutate = lambda told: answer if isinstance(told, dict) and "start" in told else told
        with pytest.raises(SourceError, match="no list of results"):
            sync(indexer, wiki)
    assert public(indexer) == ["1", "2", "3"]


def test_a_listing_that_ignores_where_to_start_is_stopped(indexer: Indexer) -> None:
    number = iter(range(10**6))

    def first_piece_again(told: Any) -> Any:
        if isinstance(told, dict) and "start" in told:
            return {**told, "_links": {"next": f"/rest/api/content?start={next(number)}"}}
        return told

    with serving(wiki_of(3, mutate=first_piece_again)) as wiki, pytest.raises(SourceError, match="never ends"):
        sync(indexer, wiki)
    assert next(number) < 5


def test_a_listing_of_nothing_without_an_end_is_stopped(indexer: Indexer) -> None:
    number = iter(range(10**6))

    def nothing(told: Any) -> Any:
        return {"results": [], "_links": {"next": f"/rest/api/content?start={next(number)}"}}

    with serving(wiki_of(3, mutate=nothing)) as wiki, pytest.raises(SourceError, match="never ends"):
        sync(indexer, wiki)
    assert next(number) == MOST_EMPTY


# --- odd records ---

ODD: list[tuple[dict[str, Any], str]] = [
    ({"version": {"number": "x"}}, "its version is no number: {'number': 'x'}"),
    ({"version": {"number": [3]}}, "its version is no number: {'number': [3]}"),
    ({"version": None}, "its version is no number: None"),
    ({"title": None}, "its title is no text: None"),
    ({"title": ["А"]}, "its title is no text: ['А']"),
    ({"status": None}, "its status is none that a page has: None"),
    ({"status": "lost"}, "its status is none that a page has: 'lost'"),
    ({"status": []}, "its status is none that a page has: []"),
    ({"body": None}, "the wiki gives it without its text"),
    ({"body": {"storage": None}}, "the wiki gives it without its text"),
    ({"body": {"storage": {"value": 5}}}, "the wiki gives it without its text"),
    ({"body": {"storage": {"value": "<p>А</p>"}, "export_view": [1]}}, "its body is no text: "),
]


@pytest.mark.parametrize(("odd", "reason"), ODD, ids=[repr(odd)[:40] for odd, _ in ODD])
def test_an_odd_record_costs_its_page_and_what_is_in_of_it_stays(
    indexer: Indexer, odd: dict[str, Any], reason: str
) -> None:
    with serving(wiki_of(3)) as wiki:
        sync(indexer, wiki)
        wiki.pages[1] = {**wiki.pages[1], **odd}
        ledger = sync(indexer, wiki)
    assert {name: told[: len(reason)] for name, told in failures(ledger).items()} == {"2": reason}
    assert (public(indexer), ledger.exit_code) == (["1", "2", "3"], 1)


@pytest.mark.parametrize(
    "odd",
    [
        {"metadata": {"labels": {"results": [1, None, {"name": 5}]}}},
        {"metadata": []},
        {"children": {"attachment": {"results": 5}}},
        {"history": [1], "_links": [], "extensions": None},
        {"_links": {"webui": ["/x"], "base": 7}},
    ],
)
def test_oddities_beside_the_page_cost_nothing(indexer: Indexer, odd: dict[str, Any]) -> None:
    with serving(wiki_of(2)) as wiki:
        wiki.pages[1] = {**wiki.pages[1], **odd}
        assert sync(indexer, wiki).exit_code == 0
    assert public(indexer) == ["1", "2"]


def test_the_children_of_an_odd_page_keep_their_readers(indexer: Indexer) -> None:
    top = page("1", "Верх", version={"number": "x"}, restrictions=restricted(("boss",)))
    low = page("2", "Низ", ancestors=[{"id": "1", "title": "Верх"}])
    with serving(Wiki([top, low], space=OPEN)) as wiki:
        assert list(failures(sync(indexer, wiki))) == ["1"]
        [found] = [one for one in source(wiki).pages() if not isinstance(one, PageFailure)]
        assert found.readers is not None and [clause.users for clause in found.readers] == [("boss",)]


# --- a wiki that goes away ---


def test_a_wiki_that_goes_down_midway_costs_a_few_requests_and_nothing_of_the_index(indexer: Indexer) -> None:
    """Of 3,000 pages 2,900 are still to come when every answer turns into 503."""
    waits: list[float] = []
    with serving(wiki_of(100)) as wiki:
        sync(indexer, wiki)
        wiki.pages = [page(str(number), f"Страница {number}") for number in range(2, 3001)]
        gone = source(wiki, waits)
        gone.expected()
        arriving = gone.pages()
        for _ in range(100):
            next(arriving)
        wiki.asked.clear()
        wiki.busy = [(503, None)] * 100_000
        with pytest.raises(SourceNotWhole, match="answers 503"):
            list(arriving)
        assert len(wiki.asked) < 20
        assert sum(waits) < 60
    assert len(public(indexer)) == 100


def test_pages_that_answer_500_are_failures_and_no_outage(indexer: Indexer) -> None:
    broken = {f"/content/{number}": [500] for number in range(2, 12)}
    with serving(wiki_of(20, hidden={str(number) for number in range(2, 12)}, answers=broken)) as wiki:
        ledger = sync(indexer, wiki)
        assert sorted(failures(ledger), key=int) == [str(number) for number in range(2, 12)]
        assert len(wiki.asked) < 10 + 2 * 10 + TRIES
    assert len(public(indexer)) == 10


def test_a_wiki_whose_every_page_answers_500_is_left_alone(indexer: Indexer) -> None:
    numbers = range(1, 201)
    broken = {f"/content/{number}": [500] for number in numbers}
    with serving(wiki_of(200, hidden={str(number) for number in numbers}, answers=broken)) as wiki:
        with pytest.raises(SourceNotWhole):
            sync(indexer, wiki)
        assert len(wiki.asked) < 20 + TRIES + 3 * MOST_FAILED


def test_a_server_that_asks_for_long_waits_is_not_waited_for_all_day() -> None:
    waits: list[float] = []
    with serving(wiki_of(1, busy=[(503, "86400")] * 50)) as wiki, pytest.raises(SourceError, match="3 times in a row"):
        source(wiki, waits).expected()
    assert waits == [LONGEST_WAIT] * 2
