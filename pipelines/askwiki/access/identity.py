"""Who asks, from what Open WebUI sends: the user record, and the groups from where the settings say.

The server's key stands before all of this: whoever has it is Open WebUI. A person's own words (the
message, the model's name, further keys of the body) are never read here.
"""

from __future__ import annotations

import functools
import logging
import threading
import time
import urllib.parse
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from askwiki.access.directory import Directory
from askwiki.access.rights import fold, groups_too_old, names, stated_user
from askwiki.access.wiki_groups import TRUSTED, WikiGroups
from askwiki.data import Identity
from askwiki.metrics import METRICS
from askwiki.settings import AccessSettings

logger = logging.getLogger(__name__)
GROUPS_HEADER = "x-user-groups"  # Open WebUI: headers of the connection, {{USER_GROUPS}}
IDS_HEADER = "x-user-group-ids"  # {{USER_GROUP_IDS}}: as many as there are groups, no comma in any
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
    known: Callable[[], Collection[str]] = frozenset,
) -> Identity:
    """The person behind a request. ``user`` is the body's record, header names are in lower case.

    Nobody is known without a record that has an e-mail; when a header names another person than the
    body does, nobody is believed. ``recall`` is for the filter, whose request carries no groups: it
    may use those of the person's last question. ``known`` = the groups' names in the wiki's rights.
    """
    record = {key: _text(user.get(key)) for key in ("id", "email", "name", "role")} if isinstance(user, dict) else {}
    email = record.get("email", "")
    stated = {fold(urllib.parse.unquote(headers[name])) for name in EMAIL_HEADERS if _filled(headers.get(name))}
    if not email or stated - {fold(email)}:
        return Identity()
    learned, age = _learned_groups(email, headers, settings, directory, memory, recall, known)
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
    found: set[str] = set()
    for user in identity.aliases or filter(None, [stated_user(identity, settings)]):
        groups, age = wiki.of(user)
        if age <= min(TRUSTED, settings.max_age or TRUSTED):
            found.update(fold(group) for group in groups)
    return replace(identity, groups=tuple(sorted({*identity.groups, *found})))


class Ambiguous(Exception):
    """The header's names cannot be told apart: a name may hold a comma. ``ids`` = the groups' ids, where sent."""

    def __init__(self, value: str, ids: tuple[str, ...] | None) -> None:
        super().__init__(
            f"The groups of a person cannot be told apart in «{value}»: "
            + ("Open WebUI did not say how many they are" if ids is None else f"they are {len(ids)}")
            + f", so they count as none. Let the connection in Open WebUI send {IDS_HEADER}: {{{{USER_GROUP_IDS}}}}; "
            "a group with a comma in its name needs another name there, or its id under aliases in groups.yaml."
        )
        self.ids = ids or ()


def header_groups(
    value: str | None, ids: str | None = None, known: Callable[[], Collection[str]] = frozenset
) -> tuple[str, ...] | None:
    """Open WebUI's comma-joined, percent-encoded names; None when the header was not filled.

    It joins names as they are, so «Отдел, HR» would read as the group HR: only as many names as there are ids
    are surely one a group. Without ids several are believed when ``known``, the folded names of groups that the
    wiki's rights and the file speak of, has every one and none with a comma that they may be. Raises Ambiguous.
    """
    if value is None or UNRESOLVED in value:
        return None
    listed = None if ids is None or UNRESOLVED in ids else tuple(filter(None, map(str.strip, ids.split(","))))
    parts = [urllib.parse.unquote(part) for part in value.split(",")] if value.strip() or listed else []
    certain = len(parts) == len(listed) if listed is not None else len(parts) < 2 or _all_known(parts, known())
    if not certain:
        raise Ambiguous(urllib.parse.unquote(value), listed)
    return tuple(part.strip() for part in parts if part.strip())


def _all_known(parts: Sequence[str], known: Collection[str]) -> bool:
    """Whether each part is a group's name and no neighbours are one name: names come without outer blanks."""
    if any(part != part.strip() or fold(part) not in known for part in parts):
        return False
    joined = fold(f",{','.join(parts)},")
    return not any("," in name and f",{name}," in joined for name in known)


def _learned_groups(
    email: str,
    headers: Mapping[str, str],
    settings: AccessSettings,
    directory: Directory,
    memory: GroupMemory,
    recall: bool,
    known: Callable[[], Collection[str]],
) -> tuple[tuple[str, ...], float | None]:
    if "header" not in names(settings.groups_from):
        return (), None

    def named() -> Collection[str]:
        return {*known(), *directory.aliases, *directory.members, *names(settings.everybody_groups)}

    try:
        groups = header_groups(headers.get(GROUPS_HEADER), headers.get(IDS_HEADER), named)
    except Ambiguous as error:
        told_before(str(error))
        METRICS.add("askwiki_groups_ambiguous_total")
        groups = tuple(group for group in error.ids if fold(group) in directory.aliases)
    if groups is None and recall:
        return memory.recall(email) or ((), None)
    memory.learn(email, groups or ())
    return groups or (), 0.0


@functools.lru_cache(maxsize=1_000)
def told_before(sentence: str) -> None:
    """Once for each set of groups: it comes again with each question."""
    logger.warning("%s", sentence)


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
