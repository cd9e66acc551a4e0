"""The one running chat that all tests of this folder share, and the people before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.playwright_tools import tools as tools

if TYPE_CHECKING:  # playwright is there for the marked tests only
    from playwright.sync_api import Playwright

    from tests.e2e.browser import Chat
    from tests.e2e.world import World


@pytest.fixture(scope="session")
def here(tools: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The sample wiki, the scripted model, our server, the directory, Open WebUI and Chromium."""
    from tests.e2e.world import world

    with world(tools, tmp_path_factory.mktemp("chat")) as running:
        yield running


@pytest.fixture
def belova(here: World) -> Iterator[Chat]:
    """Anna, of the group hr-only, before an empty chat."""
    with here.sitting("a.belova") as chat:
        yield chat.open()


@pytest.fixture
def sokolov(here: World) -> Iterator[Chat]:
    """Mikhail, of no group but everybody's, before an empty chat."""
    with here.sitting("m.sokolov") as chat:
        yield chat.open()
