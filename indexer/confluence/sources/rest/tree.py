"""Where the pages of the API stand and who may read them: own restriction, ancestors and space together."""

from __future__ import annotations

from askwiki.data import Clause
from askwiki.errors import SourceError, SourceNotWhole
from indexer.confluence.parse.text import clean
from indexer.confluence.sources.rest.record import CONTAINERS, Record, RecordFacts, read_record
from indexer.confluence.sources.rest.records import Records
from indexer.confluence.sources.rest.rights import UNKNOWN, space_readers

DEEPEST = 200  # ancestors; more are a circle


class RestTree:
    """What has been learned of the pages of one run; an ancestor or a space is asked for when it is needed."""

    def __init__(self, records: Records, base: str = "") -> None:
        self._records = records
        self._base = base
        self._facts: dict[str, RecordFacts | None] = {}
        self._spaces: dict[str, tuple[Clause, ...]] = {}

    def learn(self, record: Record, base: str) -> RecordFacts:
        base = base or self._base
        facts = read_record(record, base)
        if not facts.space and facts.space_id:
            key = str(self._records.space("", facts.space_id).get("key") or "")
            facts = read_record({**record, "space": {"key": key, "id": facts.space_id}}, base)
        self._facts[facts.id] = facts
        return facts

    def title(self, page_id: str) -> str:
        facts = self._facts.get(page_id)
        return facts.title if facts else ""

    def fetch(self, page_id: str, kind: str = "") -> RecordFacts | None:
        """The facts of a page, or of what else (``kind``) stands in the tree; asked for at most once."""
        if page_id not in self._facts:
            found = self._records.container(kind, page_id) if kind in CONTAINERS else self._records.one(page_id)
            self._facts[page_id] = None  # the wiki has said so; where it has not answered it is asked again
            if found:
                self.learn(*found)
        return self._facts[page_id]

    def _chain(self, facts: RecordFacts) -> list[tuple[str, RecordFacts | None]] | None:
        """(id, facts) of the ancestors, root first; None when it goes round in a circle, or is not told."""
        if not facts.placed:
            return None
        if facts.ancestors is not None:
            return [(one.id, self.fetch(one.id, one.kind)) for one in facts.ancestors]
        chain: list[tuple[str, RecordFacts | None]] = []
        seen = {facts.id}
        parent, kind = facts.parent, facts.parent_kind
        while parent:
            if parent in seen or len(seen) > DEEPEST:
                return None
            seen.add(parent)
            above = self.fetch(parent, kind)
            if above is not None and not above.placed:
                return None
            chain.append((parent, above))
            parent, kind = (above.parent, above.parent_kind) if above else ("", "")
        return list(reversed(chain))

    def path(self, facts: RecordFacts) -> tuple[str, ...]:
        if facts.ancestors is not None:
            named = (one.title or self.title(one.id) for one in facts.ancestors)
            return tuple(clean(title) for title in named if title)
        return tuple(clean(above.title) for _, above in self._chain(facts) or () if above)

    def readers(self, facts: RecordFacts) -> tuple[Clause, ...] | None:
        """Own restriction AND those of all ancestors AND the space; None when no part of it is known."""
        chain = self._chain(facts)
        clauses = [*self.readers_of_space(facts.space, facts.space_id)]
        if chain is None:
            clauses += UNKNOWN
        above = dict(chain or ())
        # Where a folder stands is said by the ancestors of the page when it does not say so itself.
        waiting = [found for found in above.values() if found and (found.placed or found.kind not in CONTAINERS)]
        while waiting:  # what one record leaves out of the way up, another may name
            theirs = self._chain(waiting.pop())
            clauses += UNKNOWN if theirs is None else ()
            further = {identity: found for identity, found in theirs or () if identity not in above}
            above |= further
            waiting += filter(None, further.values())
        for found in above.values():
            clauses += found.own if found else UNKNOWN
        clauses += facts.own
        if clauses and all(clause.unknown for clause in clauses):
            return None
        return tuple(dict.fromkeys(clauses))

    def readers_of_space(self, key: str, identity: str) -> tuple[Clause, ...]:
        """Asked for once; SourceNotWhole when there is no answer, for then no page of it can be judged."""
        name = key or identity
        if name not in self._spaces:
            try:
                readers = space_readers(self._records.space(key, identity))
            except SourceError as error:
                raise SourceNotWhole(
                    f"Who may read the space {name} could not be asked for, so nothing more was changed. {error}"
                ) from error
            self._spaces[name] = UNKNOWN if readers is None else readers
        return self._spaces[name]
