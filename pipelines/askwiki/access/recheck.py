"""The found pages' restrictions, asked of the live wiki once more while a person waits (``access.recheck``).

One call: ``GET /rest/api/content/search`` with CQL ``id in (…)`` and the restrictions expanded, of the pages and, where
the wiki gives them, of their ancestors. It only closes, and only what the wiki says no to: a page that is not in the
answer, or a restriction that is not whole in it, stays as the index has it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import requests

from askwiki.access.rights import fold, passes
from askwiki.access.wiki_session import wiki_session
from askwiki.data import Clause, Identity, whole_page
from askwiki.errors import StoreError
from askwiki.settings import AccessSettings, Settings

READ = "restrictions.read.restrictions"
EXPANDED = ",".join(f"{of}{READ}.{kind}" for of in ("", "ancestors.") for kind in ("user", "group"))
NAMES = ("email", "username", "accountId", "userKey")  # how the API may name a person


def refused_pages(page_ids: Collection[str], identity: Identity, settings: Settings) -> frozenset[str]:
    """Those pages that the wiki says this person may not read. StoreError when it does not answer.

    Files and comments are asked for with the page that they are a part of.
    """
    wholes = {page_id: whole_page(page_id) for page_id in page_ids}
    asked = sorted({whole for whole in wholes.values() if whole.isascii() and whole.isdigit()})
    if not asked or not settings.wiki.url:
        return frozenset()
    try:
        records = _ask(asked, settings)
    except (requests.RequestException, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"Restrictions could not be asked of {settings.wiki.url} once more: {type(error).__name__}."
        ) from error
    refused = {
        str(record["id"]) for record in records if "id" in record and _says_no(record, identity, settings.access)
    }
    return frozenset(page_id for page_id, whole in wholes.items() if whole in refused and whole in asked)


def _ask(page_ids: list[str], settings: Settings) -> list[dict[str, Any]]:
    with wiki_session(settings.confluence) as session:
        answer = session.get(
            f"{settings.wiki.url.rstrip('/')}/rest/api/content/search",
            params={"cql": f"id in ({','.join(page_ids)})", "limit": str(len(page_ids)), "expand": EXPANDED},
            timeout=settings.access.recheck_timeout,
            allow_redirects=False,  # to a login page, or with the token to another host
        )
    answer.raise_for_status()
    return [record for record in answer.json()["results"] if isinstance(record, dict)]


def _says_no(record: Mapping[str, Any], identity: Identity, settings: AccessSettings) -> bool:
    above = record.get("ancestors")
    return any(
        clause is not None and not passes(identity, clause, settings)
        for clause in map(_restriction, [record, *(above if isinstance(above, list) else [])])
    )


def _restriction(record: object) -> Clause | None:
    """Who may read by the record's own restriction; None when there is none, or it is not whole here."""
    held = record
    for step in READ.split("."):
        held = held.get(step) if isinstance(held, Mapping) else None
    if not isinstance(held, Mapping):
        return None
    users, groups = (_listed(held.get(kind)) for kind in ("user", "group"))
    if users is None or groups is None or not (users or groups):
        return None
    found = {fold(name) for user in users for name in map(user.get, NAMES) if isinstance(name, str)}
    return Clause(
        tuple(sorted(found - {""})), tuple(sorted(fold(str(group.get("name", ""))) for group in groups if group))
    )


def _listed(part: object) -> list[Mapping[str, Any]] | None:
    """The whole of a paged list; None when it is cut off, or odd."""
    if not isinstance(part, Mapping) or not isinstance(part.get("results"), list):
        return None
    results, links = part["results"], part.get("_links")
    more = isinstance(links, Mapping) and bool(links.get("next"))
    odd = any(not isinstance(entry, Mapping) for entry in results)
    return None if more or odd or part.get("size", len(results)) != len(results) else results
