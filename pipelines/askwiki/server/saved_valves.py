"""Valves that another server beside this one has saved: several share the folders where the admin's valves are kept.

The stock server reads them when it starts, and the panel saves them at whichever server it happens to reach.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)


class SavedValves:
    """``plugins`` = id -> loaded plugin, ``files`` = id -> its saved valves, looked at before a request."""

    def __init__(self, plugins: Mapping[str, Any], files: Mapping[str, Path]) -> None:
        self._plugins, self._files = plugins, files
        self._seen: dict[str, int] = {}

    def note(self) -> None:
        """What is saved now is in force here: it was read at the start, or saved here."""
        self._seen = {name: _stamp(file) for name, file in self._files.items()}

    def renew(self) -> None:
        """Put into force what was saved elsewhere since."""
        for name, file in self._files.items():
            stamp = _stamp(file)
            if stamp == self._seen.get(name):
                continue
            try:
                values = json.loads(file.read_text(encoding="utf-8"))
                if values:
                    plugin = self._plugins[name]
                    plugin.valves = type(plugin.valves)(**values)
            except (OSError, ValueError, TypeError, RecursionError) as error:  # half written: whole at the next request
                logger.debug("the valves of %s saved elsewhere cannot be read yet: %s", name, error)
                continue
            self._seen[name] = stamp


def _stamp(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0
