"""The Qdrant server that the tests marked ``server`` share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from askwiki.settings import StoreSettings
from tests.support.qdrant import HOW, binary, running


@pytest.fixture(scope="session")
def qdrant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreSettings]:
    """Where the server is: the one that ``ASKWIKI_QDRANT_URL`` names, else one of our own."""
    if url := os.environ.get("ASKWIKI_QDRANT_URL"):
        key = os.environ.get("ASKWIKI_QDRANT_KEY", "")
        yield StoreSettings(qdrant_url=url, qdrant_key=key, grace=0.0, batch=2)
    elif binary():
        with running(tmp_path_factory.mktemp("qdrant")) as server:
            yield server.settings()
    else:
        pytest.skip(HOW)
