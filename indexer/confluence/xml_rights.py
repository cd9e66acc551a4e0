"""Who may view a page of an XML export: the space AND the page's View set AND those of all ancestors.

Users are named by their e-mail address where the export knows it, else by their login. Whatever
cannot be known (a missing or circular parent, no space permissions in the export) is None, never
"everybody".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from askwiki.data import Clause
from indexer.confluence.xml_space import Space

NOBODY = Clause()
EVERY_USER = "confluence-users"  # the group that "all licensed users" of newer versions stands for


class Rights:
    """Answers for every page of one export; each ancestor is looked at once."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._own: dict[str, list[Clause]] = defaultdict(list)
        for set_id, page_id in space.view_sets.items():
            self._own[page_id].append(self._clause(space.permissions.get(set_id, [])))

    def readers(self, page_id: str) -> tuple[Clause, ...] | None:
        chain = self.chain(page_id)
        if chain is None:
            return None
        own = [clause for identity in chain for clause in self._own.get(identity, ())]
        space_clauses = self._of_space(self._space.pages[page_id].space)
        if space_clauses is None:
            return _distinct(own) if own else None
        return _distinct([*space_clauses, *own])

    def chain(self, page_id: str) -> list[str] | None:
        """The page and its ancestors, None when one of them is missing or comes twice."""
        found: list[str] = []
        seen: set[str] = set()
        while page_id:
            page = self._space.pages.get(page_id)
            if page is None or page_id in seen:
                return None
            seen.add(page_id)
            found.append(page_id)
            page_id = page.parent
        return found

    def _of_space(self, space_id: str) -> list[Clause] | None:
        """[] = everybody, anonymous visitors too; None = the export does not say."""
        if space_id not in self._space.has_space_permissions:
            return None
        views = self._space.space_views.get(space_id, [])
        if any((not user and not group) or user.startswith("*anonymous") for user, group in views):
            return []
        everyone = [("", EVERY_USER) if user.startswith("*") else (user, group) for user, group in views]
        return [self._clause(everyone)]

    def _clause(self, permissions: Iterable[tuple[str, str]]) -> Clause:
        """An OR of users and groups; without any, nobody passes."""
        users = {self._user(user) for user, _ in permissions if user}
        groups = {group for _, group in permissions if group}
        return Clause(tuple(sorted(users)), tuple(sorted(groups)))

    def _user(self, key: str) -> str:
        login, email, _ = self._space.users.get(key, ("", "", ""))
        login = login or key
        return email or self._space.people.get(login.lower(), ("", ""))[0] or login


def _distinct(clauses: Iterable[Clause]) -> tuple[Clause, ...]:
    return tuple(dict.fromkeys(clauses))
