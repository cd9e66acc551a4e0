"""Who asks, from what Open WebUI sends: the user record, and the groups from where the settings say.

The server's key stands before all of this: whoever has it is Open WebUI. A person's own words (the
message, the model's name, further keys of the body) are never read here.
"""

from __future__ import annotations

import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from askwiki.access import fold, groups_too_old, names
from askwiki.data import Identity
from askwiki.directory import Directory
from askwiki.settings import AccessSettings
from askwiki.wiki_groups import WikiGroups

GROUPS_HEADER = "x-user-groups"  # Open WebUI: headers of the connection, {{USER_GROUPS}}
EMAIL_HEADERS = ("x-openwebui-user-email", "x-user-email")
UNRESOLVED = "{{"  # a template that Open WebUI did not fill
REMEMBERED = 20_000  # people whose groups are kept between requests


@dataclass(slots=True)
class GroupMemory:
    """The groups last seen in a header, per e-mail: the filter's request carries no such header."""

    clock: Callable[[], float] = time.monotonic
    _seen: dict[str, tuple[tuple[str, ...], float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def learn(self, email: str, groups: tuple[str, ...]) -> None:
        with self._lock:
            self._seen.pop(fold(email), None)
            self._seen[fold(email)] = (groups, self.clock())
            while len(self._seen) > REMEMBERED:
                self._seen.pop(next(iter(self._seen)))

    def recall(self, email: str) -> tuple[tuple[str, ...], float] | None:
        """(groups, their age in seconds), None when this person's groups were never seen."""
        with self._lock:
            seen = self._seen.get(fold(email))
        return seen and (seen[0], self.clock() - seen[1])


def identity_of(
    user: object,
    headers: Mapping[str, str],
    *,
    settings: AccessSettings,
    directory: Directory,
    memory: GroupMemory,
    recall: bool = False,
) -> Identity:
    """The person behind a request. ``user`` is the body's record, header names are in lower case.

    Nobody is known without a record that has an e-mail; when a header names another person than the
    body does, nobody is believed. ``recall`` is for the filter, whose request carries no groups: it
    may use those of the person's last question.
    """
    record = {key: _text(user.get(key)) for key in ("id", "email", "name", "role")} if isinstance(user, dict) else {}
    email = record.get("email", "")
    stated = next((headers[name] for name in EMAIL_HEADERS if _filled(headers.get(name))), "")
    if not email or (stated and fold(urllib.parse.unquote(stated)) != fold(email)):
        return Identity()
    learned, age = _learned_groups(email, headers, settings, memory, recall)
    listed = directory.groups_of(email) if "file" in names(settings.groups_from) else frozenset()
    identity = Identity(
        **record,
        groups=tuple(sorted(directory.wiki_groups((*learned, *listed)))),
        known=True,
        groups_age=age,
        aliases=tuple(sorted(directory.wiki_users(email))),
    )
    if groups_too_old(identity, settings):  # what the file lists does not age
        return _without_learned(identity, directory.wiki_groups(listed))
    return identity


def with_wiki_groups(identity: Identity, wiki: WikiGroups, settings: AccessSettings) -> Identity:
    """The identity with the groups that Confluence gives for it; answers that are too old do not count.

    Asked for by the person's user name in Confluence: an alias of ``groups.yaml``, else the stated attribute.
    """
    stated = {"email": identity.email, "name": identity.name, "id": identity.id}[settings.user_attribute]
    found: set[str] = set()
    for user in identity.aliases or (stated,):
        groups, age = wiki.of(user)
        if not settings.max_age or age <= settings.max_age:
            found.update(fold(group) for group in groups)
    return replace(identity, groups=tuple(sorted({*identity.groups, *found})))


def header_groups(value: str | None) -> tuple[str, ...] | None:
    """Open WebUI's comma-joined, percent-encoded names; None when the header was not filled."""
    if value is None or UNRESOLVED in value:
        return None
    return tuple(urllib.parse.unquote(name).strip() for name in value.split(",") if name.strip())


def _learned_groups(
    email: str, headers: Mapping[str, str], settings: AccessSettings, memory: GroupMemory, recall: bool
) -> tuple[tuple[str, ...], float | None]:
    if "header" not in names(settings.groups_from):
        return (), None
    groups = header_groups(headers.get(GROUPS_HEADER))
    if groups is None and recall:
        return memory.recall(email) or ((), None)
    memory.learn(email, groups or ())
    return groups or (), 0.0


def _without_learned(identity: Identity, listed: frozenset[str]) -> Identity:
    return Identity(
        id=identity.id,
        email=identity.email,
        name=identity.name,
        role=identity.role,
        groups=tuple(sorted(listed)),
        known=True,
        aliases=identity.aliases,
    )


def _filled(value: str | None) -> bool:
    return bool(value and value.strip()) and UNRESOLVED not in str(value)


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
