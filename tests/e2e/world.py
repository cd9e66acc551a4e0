"""The running parts of the chat's tests, and the people who sit before it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Playwright, expect

from askwiki.openwebui.provision import WebUi, sign_in
from tests.e2e.browser import PATIENCE, Chat, chromium, person, sign_in_by_directory, sign_in_by_email, window
from tests.e2e.scenes import SCENES, WIKI_URL
from tests.e2e.script import ENVIRONMENT, ROLES, Script
from tests.e2e.stack import PLACE, Stack, index_sample, settings_of, stack
from tests.e2e.wiki_site import WikiSite, wiki_site
from tests.support.running import metric
from tests.support.scripted import ScriptedServer

HOME = {"127.0.0.1", "wiki.example.com"}  # the only hosts that a page may ask for anything
ADMIN = "admin"


@dataclass(slots=True)
class World:
    """``people`` = the browsers of those who have signed in, ``hosts`` = whom any page asked for anything."""

    stack: Stack
    wiki: WikiSite
    llm: ScriptedServer
    browser: Browser
    people: dict[str, BrowserContext] = field(default_factory=dict)
    hosts: set[str] = field(default_factory=set)

    @contextlib.contextmanager
    def sitting(self, who: str, **form: Any) -> Iterator[Chat]:
        """A window of somebody who has signed in; no page of it may ask a foreign host for anything."""
        if who not in self.people:
            self.people[who] = self._signed_in(who)
        chat = window(self.people[who], self.stack.webui.url, **form)
        try:
            yield chat
        finally:
            chat.page.close()
        assert self.hosts <= HOME

    def stranger(self) -> Chat:
        """A window of a browser that has never been here."""
        return window(person(self.browser, self.hosts), self.stack.webui.url)

    def _signed_in(self, who: str) -> BrowserContext:
        chat = self.stranger()
        if who == ADMIN:
            sign_in_by_email(chat, self.stack.webui.email, self.stack.webui.password)
        else:
            sign_in_by_directory(chat, who)
        chat.page.close()
        return chat.page.context

    def admin(self) -> WebUi:
        """Open WebUI's API as its admin."""
        webui = self.stack.webui
        return sign_in(webui.url, webui.email, webui.password, wait=PATIENCE)

    def asked(self, role: str) -> int:
        """How often the language model was asked in this role."""
        return sum(asking.body["model"] == role for asking in self.llm.requests)

    def counter(self, name: str) -> float:
        """A counter of the server's metrics, its labels added up."""
        return metric(self.stack.server, name)


@contextlib.contextmanager
def world(tools: Playwright, folder: Path) -> Iterator[World]:
    """Start all of it; ``folder`` holds the state and the logs of this run."""
    expect.set_options(timeout=1000 * PATIENCE)
    with wiki_site() as wiki, ScriptedServer(Script(SCENES), models=ROLES) as llm:
        environ = settings_of(PLACE, WIKI_URL, {**ENVIRONMENT, "ASKWIKI_LLM_URL": llm.url})
        index_sample(environ)
        with stack(folder, environ) as running, chromium(tools, {"wiki.example.com": wiki.port}) as browser:
            yield World(running, wiki, llm, browser)
