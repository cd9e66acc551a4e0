"""Who stands behind a request: the person, from the sources of groups that the settings name."""

from __future__ import annotations

import dataclasses
import functools
import logging
import urllib.parse
from collections.abc import Mapping

from askwiki.access.directory import Directory, load_directory
from askwiki.access.identity import EMAIL_HEADERS, UNRESOLVED, GroupMemory, identity_of, with_wiki_groups
from askwiki.access.rights import fold, names
from askwiki.access.wiki_groups import WikiGroups
from askwiki.data import Identity
from askwiki.errors import SettingsError, StoreError
from askwiki.kit import Kit
from askwiki.request import Request
from askwiki.settings import ConfluenceSettings

logger = logging.getLogger(__name__)
_groups = GroupMemory()


def identity_behind(user: object, request: Request, kit: Kit, *, recall: bool = False) -> Identity:
    """Who asks. A directory that cannot be read closes what only it would open, and that is said."""
    settings, note = kit.settings, ""
    try:
        directory = load_directory(kit.configuration.folder / "groups.yaml")
    except SettingsError as error:
        logger.error("groups are not known: %s", error)
        directory, note = Directory(), "directory_down"
    identity = identity_of(
        user,
        request.headers,
        settings=settings.access,
        directory=directory,
        memory=_groups,
        recall=recall,
        known=lambda: _groups_of_rights(kit),
    )
    if identity.known and "rest" in names(settings.access.groups_from):
        try:
            identity = with_wiki_groups(identity, _wiki_groups(settings.wiki.url, settings.confluence), settings.access)
        except StoreError as error:
            logger.error("groups are not known: %s", error)
            note = "directory_down"
    note = note if identity.known else "public_only"
    return dataclasses.replace(identity, note=kit.texts.say(note, settings.language)) if note else identity


def _groups_of_rights(kit: Kit) -> frozenset[str]:
    """The names of groups that some page is restricted to; none while the index cannot be read."""
    try:
        conjunctions = kit.reader.conjunctions()
    except StoreError as error:
        logger.error("the groups of the wiki's rights are not known: %s", error)
        return frozenset()
    return frozenset(fold(group) for clauses in conjunctions.values() for clause in clauses for group in clause.groups)


@functools.cache
def _wiki_groups(url: str, settings: ConfluenceSettings) -> WikiGroups:
    """One memory of groups for the process."""
    return WikiGroups(url, settings)


def person_id(user: object) -> str:
    return str(user.get("id", "")) if isinstance(user, dict) else ""


def person_in(headers: Mapping[str, str]) -> dict[str, str]:
    """The user record of a request that has none in its body: what Open WebUI forwards of the person in headers.

    Empty where it forwards nothing (``ENABLE_FORWARD_USER_INFO_HEADERS``): then only public pages are seen.
    """
    sent = {name: urllib.parse.unquote(value.strip()) for name, value in headers.items() if UNRESOLVED not in value}
    email = next((sent[name] for name in EMAIL_HEADERS if sent.get(name)), "")
    record = {key: sent.get(f"x-openwebui-user-{key}", "") for key in ("id", "name", "role")}
    return {**record, "email": email} if email else {}
