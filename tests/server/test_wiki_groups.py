"""Groups asked of Confluence itself: paged, remembered with their age, closed when nobody answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from askwiki.access.identity import with_wiki_groups
from askwiki.access.wiki_groups import ASK_AGAIN, WikiGroups
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
        self.down = self.unknown = False

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
        links = {"next": "/more"} if start + PAGE < len(groups) else {}
        body = {"results": [{"type": "group", "name": name} for name in groups[start : start + PAGE]], "_links": links}
        self.send_response(503 if self.server.down else 404 if self.server.unknown else 200)
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


def test_an_answer_is_used_again_until_it_is_old(confluence: Confluence) -> None:
    clock = Clock()
    known = wiki(confluence, clock)
    known.of("a.ivanova")
    clock.now += ASK_AGAIN - 1
    assert known.of("A.Ivanova") == (("payments",), ASK_AGAIN - 1)
    assert len(confluence.asked) == 1
    confluence.groups["a.ivanova"] = []
    clock.now += 2
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
    clock.now += AccessSettings().max_age + 1
    assert with_wiki_groups(ANNA, known, AccessSettings()).groups == ("hr",)


def test_a_wiki_that_keeps_failing_is_left_alone_for_a_moment_and_then_tried_by_one(confluence: Confluence) -> None:
    clock = Clock()
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
