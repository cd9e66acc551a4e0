"""Who may view a page of an XML export: the space AND the page's View set AND those of all ancestors.

Users are named by their e-mail address where the export knows it, else by their login. What the export
does not tell (a missing or circular parent, no space permissions at all) is an unknown clause, None when
nothing is known; what it tells in words that are not understood lets nobody in. Never "everybody".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from askwiki.data import Clause, Loss
from indexer.confluence.sources.xml.permissions import EVERYBODY, NOT_UNDERSTOOD, PermissionSet, Subject
from indexer.confluence.sources.xml.space import Space

NOBODY = Clause()
UNKNOWN = Clause(unknown=True)
OTHER_TYPES = ("edit", "share")  # of sets that do not restrict viewing


class ExportRights:
    """Answers for every page of one export; each ancestor is looked at once."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._own: dict[str, list[Clause]] = defaultdict(list)
        self._strange: dict[str, int] = defaultdict(int)  # page or space id -> permissions that were not understood
        self._told = space.rights.with_permissions()
        self._views: dict[str, list[Subject]] = defaultdict(list)
        members = space.rights.members()
        for page_id, one in space.rights.owners():
            subjects = list(_view_subjects(one, [(held.type, held.subject) for held in members.get(one.id, ())]))
            if one.type not in OTHER_TYPES or subjects:
                self._own[page_id].append(self._clause(subjects))
                self._strange[page_id] += subjects.count(NOT_UNDERSTOOD)
        for permission in space.rights.of_spaces.values():
            if permission.type == "viewspace":
                self._views[permission.space].append(permission.subject)
                self._strange[permission.space] += permission.subject == NOT_UNDERSTOOD

    def readers(self, page_id: str) -> tuple[Clause, ...] | None:
        chain, whole = self.chain(page_id)
        clauses = [clause for identity in chain for clause in self._own.get(identity, ())]
        clauses = [*self._of_space(self._space.pages[page_id].space), *clauses, *(() if whole else (UNKNOWN,))]
        if self._elsewhere(chain):
            clauses.append(NOBODY)
        return None if clauses and all(clause.unknown for clause in clauses) else tuple(dict.fromkeys(clauses))

    def losses(self, page_id: str) -> Iterator[Loss]:
        """What was not understood of the readers of a page, and that it was closed."""
        space = self._space.pages[page_id].space
        if strange := self._strange.get(space, 0):
            yield Loss("readers", "VIEWSPACE", strange, "permissions of the space name nobody that is known; closed")
        chain, whole = self.chain(page_id)
        if strange := sum(self._strange.get(identity, 0) for identity in chain):
            yield Loss("readers", "ContentPermission", strange, "restrictions name nobody that is known; closed")
        if not whole:
            yield Loss("readers", "parent", detail="a page above it is not in the export")
        if self._elsewhere(chain):
            yield Loss("readers", "parent", detail="pages above it list it, but it does not say so; closed")
        if self._told and space not in self._told:
            yield Loss("readers", "space", detail="the export says who may view other spaces, not this one; closed")

    def chain(self, page_id: str) -> tuple[list[str], bool]:
        """The page and its ancestors; False when one of them is missing or comes twice."""
        found: list[str] = []
        seen: set[str] = set()
        while page_id:
            page = self._space.pages.get(page_id)
            if page is None or page_id in seen:
                return found, False
            seen.add(page_id)
            found.append(page_id)
            page_id = page.parent
        return found, True

    def _elsewhere(self, chain: list[str]) -> bool:
        """Whether a page of the export says that one of these lies below it, and the chain does not know it."""
        there = set(chain)
        above = (other for identity in chain for other in self._space.above.get(identity, ()))
        return any(other in self._space.pages and other not in there for other in above)

    def _of_space(self, space_id: str) -> list[Clause]:
        """[] = everybody, anonymous visitors too."""
        if not self._told:
            return [UNKNOWN]
        if space_id not in self._told:
            return [NOBODY]
        views = self._views.get(space_id, [])
        return [] if EVERYBODY in views else [self._clause(views)]

    def _clause(self, subjects: Iterable[Subject]) -> Clause:
        """An OR of users and groups; without any that is known, nobody passes."""
        known = [subject for subject in subjects if subject != NOT_UNDERSTOOD]
        users = {self._user(user) for user, _ in known if user}
        groups = {group for _, group in known if group}
        return Clause(tuple(sorted(users)), tuple(sorted(groups)))

    def _user(self, key: str) -> str:
        login, email, _ = self._space.users.get(key, ("", "", ""))
        login = login or key
        return email or self._space.people.get(login.lower(), ("", ""))[0] or login


def _view_subjects(one: PermissionSet, held: Iterable[tuple[str, Subject]]) -> Iterator[Subject]:
    """Members of a set that let somebody view; one that only says so itself makes a set of any type restrict."""
    for kind, subject in held:
        if kind == "view" or (not kind and one.type not in OTHER_TYPES):
            yield subject
