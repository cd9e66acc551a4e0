"""The one place that takes secrets out of text: no key reaches a log, the doctor's report or a chat.

A server echoes the key it refused, a library's error names the address with the password in it. So every
error of ours, every line of the log and every finding goes through ``masked``: it knows the secrets of this
process by value (``remember``), and those that stand in any address or header by their place.
"""

from __future__ import annotations

import base64
import functools
import json
import re
import threading
import urllib.parse

MASK = "***"
SHORTEST = 4  # characters; what is shorter guards nothing and would mask half of every sentence
WORDLIKE = 8  # below this a secret is masked only where it stands alone, and not at all when it is a mere word
NAMES = r"(?:api[-_]?key|access[-_]?token|auth|key|passwd|password|pwd|secret|sig|signature|token)"

# Each pattern begins with letters or signs that it does not read again, so it is linear.
_IN_ADDRESS = re.compile(r"(?<=//)[^/\s@\"'<>]{1,1000}@")
_IN_QUERY = re.compile(rf"([?&;]{NAMES}=)[^&;\s\"'<>#)]+", re.IGNORECASE)
_IN_HEADER = re.compile(r"\b(bearer|basic)(\s{1,3})[\w.~+/=-]{16,}", re.IGNORECASE)
_QUERY_NAME = re.compile(NAMES, re.IGNORECASE)

_lock = threading.Lock()
_secrets: frozenset[str] = frozenset()


def remember(*secrets: str) -> None:
    """Secrets of this process, to be masked from now on in every form that an echo may have."""
    global _secrets
    forms = {form for secret in secrets if _guards(secret) for form in _forms(secret) if _guards(form)}
    with _lock:
        _secrets = _secrets | forms


def remember_address(address: str) -> None:
    """The password and the keys that stand in an address (of a wiki, a model, a store)."""
    for part in address.split(","):
        try:
            parts = urllib.parse.urlsplit(part.strip())
        except ValueError:  # no address; whoever uses it says so
            continue
        userinfo, at, _ = parts.netloc.rpartition("@")
        name, colon, password = userinfo.partition(":")
        named = [value for key, value in urllib.parse.parse_qsl(parts.query) if _QUERY_NAME.fullmatch(key)]
        remember(*named, *([password if colon else name] if at else []))


def remember_login(name: str, secret: str) -> None:
    """A password, and the header of basic authentication that is made of it."""
    if secret:
        remember(secret, base64.b64encode(f"{name}:{secret}".encode()).decode())


def masked(text: str) -> str:
    """``text`` without secrets."""
    known = _secrets
    if known:
        text = _pattern(known).sub(MASK, text)
    text = _IN_ADDRESS.sub(f"{MASK}@", text)
    text = _IN_QUERY.sub(rf"\1{MASK}", text)
    return _IN_HEADER.sub(rf"\1\2{MASK}", text)


def echoed(text: str, most: int) -> str:
    """A server's own words for a sentence of ours: secrets first, then cut, so that no half of a key is left."""
    return " ".join(masked(text).split())[:most]


@functools.lru_cache(maxsize=4)
def _pattern(secrets: frozenset[str]) -> re.Pattern[str]:
    longest_first = sorted(secrets, key=lambda secret: (-len(secret), secret))
    return re.compile("|".join(map(_alone, longest_first)), re.IGNORECASE)


def _guards(secret: str) -> bool:
    return len(secret.strip()) >= WORDLIKE or (len(secret.strip()) >= SHORTEST and not secret.isalpha())


def _alone(secret: str) -> str:
    return re.escape(secret) if len(secret) >= WORDLIKE else rf"(?<!\w){re.escape(secret)}(?!\w)"


def _forms(secret: str) -> set[str]:
    """As it is, as an address has it, as JSON and Python write it."""
    quoted = {urllib.parse.quote(secret, safe=safe) for safe in ("", "/")} | {urllib.parse.quote_plus(secret)}
    written = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
    return {secret, urllib.parse.unquote(secret)} | quoted | written
