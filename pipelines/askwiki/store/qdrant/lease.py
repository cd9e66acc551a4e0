"""Who writes a source into a shared collection: a record that its owner renews until it is done.

Several indexers may fill one collection, each with its own sources. The record is written on condition,
so of two that come at once one wins; that of a process that died runs out.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from askwiki.errors import StoreError
from askwiki.store.engine import Delete, Overwrite, Row, Scroll, Where
from askwiki.store.payload import point_id
from askwiki.store.qdrant.engine import ServerEngine

LEASE_SECONDS = 120.0  # after which a source is free again although nobody gave it back
RENEW_SECONDS = 30.0
CLOCKS = 600.0  # seconds by which the clocks of two machines may differ

logger = logging.getLogger(__name__)


class Lease:
    """Holds one source until ``release``; StoreError at once when another indexer has it."""

    def __init__(self, engine: ServerEngine, source: str) -> None:
        self._engine = engine
        self._source = source
        self._owner = uuid.uuid4().hex
        self._id = point_id("lock", source)
        found = _holder(engine, source)
        if found and _alive(found):
            raise _taken(source, found)
        engine.insert(self._row(), replacing=Where({"owner": [found["owner"]]}) if found else None)
        now_there = _holder(engine, source)
        if now_there.get("owner") != self._owner:
            raise _taken(source, now_there)
        self._released = threading.Event()
        threading.Thread(target=self._renew, name=f"lease of {source}", daemon=True).start()

    def release(self) -> None:
        self._released.set()
        self._engine.write([Delete(Where({"record": ["lock"], "owner": [self._owner]}))])

    def _row(self) -> Row:
        payload = {
            "record": "lock",
            "source": self._source,
            "owner": self._owner,
            "host": socket.gethostname(),
            "process": os.getpid(),
            "until": time.time() + LEASE_SECONDS,
        }
        return Row(self._id, payload)

    def _renew(self) -> None:
        while not self._released.wait(RENEW_SECONDS):
            try:
                self._engine.write([Overwrite(self._id, self._row().payload)])
            except StoreError as error:  # the writer itself will meet it and say so
                logger.warning("The lease of %s could not be renewed: %s", self._source, error)


def others_write(engine: ServerEngine, own: set[str]) -> bool:
    """Whether an indexer is at work on a source that is not among ``own``."""
    rows = engine.scroll(Scroll(Where({"record": ["lock"]})))
    return any(row.payload["source"] not in own and _alive(row.payload) for row in rows)


def _holder(engine: ServerEngine, source: str) -> Mapping[str, Any]:
    rows = list(engine.scroll(Scroll(Where({"record": ["lock"], "source": [source]}))))
    return rows[0].payload if rows else {}


def _alive(lock: Mapping[str, Any]) -> bool:
    """Not run out, not stamped so far ahead that only a wrong clock can have done it, and here the process exists."""
    here = lock["host"] == socket.gethostname()
    left = lock["until"] - time.time()
    return bool(0 < left < LEASE_SECONDS + CLOCKS) and (not here or Path("/proc", str(lock["process"])).exists())


def _taken(source: str, lock: Mapping[str, Any]) -> StoreError:
    who = f"process {lock.get('process')} on {lock.get('host')}"
    return StoreError(f"Another indexer ({who}) is writing {source}; wait for it to end and run again.")
