"""The fixture that both folders with a browser share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # playwright is there for the marked tests only
    from playwright.sync_api import Playwright


@pytest.fixture(scope="session")
def tools() -> Iterator[Playwright]:
    """Playwright itself, which can run once in a process."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        yield running
