"""The started compose file, and the people who sit before its chat."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Playwright, expect

from askwiki.openwebui.provision import WebUi, sign_in
from tests.compose.engine import START_SECONDS, Project
from tests.compose.place import ADMIN_EMAIL, lay
from tests.e2e.browser import Chat, chromium, person, sign_in_by_directory, sign_in_by_email, window
from tests.e2e.wiki_site import wiki_site
from tests.support.running import reserved_port

SEEN_SECONDS = 180.0  # for anything on the screen, on a busy machine with all containers at work
OURS = ("pipelines", "indexer")
LASTING = ("qdrant", *OURS, "open-webui")  # what runs all the time
SCREENS = os.environ.get("COMPOSE_SCREENS", "")


@dataclass(slots=True)
class World:
    project: Project
    env: dict[str, str]
    url: str
    browser: Browser
    started: float  # seconds that the first start took, images built
    people: dict[str, BrowserContext] = field(default_factory=dict)

    def sitting(self, user: str) -> Chat:
        """A window of an employee who has signed in with the domain account."""
        if user not in self.people:
            chat = self.stranger()
            sign_in_by_directory(chat, user)
            self.people[user] = chat.page.context
            chat.page.close()
        return window(self.people[user], self.url)

    def panel(self) -> Chat:
        """A window of the admin."""
        if ADMIN_EMAIL not in self.people:
            chat = self.stranger()
            sign_in_by_email(chat, ADMIN_EMAIL, self.env["WEBUI_ADMIN_PASSWORD"])
            self.people[ADMIN_EMAIL] = chat.page.context
            chat.page.close()
        return window(self.people[ADMIN_EMAIL], self.url)

    def stranger(self) -> Chat:
        context = person(self.browser, set())
        context.set_default_timeout(1000 * SEEN_SECONDS)
        return window(context, self.url)

    def admin(self) -> WebUi:
        """Open WebUI's API as its admin."""
        return sign_in(self.url, ADMIN_EMAIL, self.env["WEBUI_ADMIN_PASSWORD"], wait=START_SECONDS)

    def shot(self, chat: Chat, name: str) -> None:
        if SCREENS:
            chat.shot(Path(SCREENS) / f"compose-{name}.png")


@contextlib.contextmanager
def world(tools: Playwright, folder: Path) -> Iterator[World]:
    """``docker compose up --build`` in a copy of the project; all of it is taken away afterwards, volumes too."""
    expect.set_options(timeout=1000 * SEEN_SECONDS)
    project = Project(f"askwiki-test-{os.getpid()}", folder / "askwiki")
    with reserved_port() as port:
        env = lay(project.folder, port)
    began = time.monotonic()
    try:
        project.compose("up", "--build", "--detach")
        project.await_health(*LASTING)
        if project.await_ended("webui-setup"):
            raise RuntimeError(f"The set-up of Open WebUI failed:\n{project.log('webui-setup')}")
        with wiki_site() as wiki, chromium(tools, {"wiki.example.com": wiki.port}) as browser:
            yield World(project, env, f"http://127.0.0.1:{port}", browser, time.monotonic() - began)
    finally:
        project.compose("down", "--volumes", "--timeout", "5", check=False)
