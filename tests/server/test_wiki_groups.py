"""Groups asked of Confluence itself: paged, remembered with their age, closed when nobody answers."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from askwiki.access import wiki_groups
from askwiki.access.identity import with_wiki_groups
from askwiki.access.wiki_groups import ASK_AGAIN, TRUSTED, WikiGroups
from askwiki.calls.breaker import FAILURES, PAUSE
from askwiki.data import Identity
from askwiki.errors import SettingsError, StoreError
from askwiki.settings import AccessSettings, ConfluenceSettings

ANNA = Identity(id="1", email="anna@example.com", name="Анна", groups=("hr",), known=True)
PAGE = 2  # groups the wiki gives at once, whatever it is asked for


class Confluence(ThreadingHTTPServer):
    """The one route, over a table of users and their groups."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.groups = {"anna@example.com": ["Finance", "IT", "Boss"], "a.ivanova": ["payments"]}
        self.asked: list[tuple[str, str]] = []
        self.queries: list[dict[str, str]] = []
        self.down = self.unknown = self.endless = False
        self.code = 503  # while it is down
        self.body: object = None  # instead of the groups

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Confluence

    def do_GET(self) -> None:
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        user, start = query.get("username") or query["accountId"], int(query["start"])
        self.server.asked.append((user, self.headers.get("Authorization", "")))
        groups = self.server.groups.get(user, [])
        self.server.queries.append(query)
        links = {"next": "/more"} if start + PAGE < len(groups) or self.server.endless else {}
        found = [{"type": "group", "name": name} for name in groups[start : start + PAGE]]
        body = {"results": found, "_links": links} if self.server.body is None else self.server.body
        self.send_response(self.server.code if self.server.down else 404 if self.server.unknown else 200)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def confluence() -> Iterator[Confluence]:
    with Confluence() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def wiki(confluence: Confluence, clock: Clock | None = None) -> WikiGroups:
    return WikiGroups(confluence.url, ConfluenceSettings(token="secret"), clock or Clock())


def test_all_pages_of_groups_are_read_with_the_token(confluence: Confluence) -> None:
    assert wiki(confluence).of("anna@example.com") == (("Finance", "IT", "Boss"), 0.0)
    assert confluence.asked == [("anna@example.com", "Bearer secret")] * 2
    assert confluence.queries == [
        {"username": "anna@example.com", "limit": "200", "start": start} for start in ("0", "2")
    ]


def test_with_a_user_name_the_wiki_is_cloud_and_knows_account_ids(confluence: Confluence) -> None:
    groups = WikiGroups(f"{confluence.url}/", ConfluenceSettings(user="bot", token="secret"), Clock())
    assert groups.of("a.ivanova") == (("payments",), 0.0)
    login = base64.b64encode(b"bot:secret").decode()
    assert confluence.asked == [("a.ivanova", f"Basic {login}")]
    assert confluence.queries == [{"accountId": "a.ivanova", "limit": "200", "start": "0"}]


def test_without_a_token_no_login_is_sent(confluence: Confluence) -> None:
    WikiGroups(confluence.url, ConfluenceSettings(), Clock()).of("a.ivanova")
    assert confluence.asked == [("a.ivanova", "")]


def test_a_listing_without_an_end_is_left_after_a_number_of_calls(
    confluence: Confluence, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiki_groups, "MOST_CALLS", 3)
    confluence.endless, confluence.groups = True, {"a": [f"g{number}" for number in range(20)]}
    assert len(wiki(confluence).of("a")[0]) == 3 * PAGE


def test_a_listing_that_gives_nothing_more_is_at_its_end_whatever_it_says(confluence: Confluence) -> None:
    confluence.endless = True
    assert wiki(confluence).of("a.ivanova") == (("payments",), 0.0)
    assert len(confluence.asked) == 2


@pytest.mark.parametrize("body", [{}, [], {"results": 1}, {"results": [{}]}, {"results": ["hr"]}, {"results": None}])
def test_an_answer_that_is_no_listing_is_none(confluence: Confluence, body: object) -> None:
    confluence.body = body
    known = wiki(confluence)
    for number in range(FAILURES + 1):
        with pytest.raises(StoreError, match="could not be asked"):
            known.of(f"somebody-{number}")
    assert len(confluence.asked) == FAILURES


def test_a_listing_without_links_is_whole(confluence: Confluence) -> None:
    confluence.body = {"results": [{"name": "HR"}]}
    assert wiki(confluence).of("a") == (("HR",), 0.0)


def test_the_people_who_asked_last_are_remembered(confluence: Confluence, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiki_groups, "REMEMBERED", 2)
    known = wiki(confluence)
    for user in ("a", "b", "c", "b", "c"):
        known.of(user)
    assert [user for user, _ in confluence.asked] == ["a", "b", "c"]
    known.of("a")
    assert len(confluence.asked) == 4


def test_an_answer_is_used_again_until_it_is_old(confluence: Confluence) -> None:
    clock = Clock()
    known = wiki(confluence, clock)
    known.of("a.ivanova")
    clock.now += ASK_AGAIN - 1
    assert known.of("A.Ivanova") == (("payments",), ASK_AGAIN - 1)
    assert (len(confluence.asked), ASK_AGAIN) == (1, 600.0)
    confluence.groups["a.ivanova"] = []
    clock.now += 1
    assert known.of("a.ivanova") == ((), 0.0)


def test_a_wiki_that_is_down_leaves_the_last_answer_with_its_age(confluence: Confluence) -> None:
    clock = Clock()
    known = wiki(confluence, clock)
    known.of("a.ivanova")
    confluence.down = True
    clock.now += 5000
    assert known.of("a.ivanova") == (("payments",), 5000.0)


def test_a_wiki_that_never_answered_is_an_error(confluence: Confluence) -> None:
    confluence.down = True
    with pytest.raises(StoreError, match="could not be asked"):
        wiki(confluence).of("a.ivanova")


def test_without_an_address_the_settings_are_wrong() -> None:
    with pytest.raises(SettingsError, match=r"wiki\.url"):
        WikiGroups("", ConfluenceSettings()).of("a")


def test_the_identity_gets_the_groups_of_its_user_name(confluence: Confluence) -> None:
    by_email = with_wiki_groups(ANNA, wiki(confluence), AccessSettings())
    assert by_email.groups == ("boss", "finance", "hr", "it")
    aliased = Identity(
        **{**{name: getattr(ANNA, name) for name in ("id", "email", "known")}, "aliases": ("a.ivanova",)}
    )
    assert with_wiki_groups(aliased, wiki(confluence), AccessSettings()).groups == ("payments",)


def test_a_display_name_is_not_asked_for_as_if_it_were_a_login(confluence: Confluence) -> None:
    liar = Identity(id="2", email="boris@example.com", name="a.ivanova", known=True)
    by_name = AccessSettings(user_attribute="name")
    assert with_wiki_groups(liar, wiki(confluence), by_name).groups == ()
    assert confluence.asked == []


def test_a_display_name_that_looks_like_an_address_gets_no_groups_of_that_address(confluence: Confluence) -> None:
    liar = Identity(id="2", email="boris@example.com", name="anna@example.com", known=True)
    by_name = AccessSettings(user_attribute="name", trust_names=True)
    assert with_wiki_groups(liar, wiki(confluence), by_name).groups == ()
    assert confluence.asked == []


def test_groups_that_are_too_old_do_not_count(confluence: Confluence) -> None:
    clock = Clock()
    known = wiki(confluence, clock)
    known.of("anna@example.com")
    confluence.down = True
    clock.now += 3600
    assert with_wiki_groups(ANNA, known, AccessSettings(max_age=3600)).groups == ("boss", "finance", "hr", "it")
    clock.now += 1
    assert with_wiki_groups(ANNA, known, AccessSettings(max_age=3600)).groups == ("hr",)


@pytest.mark.parametrize("max_age", [0, 10 * TRUSTED])
def test_an_answer_older_than_a_day_never_counts(confluence: Confluence, max_age: float) -> None:
    clock, settings = Clock(), AccessSettings(max_age=max_age)
    known = wiki(confluence, clock)
    known.of("anna@example.com")
    confluence.down = True
    clock.now += 86_400
    assert with_wiki_groups(ANNA, known, settings).groups == ("boss", "finance", "hr", "it")
    clock.now += 1
    assert with_wiki_groups(ANNA, known, settings).groups == ("hr",)


@pytest.mark.parametrize("code", [500, 503, 429])
def test_a_wiki_that_keeps_failing_is_left_alone_for_a_moment_and_then_tried_by_one(
    confluence: Confluence, code: int
) -> None:
    clock, confluence.code = Clock(), code
    known = wiki(confluence, clock)
    confluence.down = True
    for number in range(10):
        with pytest.raises(StoreError, match="could not be asked"):
            known.of(f"somebody-{number}")
    assert len(confluence.asked) == FAILURES
    clock.now += PAUSE
    confluence.down = False
    assert known.of("a.ivanova") == (("payments",), 0.0)


def test_a_person_whom_the_wiki_does_not_know_is_no_failure_of_the_wiki(confluence: Confluence) -> None:
    known = wiki(confluence)
    confluence.unknown = True
    for number in range(10):
        with pytest.raises(StoreError):
            known.of(f"somebody-{number}")
    assert len(confluence.asked) == 10
