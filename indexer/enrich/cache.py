"""What cost a model call is kept on disk by content hash, so that it is paid for once.

One SQLite file for all kinds (vectors, cuts, contexts, diagrams). It may be deleted at any time: the
next run only takes longer. Safe for several threads and several processes at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from askwiki.errors import StoreError

FILE = "cache.sqlite"
PRIVATE = 0o600  # contexts and cuts tell what restricted pages say
WAIT = 60.0  # seconds for another process that is writing
LOOK = 0.02  # seconds between two looks at whether it is done
TABLE = "CREATE TABLE IF NOT EXISTS cache (kind TEXT, key TEXT, value BLOB, PRIMARY KEY (kind, key)) WITHOUT ROWID"
KEYS_A_QUERY = 500  # SQLite's oldest limit is 999 variables a statement


def content_key(*parts: str | bytes) -> str:
    """A hash of the parts in their order; ("ab", "c") and ("a", "bc") differ."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


class Cache:
    """Bytes by (kind, key) in a folder, or in memory only when the folder is ``None``."""

    def __init__(self, folder: Path | None) -> None:
        self._file = folder / FILE if folder else None
        self._lock = threading.Lock()
        self._process = 0
        self._connection: sqlite3.Connection | None = None

    def get_many(self, kind: str, keys: Sequence[str]) -> dict[str, bytes]:
        """What is known of these keys; unknown ones are left out."""
        found: dict[str, bytes] = {}
        with self._use() as connection:
            for start in range(0, len(keys), KEYS_A_QUERY):
                some = keys[start : start + KEYS_A_QUERY]
                marks = ",".join("?" * len(some))
                rows = connection.execute(
                    f"SELECT key, value FROM cache WHERE kind = ? AND key IN ({marks})", (kind, *some)
                )
                found.update(rows)
        return found

    def put_many(self, kind: str, items: Mapping[str, bytes]) -> None:
        """Keep these, all or none; a later value replaces an earlier one."""
        with self._use() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")  # wait here, not in the middle
            connection.executemany(
                "INSERT OR REPLACE INTO cache VALUES (?, ?, ?)", [(kind, key, value) for key, value in items.items()]
            )

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    @contextmanager
    def _use(self) -> Iterator[sqlite3.Connection]:
        """The connection of this process (SQLite's must not cross a fork), one thread at a time."""
        with self._lock:
            try:
                if self._connection is None or self._process != os.getpid():
                    self._connection, self._process = self._open(), os.getpid()
                yield self._connection
            except (sqlite3.Error, OSError) as error:
                raise StoreError(
                    f"The cache {self._file or 'in memory'} cannot be used ({error}). "
                    "Delete it, make room if its disk is full, or set sync.cache to a folder that can be written."
                ) from error

    def _open(self) -> sqlite3.Connection:
        if self._file:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self._file, os.O_RDWR | os.O_CREAT, PRIVATE))  # SQLite gives its log the same mode
            with contextlib.suppress(PermissionError):  # another account's file, lent on purpose
                self._file.chmod(PRIVATE)
        # isolation_level=None: transactions are begun here, not guessed by the library
        connection = sqlite3.connect(
            self._file or ":memory:", timeout=WAIT, isolation_level=None, check_same_thread=False
        )
        try:
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous = NORMAL")  # a lost last write costs one model call
            connection.execute(TABLE)
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """SQLite waits for a writer by itself, but not when it is to begin its log while another process writes."""
    end = time.monotonic() + WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(LOOK)
