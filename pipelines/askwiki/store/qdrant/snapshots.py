"""A shard's snapshot over Qdrant's HTTP interface: made, fetched, sent, deleted. Content is never held in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any
from urllib.parse import urlsplit

import httpx

from askwiki.errors import StoreError
from askwiki.masking import echoed
from askwiki.settings import StoreSettings
from askwiki.store.qdrant.client import trust

PATIENCE = 6 * 3_600.0  # seconds that a large shard may take to be written or taken in
PORT = 6333
REFUSED = (401, 403)


class Snapshots:
    """The node is named by its address; StoreError says what it answered."""

    def __init__(self, settings: StoreSettings) -> None:
        self._settings = settings

    def make(self, address: str, collection: str, shard: int) -> dict[str, Any]:
        """Its ``name``, ``size`` and ``checksum``."""
        with self._client(address) as client:
            answer = self._checked(address, client.post(_path(collection, shard), params={"wait": "true"}))
        found: dict[str, Any] = answer.json()["result"]
        return found

    def delete(self, address: str, collection: str, shard: int, name: str) -> None:
        with self._client(address) as client:
            self._checked(address, client.delete(f"{_path(collection, shard)}/{name}", params={"wait": "true"}))

    @contextmanager
    def download(self, address: str, collection: str, shard: int, name: str) -> Iterator[IO[bytes]]:
        with (
            self._client(address) as client,
            client.stream("GET", f"{_path(collection, shard)}/{name}") as answer,
        ):
            if answer.is_error:
                answer.read()
            self._checked(address, answer)
            yield _Content(answer)  # type: ignore[misc]

    def upload(self, address: str, collection: str, shard: int, content: IO[bytes], checksum: str) -> None:
        """The snapshot wins over what is there, on the other nodes that hold the shard too."""
        asked = {"wait": "true", "priority": "snapshot", **({"checksum": checksum} if checksum else {})}
        with self._client(address) as client:
            sent = client.post(f"{_path(collection, shard)}/upload", params=asked, files={"snapshot": content})
            self._checked(address, sent)

    @contextmanager
    def _client(self, address: str) -> Iterator[httpx.Client]:
        parts = urlsplit(address if "//" in address else f"http://{address}")
        base = f"{parts.scheme}://{parts.hostname}:{parts.port or PORT}{parts.path.rstrip('/')}"
        verify = trust(self._settings).get("verify", True) if parts.scheme == "https" else True
        headers = {"api-key": self._settings.qdrant_key} if self._settings.qdrant_key else {}
        waits = httpx.Timeout(PATIENCE, connect=self._settings.timeout)
        try:
            with httpx.Client(base_url=base, headers=headers, verify=verify, timeout=waits) as client:
                yield client
        except httpx.HTTPError as error:
            raise StoreError(f"The Qdrant server at {address} could not do it ({error}).") from error

    def _checked(self, address: str, answer: httpx.Response) -> httpx.Response:
        if answer.status_code in REFUSED:
            raise StoreError(f"The Qdrant server at {address} refused the key; check ASKWIKI_QDRANT_KEY.")
        if answer.is_error:
            said = echoed(answer.text, 300)
            raise StoreError(f"The Qdrant server at {address} answered {answer.status_code}: {said}")
        return answer


class _Content:
    """The bytes of an answer as a file that can only be read on."""

    def __init__(self, answer: httpx.Response) -> None:
        self._pieces = answer.iter_bytes()
        self._left = b""

    def read(self, size: int) -> bytes:
        while len(self._left) < size:
            piece = next(self._pieces, b"")
            if not piece:
                break
            self._left += piece
        given, self._left = self._left[:size], self._left[size:]
        return given


def _path(collection: str, shard: int) -> str:
    return f"/collections/{collection}/shards/{shard}/snapshots"
