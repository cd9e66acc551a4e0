"""A person's groups as Confluence itself knows them, asked over its API and remembered for a while.

``GET /rest/api/user/memberof`` gives the groups of a user: by ``username`` on Server and Data Center, by
``accountId`` on Cloud; the answer comes in pages. Needs an account that may see users.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import requests

from askwiki.access.rights import fold
from askwiki.access.wiki_session import wiki_session
from askwiki.calls.breaker import Breaker
from askwiki.errors import SettingsError, StoreError
from askwiki.settings import ConfluenceSettings

PAGE = 200  # groups a call
MOST_CALLS = 50  # for one person; nobody is in ten thousand groups
TRUSTED = 86_400.0  # seconds; an answer older than this says nothing any more
ASK_AGAIN = 600.0  # seconds; a known answer younger than this is used as it is
REMEMBERED = 20_000  # people


@dataclass(slots=True)
class WikiGroups:
    """Thread-safe. Answers carry their age in seconds: what is too old is for ``access`` to judge."""

    url: str  # of the wiki
    settings: ConfluenceSettings
    clock: Callable[[], float] = time.monotonic
    _known: dict[str, tuple[tuple[str, ...], float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _breaker: Breaker = field(init=False)

    def __post_init__(self) -> None:
        self._breaker = Breaker(clock=self.clock)

    def of(self, user: str) -> tuple[tuple[str, ...], float]:
        """(groups, age). A wiki that does not answer: the last answer, however old; none at all: StoreError."""
        with self._lock:
            known = self._known.get(fold(user))
        if known and self.clock() - known[1] < ASK_AGAIN:
            return known[0], self.clock() - known[1]
        try:
            groups = self._guarded(user)
        except (requests.RequestException, ValueError, KeyError, TypeError) as error:
            if known:
                return known[0], self.clock() - known[1]
            raise StoreError(
                f"The groups of a person could not be asked of {self.url}: {type(error).__name__}."
            ) from error
        with self._lock:
            self._known.pop(fold(user), None)
            self._known[fold(user)] = groups, self.clock()
            while len(self._known) > REMEMBERED:
                self._known.pop(next(iter(self._known)))
        return groups, 0.0

    def _guarded(self, user: str) -> tuple[str, ...]:
        """One call, unless the wiki has just failed several times: then each question would wait for it in vain."""
        if not self._breaker.allows():
            raise requests.ConnectionError("left alone for a moment")
        try:
            groups = self._ask(user)
        except requests.HTTPError as error:
            status = error.response.status_code if error.response is not None else 0
            if status >= 500 or status == 429:
                self._breaker.failed()
            else:  # it answers, though not to what was asked of this person
                self._breaker.succeeded()
            raise
        except (requests.RequestException, ValueError, KeyError, TypeError):
            self._breaker.failed()
            raise
        self._breaker.succeeded()
        return groups

    def _ask(self, user: str) -> tuple[str, ...]:
        if not self.url:
            raise SettingsError("access.groups_from names rest, so wiki.url must be set (ASKWIKI_WIKI_URL).")
        groups: list[str] = []
        parameter = "accountId" if self.settings.user else "username"  # basic authentication = Cloud
        with wiki_session(self.settings) as session:
            for _ in range(MOST_CALLS):
                answer = session.get(
                    f"{self.url.rstrip('/')}/rest/api/user/memberof",
                    params={parameter: user, "limit": str(PAGE), "start": str(len(groups))},
                    timeout=self.settings.timeout,
                )
                answer.raise_for_status()
                told = answer.json()
                found = [group["name"] for group in told["results"]]
                if not all(isinstance(name, str) for name in found):
                    raise ValueError("a group without a name")
                groups += found
                if not found or "next" not in (told.get("_links") or {}):
                    break
        return tuple(groups)
