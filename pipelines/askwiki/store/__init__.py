"""The vector store: one small port, two adapters (embedded folder, Qdrant server)."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from askwiki.data import Calibration
from askwiki.settings import StoreSettings
from askwiki.store.calibrated import to_content
from askwiki.store.port import Reader, Writer

__all__ = ["Reader", "Writer", "open_reader", "open_writer", "remember_calibration"]


def open_reader(settings: StoreSettings) -> Reader:
    """Never fails on an empty or missing index: it then has count 0 and an empty fingerprint."""
    if settings.qdrant_url:
        from askwiki.store.qdrant.server import open_server
        from askwiki.store.qdrant.store import server_reader

        return server_reader(open_server(settings))
    from askwiki.store.embedded.store import embedded_reader

    return embedded_reader(Path(settings.path))


def open_writer(settings: StoreSettings, fingerprint: Mapping[str, Any], *, rebuild: bool = False) -> Writer:
    """StoreMismatch when the index was built with another fingerprint, StoreError when it is locked.

    With ``rebuild`` a new index is filled beside the one that answers; ``commit`` switches to it.
    """
    if settings.qdrant_url:
        from askwiki.store.qdrant.server import open_server
        from askwiki.store.qdrant.store import server_writer

        return server_writer(open_server(settings), fingerprint, rebuild=rebuild)
    from askwiki.store.embedded.store import embedded_writer

    return embedded_writer(Path(settings.path), fingerprint, rebuild=rebuild)


def remember_calibration(settings: StoreSettings, calibration: Calibration, fingerprint: Mapping[str, Any]) -> None:
    """Beside the index that answers, in force from the next question on. StoreError when there is none."""
    content = to_content(calibration, fingerprint)
    if settings.qdrant_url:
        from askwiki.store.qdrant import store
        from askwiki.store.qdrant.server import open_server

        with contextlib.closing(open_server(settings)) as server:
            store.remember_calibration(server, content)
        return
    from askwiki.store.embedded.calibration import write_calibration

    write_calibration(Path(settings.path), content)
