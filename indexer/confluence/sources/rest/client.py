"""Confluence's REST API over HTTP: tokens, paging by ``_links.next``, patience with a busy server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import requests
from urllib3.exceptions import HTTPError

from askwiki.access.wiki_session import wiki_session
from askwiki.calls.retry import retry_after
from askwiki.errors import SourceError
from askwiki.masking import remember_address
from askwiki.settings import ConfluenceSettings
from indexer.confluence.sources.rest.outage import Outage, Waits

BUSY = frozenset({429, 500, 502, 503, 504})  # answers that may be others a moment later
MAXIMUM_FILE = 20 << 20  # bytes of an attachment that is read for its diagram
MAXIMUM_REQUESTS = 100_000  # of one listing; a server that never ends its pages is broken
MOST_EMPTY = 100  # answers of a listing in a row without a result: rights are applied after the cut into pieces


class NotForUs(SourceError):
    """The wiki answers that there is nothing at this address, or nothing for us (403, 404).

    Every other SourceError of a request says nothing about what was asked for.
    """


class RestClient:
    """GET requests against one wiki; never sends its token to another host."""

    def __init__(self, base: str, settings: ConfluenceSettings, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.base = base.rstrip("/")
        self._settings = settings
        self._sleep = sleep
        self._outage = Outage()
        self._session = wiki_session(settings)
        self._session.headers["Accept"] = "application/json"
        remember_address(base)

    def get(self, path: str, parameters: Mapping[str, str] | None = None) -> Any:
        """The JSON at ``path`` (below the base, or a whole address of the same host)."""
        response = self._request(self._address(path, parameters))
        try:
            return response.json()
        except (ValueError, RecursionError) as error:
            raise SourceError(f"{self.base} answered {path} with something that is no JSON.") from error

    @property
    def down(self) -> bool:
        """Whether the wiki failed so often in a row that it is not asked any more."""
        return self._outage.down

    def results(self, path: str, parameters: Mapping[str, str]) -> Iterator[tuple[Any, str]]:
        """Every result of a paged listing with the base address that the answer names.

        Goes on until there is no ``_links.next``: the server lowers ``limit`` in silence, so the
        number of results says nothing about the end. SourceError when an answer is no listing, or
        when the listing never ends.
        """
        address = self._address(path, parameters)
        asked: set[str] = set()
        seen: set[str] = set()  # ids
        empty = 0
        while address not in asked and len(asked) < MAXIMUM_REQUESTS and empty < MOST_EMPTY:
            asked.add(address)
            answer = self.get(address)
            results = answer.get("results") if isinstance(answer, dict) else None
            if not isinstance(results, list):
                raise SourceError(f"{self.base} answered {path} with something that is no list of results.")
            links = answer["_links"] if isinstance(answer.get("_links"), dict) else {}
            base = links["base"] if isinstance(links.get("base"), str) and links["base"] else self.base
            ids = {str(result.get("id")) for result in results if isinstance(result, dict)}
            empty = 0 if results else empty + 1
            following = links.get("next")
            if following and ids and ids <= seen:  # single ones come twice when pages are made meanwhile
                break
            seen |= ids
            for result in results:
                yield result, base
            if not following:
                return
            address = self._following(str(following))
        raise SourceError(f"The listing {path} of {self.base} never ends: the server repeats its pages.")

    def bytes_of(self, path: str) -> bytes | None:
        """A file, None when it is not there or too large."""
        try:
            response = self._request(self._address(path, None), stream=True)
            data: bytes = response.raw.read(MAXIMUM_FILE + 1, decode_content=True)
        except (SourceError, requests.RequestException, HTTPError, OSError):
            return None
        return data if len(data) <= MAXIMUM_FILE else None

    def _address(self, path: str, parameters: Mapping[str, str] | None) -> str:
        address = path if "://" in path else self.base + path
        if _host(address) != _host(self.base):
            raise SourceError(f"{self.base} sends us on to {_host(address)}; its pages are not read from there.")
        return f"{address}?{urlencode(parameters)}" if parameters else address

    def _following(self, following: str) -> str:
        """``next`` may be whole, begin with the context path of the wiki, or begin behind it."""
        if "://" in following:
            return following
        context = urlsplit(self.base).path
        if not context or following.startswith(f"{context}/"):
            return urljoin(self.base, following)
        return self.base + following

    def _request(self, address: str, *, stream: bool = False) -> requests.Response:
        """The answer to a request, however often it takes; SourceError when it is none of success."""
        self._outage.refuse()
        waits = Waits(tries=self._outage.tries)
        while True:
            try:
                response = self._send(address, stream=stream)
            except requests.RequestException as error:
                reason, asked = f"does not answer ({type(error).__name__})", None
            else:
                if response.status_code not in BUSY:
                    self._outage.answered()
                    self._check(response)
                    return response
                reason, asked = f"answers {response.status_code}", retry_after(response.headers.get("Retry-After"))
                response.close()
            wait = waits.next(asked)
            if wait is None:
                sentence = f"{self.base} {reason}, {waits.used} times in a row."
                self._outage.failed(sentence, self._answers)
                raise SourceError(f"{sentence} Try again later; what is in stays in.")
            self._sleep(wait)

    def _send(self, address: str, *, stream: bool = False) -> requests.Response:
        return self._session.get(address, timeout=self._settings.timeout, stream=stream, allow_redirects=False)

    def _answers(self) -> bool:
        """Whether the wiki answers the smallest question: then it is not down, what was asked for is broken."""
        try:
            response = self._send(f"{self.base}/rest/api/content?limit=1")
        except requests.RequestException:
            return False
        return response.status_code not in BUSY

    def _check(self, response: requests.Response) -> None:
        code = response.status_code
        if code in (401, 403):
            kind = NotForUs if code == 403 else SourceError  # 401: the token has run out, of no page in particular
            raise kind(f"{self.base} refuses us ({code}). Check ASKWIKI_CONFLUENCE_TOKEN and what its user may read.")
        if 300 <= code < 400:
            raise SourceError(
                f"{self.base} redirects ({code}); set the wiki's address as it is, context path included."
            )
        if code == 404:
            raise NotForUs(f"{self.base} has nothing at {urlsplit(response.url).path} (404). Check address and space.")
        if code >= 400:
            raise SourceError(f"{self.base} answers {code} to {urlsplit(response.url).path}.")


def _host(address: str) -> str:
    """Where a request goes; of what is no address, all of it, which is no host of ours."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    return f"{parts.scheme}://{parts.netloc}"
