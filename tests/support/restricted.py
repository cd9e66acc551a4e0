"""Random wikis with random restrictions as space exports, and a simple rule of who may read what.

The rule knows nothing of askwiki: it walks up from the page and asks each restriction in turn.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

TOPICS = ["перевод", "займ", "отпуск", "премия", "пароль", "сервер", "партнёр", "лимит", "договор", "касса"]
ALL_USERS = "confluence-users"
RESTRICTED, OPEN_SPACE, FOR_ALL_USERS = 0.25, 0.3, 0.4  # shares of pages and spaces


Reference = tuple[str, str, str]  # class, name of the id, id
Properties = dict[str, str | Reference]


@dataclass(frozen=True)
class Person:
    email: str
    groups: frozenset[str]
    known: bool = True


@dataclass(frozen=True)
class Restriction:
    users: frozenset[str]
    groups: frozenset[str]

    def lets(self, person: Person) -> bool:
        return person.email in self.users or bool(self.groups & person.groups)


@dataclass(frozen=True)
class Leaf:
    """One page; ``code`` is a word that stands in its title and text and nowhere else."""

    id: str
    code: str
    space: int
    parent: Leaf | None
    restriction: Restriction | None
    topic: str
    long: bool


@dataclass(frozen=True)
class World:
    pages: tuple[Leaf, ...]
    spaces: tuple[Restriction | None, ...]  # None = anonymous may look
    people: tuple[Person, ...]

    def may_read(self, person: Person, page: Leaf) -> bool:
        """The reference rule: the space, the page and every page above it must let the person in."""
        rules = [self.spaces[page.space]]
        above: Leaf | None = page
        while above is not None:
            rules.append(above.restriction)
            above = above.parent
        return all(rule is None or (person.known and rule.lets(person)) for rule in rules)

    def visible(self, person: Person) -> frozenset[str]:
        return frozenset(page.id for page in self.pages if self.may_read(person, page))


def make_world(seed: int, *, pages: int, people: int, groups: int, spaces: int = 3) -> World:
    dice = random.Random(seed)
    names = [f"Группа-{number}" if number % 3 else f"team-{number}" for number in range(groups)]
    persons = [
        Person("nobody@example.com", frozenset(), known=False),
        Person("new@example.com", frozenset({ALL_USERS})),
    ]
    for number in range(people):
        mine = dice.sample(names, min(groups, 100 if number == 0 else dice.randint(0, 6)))
        persons.append(Person(f"u{number}@example.com", frozenset({*mine, ALL_USERS})))
    emails = [person.email for person in persons if person.known]
    rules = tuple(_space_rule(dice, names) for _ in range(spaces))
    return World(tuple(_pages(dice, pages, spaces, names, emails)), rules, tuple(persons))


def _space_rule(dice: random.Random, names: list[str]) -> Restriction | None:
    chance = dice.random()
    if chance < OPEN_SPACE:
        return None
    if chance < OPEN_SPACE + FOR_ALL_USERS:
        return Restriction(frozenset(), frozenset({ALL_USERS}))
    return Restriction(frozenset(), frozenset(dice.sample(names, len(names) // 2)))


def _pages(dice: random.Random, count: int, spaces: int, names: list[str], emails: list[str]) -> Iterator[Leaf]:
    made: list[list[Leaf]] = [[] for _ in range(spaces)]
    for number in range(count):
        space = dice.randrange(spaces)
        parent = dice.choice(made[space]) if made[space] and dice.random() < 0.95 else None
        restriction = None
        if dice.random() < RESTRICTED:
            users = frozenset(dice.sample(emails, dice.randint(0, 2)))
            restriction = Restriction(users, frozenset(dice.sample(names, dice.randint(0 if users else 1, 2))))
        topic = dice.choice(TOPICS)
        page = Leaf(str(100_000 + number), f"px{number:05d}", space, parent, restriction, topic, dice.random() < 0.1)
        made[space].append(page)
        yield page


def write_exports(world: World, folder: Path) -> list[Path]:
    """One XML space export a space, as Confluence writes them."""
    return [_write_export(world, space, folder / f"space{space}") for space in range(len(world.spaces))]


def _write_export(world: World, space: int, folder: Path) -> Path:
    folder.mkdir(parents=True)
    whole = {"key": f"S{space}", "name": f"Пространство {space}", "spaceStatus": "CURRENT"}
    objects = [_object("Space", str(space + 1), whole), *_space_permission(world.spaces[space], space)]
    for person in world.people:
        name = {"name": person.email, "email": person.email}
        objects.append(_object("ConfluenceUserImpl", f"key-{person.email}", name, identity="key"))
    for page in world.pages:
        if page.space == space:
            objects += _page_objects(page)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<hibernate-generic>'
    text = "\n".join([head, *objects, "</hibernate-generic>"])
    (folder / "entities.xml").write_text(text, encoding="utf-8")
    (folder / "exportDescriptor.properties").write_text(f"exportType=space\nspaceKey=S{space}\n", encoding="utf-8")
    return folder


def _space_permission(rule: Restriction | None, space: int) -> list[str]:
    """A permission of no group and no user is that of everybody, logged in or not."""
    groups = [""] if rule is None else sorted(rule.groups)
    of_space: Properties = {"type": "VIEWSPACE", "space": _ref("Space", space + 1)}
    return [
        _object("SpacePermission", f"9{space}{number:03d}", {**of_space, "group": group})
        for number, group in enumerate(groups)
    ]


def _page_objects(page: Leaf) -> list[str]:
    words = f"{page.topic} {page.code} правило порядок срок"
    body = "".join(f"<p>{words} номер {line}.</p>" for line in range(120 if page.long else 2))
    fields: Properties = {
        "title": f"{page.topic.capitalize()} {page.code}",
        "version": "1",
        "contentStatus": "current",
        "lastModificationDate": "2026-01-01 10:00:00.000",
        "space": _ref("Space", page.space + 1),
    }
    if page.parent:
        fields["parent"] = _ref("Page", page.parent.id)
    content: Properties = {"body": body, "bodyType": "2", "content": _ref("Page", page.id)}
    objects = [_object("BodyContent", f"1{page.id}", content), _object("Page", page.id, fields)]
    return [*objects, *_restriction_objects(page, page.restriction)] if page.restriction else objects


def _restriction_objects(page: Leaf, restriction: Restriction) -> list[str]:
    owner = f"2{page.id}"
    objects = [_object("ContentPermissionSet", owner, {"type": "View", "owningContent": _ref("Page", page.id)})]
    of_set: Properties = {"type": "View", "owningSet": _ref("ContentPermissionSet", owner)}
    for number, group in enumerate(sorted(restriction.groups)):
        objects.append(_object("ContentPermission", f"3{page.id}{number}", {**of_set, "groupName": group}))
    for number, email in enumerate(sorted(restriction.users)):
        user = ("ConfluenceUserImpl", "key", f"key-{email}")
        objects.append(_object("ContentPermission", f"4{page.id}{number}", {**of_set, "userSubject": user}))
    return objects


def _ref(kind: str, number: str | int) -> Reference:
    return kind, "id", str(number)


def _object(kind: str, number: str, properties: Mapping[str, str | Reference], *, identity: str = "id") -> str:
    lines = [f'<object class="{kind}" package="p">', f'<id name="{identity}"><![CDATA[{number}]]></id>']
    for name, value in properties.items():
        if isinstance(value, tuple):
            other, key, target = value
            inner = f'<id name="{key}"><![CDATA[{target}]]></id>'
            lines.append(f'<property name="{name}" class="{other}" package="p">{inner}</property>')
        elif value:
            lines.append(f'<property name="{name}"><![CDATA[{value}]]></property>')
        else:
            lines.append(f'<property name="{name}"/>')
    return "\n".join([*lines, "</object>"])
