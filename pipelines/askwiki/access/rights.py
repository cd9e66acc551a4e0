"""Who may read what: readers of a page -> one access key -> the keys a person passes.

A page's readers are a conjunction of clauses (space AND page AND every ancestor), each clause an OR
of users and groups. Every distinct conjunction gets one key; the index stores the key with each
chunk and the conjunction once, so that a search filters by a short list of keys, however deep the
tree of restrictions is.
"""

from __future__ import annotations

import functools
import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping

from askwiki.data import PUBLIC, Clause, Identity, Rights
from askwiki.errors import SettingsError
from askwiki.settings import AccessSettings, Unknown

Members = tuple[tuple[frozenset[str], frozenset[str]], ...]  # of each clause: users, groups
MOST_KNOWN = 100_000  # conjunctions kept ready
_known: dict[str, tuple[tuple[Clause, ...], Members]] = {}

KEY_DIGITS = 32  # hexadecimal digits of SHA-256: 128 bits, no accidental twins
NOBODY: tuple[Clause, ...] = (Clause(),)  # a clause without members: no one passes it


@functools.lru_cache(maxsize=65_536)  # the same few thousand names at every question
def fold(name: str) -> str:
    """The form in which names are compared: no outer blanks, composed characters, no case."""
    return unicodedata.normalize("NFC", name.strip()).casefold()


def names(text: str) -> tuple[str, ...]:
    """A comma-separated setting as folded, distinct, sorted names."""
    return _sorted(text.split(","))


def normalise(readers: Iterable[Clause]) -> tuple[Clause, ...]:
    """The one way to write a conjunction: folded names, no clause that another one implies.

    A clause that allows everybody whom a stricter clause allows adds nothing and goes.
    """
    clauses = {Clause(_sorted(clause.users), _sorted(clause.groups)) for clause in readers}
    return tuple(sorted(clause for clause in clauses if not any(_implies(other, clause) for other in clauses)))


def acl_key(readers: Iterable[Clause]) -> str:
    """The access key of a conjunction; ``PUBLIC`` when there is no restriction at all."""
    clauses = normalise(readers)
    if not clauses:
        return PUBLIC
    written = json.dumps([[clause.users, clause.groups] for clause in clauses], ensure_ascii=False)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_DIGITS]


def known_readers(readers: tuple[Clause, ...] | None, kind: str, settings: AccessSettings) -> tuple[Clause, ...]:
    """The readers to index a page with: what is known of them, and what the settings say of the unknown.

    ``kind`` is the kind of source (html, xml, rest, markdown). Closed means: nobody but the groups
    of ``access.unknown_groups``, who must pass the known clauses too.
    """
    if readers is not None and not not_told(readers):
        return normalise(readers)
    known = [clause for clause in readers or () if not clause.unknown]
    if unknown_policy(kind, settings) == "open":
        return normalise(known)
    groups = names(settings.unknown_groups)
    return normalise([*known, *((Clause(groups=groups),) if groups else NOBODY)])


def not_told(readers: tuple[Clause, ...] | None) -> bool:
    """Whether the settings have to say who may read the page, or a part of it."""
    return readers is None or any(clause.unknown for clause in readers)


def unknown_policy(kind: str, settings: AccessSettings) -> Unknown:
    """``open`` or ``closed`` for pages of this kind of source whose readers are unknown."""
    try:
        policy: Unknown = getattr(settings, f"unknown_{kind}")
    except AttributeError:
        raise SettingsError(f"There is no setting access.unknown_{kind}: {kind} is no kind of source.") from None
    return policy


def rights_of(identity: Identity, conjunctions: Mapping[str, tuple[Clause, ...]], settings: AccessSettings) -> Rights:
    """The access keys that ``identity`` passes. Doubt closes: whoever is unknown sees what is public.

    Groups learned longer ago than ``access.max_age`` count as not learned (0 = no limit). A key whose
    stored conjunction is empty or missing is passed by nobody.
    """
    if not identity.known:
        return Rights(note=identity.note)
    users, groups = _user_names(identity, settings), _group_names(identity, settings)
    passed = {
        key
        for key, clauses in conjunctions.items()
        if key and clauses and _passes(users, groups, _members(key, clauses))
    }
    return Rights(frozenset(passed | {PUBLIC}), identity.note)


def passes(identity: Identity, clause: Clause, settings: AccessSettings) -> bool:
    """Whether one clause lets this person in."""
    users, groups = _user_names(identity, settings), _group_names(identity, settings)
    return identity.known and _passes(users, groups, ((_folded(clause.users), _folded(clause.groups)),))


def groups_too_old(identity: Identity, settings: AccessSettings) -> bool:
    """Whether what is known of the person's groups is older than the settings trust."""
    return bool(settings.max_age) and identity.groups_age is not None and identity.groups_age > settings.max_age


def stated_user(identity: Identity, settings: AccessSettings) -> str:
    """The person's user name in the wiki by the stated attribute; empty when it is not to be believed.

    Everybody writes the own display name in Open WebUI, another person's login too: it says who somebody is only
    where the admin says that it cannot be changed (``access.trust_names``). One that looks like an e-mail address
    claims somebody else's in any case.
    """
    if settings.user_attribute == "name" and (not settings.trust_names or "@" in identity.name):
        return ""
    return {"email": identity.email, "name": identity.name, "id": identity.id}[settings.user_attribute]


def unbelieved(settings: AccessSettings) -> str:
    """What to tell the admin when the stated attribute is not believed; else empty."""
    if settings.user_attribute != "name" or settings.trust_names:
        return ""
    return (
        "access.user_attribute is name, but everybody can write any display name in Open WebUI, so it does not count. "
        "List the wiki's user names under users in groups.yaml, or take id or email; only where nobody can change "
        "the name: access.trust_names (ASKWIKI_ACCESS__TRUST_NAMES=true)."
    )


def _user_names(identity: Identity, settings: AccessSettings) -> frozenset[str]:
    stated = stated_user(identity, settings)
    return frozenset(fold(name) for name in (identity.email, stated, *identity.aliases) if name.strip())


def _group_names(identity: Identity, settings: AccessSettings) -> frozenset[str]:
    learned = () if groups_too_old(identity, settings) else identity.groups
    return frozenset(fold(name) for name in learned if name.strip()) | frozenset(names(settings.everybody_groups))


def _passes(users: frozenset[str], groups: frozenset[str], members: Members) -> bool:
    for of_users, of_groups in members:  # noqa: SIM110 (twice as fast; thousands of times a question)
        if users.isdisjoint(of_users) and groups.isdisjoint(of_groups):
            return False
    return True


def _members(key: str, clauses: tuple[Clause, ...]) -> Members:
    """Each clause's folded users and groups; made once for the thousands of sets that every question asks."""
    known = _known.get(key)
    if known is None or (known[0] is not clauses and known[0] != clauses):
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        known = clauses, tuple((_folded(clause.users), _folded(clause.groups)) for clause in clauses)
        _known[key] = known
    return known[1]


def _folded(written: Iterable[str]) -> frozenset[str]:
    return frozenset(map(fold, written))


def _implies(strict: Clause, loose: Clause) -> bool:
    """Whether all members of one clause are members of another, different one."""
    return strict != loose and set(strict.users) <= set(loose.users) and set(strict.groups) <= set(loose.groups)


def _sorted(written: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({fold(name) for name in written if name.strip()}))
