"""The filter's result on its way to the pipe: sealed with the server's key, bound to its message.

Open WebUI carries one extra key of the body from the filter to the pipe, and so could anybody who
calls Open WebUI's API with a body of his own. What is unsigned, changed, old, or was sealed for another
person or another message is ignored: the pipe then works the question out itself.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Mapping
from typing import Any

BODY_KEY = "askwiki"
VERSION = 1
MAX_AGE = 900.0  # seconds from filter to pipe; Open WebUI waits 300 at most for a filter
STOCK_KEY = "0p3n-w3bu!"  # the Pipelines server's public default


class Signer:
    """Seals and opens; without a secret server key it seals with one of its own, good for this process."""

    def __init__(self, server_key: str) -> None:
        secret = server_key if server_key and server_key != STOCK_KEY else secrets.token_hex()
        self._key = hashlib.sha256(b"askwiki: filter to pipe\0" + secret.encode()).digest()

    def seal(self, payload: Mapping[str, Any], *, message: str, person: str) -> dict[str, Any]:
        """``payload`` (JSON) with its signature, good for this message of this person."""
        sealed = {"version": VERSION, "at": int(time.time()), "payload": dict(payload)}
        return {**sealed, "signature": self._signature(sealed, message, person)}

    def open(self, sealed: object, *, message: str, person: str) -> Mapping[str, Any] | None:
        """The payload, or None when this is not ours, not whole, not fresh, or meant for something else."""
        if not isinstance(sealed, dict) or not isinstance(sealed.get("payload"), dict):
            return None
        at = sealed.get("at")
        if not isinstance(at, int):
            return None
        content = {key: sealed.get(key) for key in ("version", "at", "payload")}
        signature = sealed.get("signature")
        try:
            expected = self._signature(content, message, person)
        except (TypeError, ValueError, RecursionError):  # no JSON of ours
            return None
        if not isinstance(signature, str) or not hmac.compare_digest(
            signature.encode("utf-8", "replace"), expected.encode()
        ):
            return None
        fresh = content["version"] == VERSION and 0 <= time.time() - at + 1 <= MAX_AGE
        payload: Mapping[str, Any] = sealed["payload"]
        return payload if fresh else None

    def _signature(self, content: Mapping[str, Any], message: str, person: str) -> str:
        written = json.dumps([content, message, person], sort_keys=True, allow_nan=False)
        return hmac.new(self._key, written.encode(), hashlib.sha256).hexdigest()
