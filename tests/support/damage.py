"""Ways in which an export gets damaged, and the rule that no damage may break.

A damage takes dice and the bytes of ``entities.xml`` and gives other bytes. The rule knows nothing of how the
reader finds a damage out: whatever it still gives opens no page to anybody, and removes none.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from askwiki.access.rights import known_readers, rights_of
from askwiki.configuration import Configuration
from askwiki.data import Clause, Identity, Page
from askwiki.errors import SourceError
from askwiki.settings import AccessSettings, Settings
from indexer.opening import open_source
from indexer.sources import PageFailure
from indexer.sync.plan import gone

OBJECT = re.compile(rb"<object class=\"(\w+)\".*?</object>\s*", re.DOTALL)
RIGHTS = (b"ContentPermissionSet", b"ContentPermission", b"SpacePermission", b"ConfluenceUserImpl", b"Space")
NAME = re.compile(rb"(?:class|name)=\"(\w+)\"")
CLOSING = re.compile(rb"</\w+>|\]\]>")
IDENTITY = re.compile(rb"<id name=\"(?:id|key)\">(?:<!\[CDATA\[)?(\w+)")

Damage = Callable[[random.Random, bytes], bytes]
Visible = dict[str, frozenset[str]]  # page -> people who may read it


def cut(dice: random.Random, data: bytes) -> bytes:
    return data[: dice.randrange(len(data))]


def letter_in_a_name(dice: random.Random, data: bytes) -> bytes:
    """Of a class or a property of an object that says who may read what, or of a page's own head."""
    found = _one_of(dice, data, (*RIGHTS, b"Page"))
    place = dice.choice(list(NAME.finditer(data, *found.span())))
    return _other_letter(dice, data, *place.span(1))


def letter_in_an_id(dice: random.Random, data: bytes) -> bytes:
    found = _one_of(dice, data, (*RIGHTS[:3], b"Page"))
    place = dice.choice(list(IDENTITY.finditer(data, *found.span())))
    return _other_letter(dice, data, *place.span(1))


def letter_in_a_type(dice: random.Random, data: bytes) -> bytes:
    types = list(re.finditer(rb"name=\"type\">(?:<!\[CDATA\[)?(\w+)", data))
    return _other_letter(dice, data, *dice.choice(types).span(1))


def no_closing_tag(dice: random.Random, data: bytes) -> bytes:
    found = _one_of(dice, data, (*RIGHTS, b"Page"))
    place = dice.choice(list(CLOSING.finditer(data, *found.span())))
    return data[: place.start()] + data[place.end() :]


def no_object(dice: random.Random, data: bytes) -> bytes:
    found = _one_of(dice, data, ())
    return data[: found.start()] + data[found.end() :]


def object_twice(dice: random.Random, data: bytes) -> bytes:
    found, place = _one_of(dice, data, ()), _one_of(dice, data, ())
    return data[: place.start()] + found[0] + data[place.start() :]


def hole(dice: random.Random, data: bytes) -> bytes:
    first, second = sorted((dice.randrange(len(data)), dice.randrange(len(data))))
    return data[:first] + data[min(second, first + 5000) :]


def zeros(dice: random.Random, data: bytes) -> bytes:
    """A copy that has its full size before it has its contents."""
    place = dice.randrange(len(data))
    return data[:place] + bytes(len(data) - place)


DAMAGES: tuple[Damage, ...] = (
    cut, letter_in_a_name, letter_in_an_id, letter_in_a_type, no_closing_tag, no_object, object_twice, hole, zeros,
)  # fmt: skip


def broken_rules(spec: str, whole: Visible, settings: AccessSettings) -> list[str]:
    """What a sync of the damaged export would open or remove; nothing when it is refused."""
    try:
        now, stay = read(spec, settings)
    except SourceError:
        return []
    opened = [
        f"{page} is open to {sorted(people - whole.get(page, frozenset()))[:3]}"
        for page, people in now.items()
        if people - whole.get(page, frozenset())
    ]
    return opened + [f"{page} is removed" for page in sorted(whole.keys() - stay)]


def read(spec: str, settings: AccessSettings) -> tuple[Visible, set[str]]:
    """Who may read each page, and the pages that a sync would keep."""
    source = open_source(spec, Configuration(Settings(access=settings), Path(), {}))
    items = list(source.pages())
    pages = [item for item in items if isinstance(item, Page)]
    failures = [item for item in items if isinstance(item, PageFailure)]
    left_out = [item.ref.id for item in failures if item.skipped]
    arrived = [item.id for item in pages] + [item.ref.id for item in failures]
    kept = {ref.id for ref in source.expected()} | set(arrived) | getattr(source, "named", frozenset())
    visible = {page.id: _readers(known_readers(page.readers, source.kind, settings), settings) for page in pages}
    return visible, kept - set(gone(kept, kept, arrived, left_out))


def _readers(clauses: tuple[Clause, ...], settings: AccessSettings) -> frozenset[str]:
    conjunctions = {"page": clauses} if clauses else {"*": ()}
    people = {person.id: rights_of(person, conjunctions, settings).keys for person in PEOPLE}
    return frozenset(name for name, keys in people.items() if not clauses or "page" in keys)


def _people() -> Iterator[Identity]:
    users = ("a.belova@example.com", "o.titova", "e.titova", "k.orlov@example.com", "u0@example.com", "u1@example.com")
    groups = ("security-sb", "hr", "Группа-1", "Группа-2", "team-0", "team-3")
    yield Identity(id="anonymous")
    yield Identity(id="employee", email="nobody@example.com", known=True)
    yield from (Identity(id=user, email=user, known=True) for user in users)
    yield from (Identity(id=group, email="nobody@example.com", groups=(group,), known=True) for group in groups)


PEOPLE = tuple(_people())


def _one_of(dice: random.Random, data: bytes, kinds: tuple[bytes, ...]) -> re.Match[bytes]:
    return dice.choice([match for match in OBJECT.finditer(data) if not kinds or match[1] in kinds])


def _other_letter(dice: random.Random, data: bytes, start: int, end: int) -> bytes:
    place = dice.randrange(start, end)
    alphabet = b"0123456789" if data[place : place + 1].isdigit() else b"abcdefghijklmnopqrstuvwxyzABCXYZ"
    other = dice.choice([letter for letter in alphabet if letter != data[place]])
    return data[:place] + bytes([other]) + data[place + 1 :]
