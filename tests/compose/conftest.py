"""The one started compose file that all tests of this folder share, and the people before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.playwright_tools import tools as tools

if TYPE_CHECKING:  # playwright is there for the marked tests only
    from playwright.sync_api import Playwright

    from tests.compose.world import World


@pytest.fixture(scope="session")
def here(tools: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Every container of docker-compose.yml, a directory, a scripted model, the wiki's own site and Chromium."""
    from tests.compose.world import world

    with world(tools, tmp_path_factory.mktemp("compose")) as running:
        yield running
