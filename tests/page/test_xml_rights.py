"""What the objects of an XML export say of readers, object by object, and which of them point nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from askwiki.data import Clause
from askwiki.errors import SourceNotWhole
from tests.page.test_xml_export import (
    EVERYBODY,
    SPACE,
    STAFF,
    page,
    pages,
    source,
    space_permission,
    target,
    thing,
    value,
    view,
    write,
)

HR = (Clause((), ("hr",)),)
NEUTRAL = (
    *("owningSet", "creator", "creatorName", "creationDate", "lastModifier", "lastModifierName"),
    *("lastModificationDate", "hibernateVersion"),
)


def a_set(*parts: str, number: str = "70", kind: str = "View") -> str:
    return thing("ContentPermissionSet", number, value("type", kind), *parts)


def member(*parts: str, number: str = "71", kind: str = "View") -> str:
    return thing("ContentPermission", number, value("type", kind), *parts)


def collection(name: str, kind: str, *numbers: str) -> str:
    held = "".join(f'<element class="{kind}"><id name="id">{number}</id></element>' for number in numbers)
    return f'<collection name="{name}">{held}</collection>'


OF_PAGE = target("owningContent", "Page", "1")
OF_SET = target("owningSet", "ContentPermissionSet", "70")
GROUP = value("groupName", "hr")


def readers(folder: Path, *things: str) -> object:
    return pages(folder, SPACE, EVERYBODY, page("1", "А"), *things)["1"].readers


@pytest.mark.parametrize("name", NEUTRAL)
def test_who_made_a_permission_and_when_says_nothing_of_whom_it_lets_in(tmp_path: Path, name: str) -> None:
    assert pages(tmp_path, SPACE, space_permission(value(name, "x")), page("1", "А"))["1"].readers == ()
    restricted = readers(
        tmp_path, a_set(OF_PAGE), member(OF_SET, GROUP, *([] if name == "owningSet" else [value(name, "x")]))
    )
    assert restricted == HR


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (GROUP, HR),
        (value("group", "hr"), HR),
        (value("groupName", " hr "), HR),
        (value("userName", "a"), (Clause(("a",)),)),
        (value("userSubject", "k1"), (Clause(("k1",)),)),
        (target("userSubject", "ConfluenceUserImpl", "k1", "key"), (Clause(("k1",)),)),
        (value("allUsersSubject", "authenticated-users"), (Clause((), ("confluence-users",)),)),
        ("", (Clause(),)),
        (value("groupName", "  "), (Clause(),)),
        (value("team", "x"), (Clause(),)),
        (GROUP + value("userName", "a"), (Clause(),)),
        (target("userName", "ConfluenceUserImpl", "k1"), (Clause(),)),
        (target("userSubject", "ConfluenceUserImpl", "k\N{REPLACEMENT CHARACTER}", "key"), (Clause(),)),
        (value("groupName", "h\N{REPLACEMENT CHARACTER}"), (Clause(),)),
        ('<property name="groupName"><b>hr</b></property>', (Clause(),)),
        ('<property name="groupName">hr<b/></property>', (Clause(),)),
        (value("allUsersSubject", "everybody"), (Clause(),)),
    ],
)
def test_a_restriction_lets_in_whom_its_permission_plainly_names(
    tmp_path: Path, subject: str, expected: tuple[Clause, ...]
) -> None:
    assert readers(tmp_path, a_set(OF_PAGE), member(OF_SET, subject)) == expected


@pytest.mark.parametrize(
    ("kind_of_set", "kind", "expected"),
    [
        ("View", "View", HR),
        (" vIEW ", "VIEW", HR),
        ("View", "", HR),
        ("", "", HR),
        ("Edit", "View", HR),
        ("Edit", "Edit", ()),
        ("Edit", "", ()),
        ("Share", "", ()),
        ("Share", "Share", ()),
        ("View", "Edit", (Clause(),)),
        ("", "Edit", (Clause(),)),
    ],
)
def test_the_types_of_set_and_permission_say_whether_viewing_is_restricted(
    tmp_path: Path, kind_of_set: str, kind: str, expected: tuple[Clause, ...]
) -> None:
    assert readers(tmp_path, a_set(OF_PAGE, kind=kind_of_set), member(OF_SET, GROUP, kind=kind)) == expected


@pytest.mark.parametrize(
    "things",
    [
        [a_set(target("content", "Page", "1")), member(OF_SET, GROUP)],
        [a_set(OF_PAGE, collection("contentPermissions", "ContentPermission", "71")), member(GROUP)],
    ],
    ids=["content", "listed by the set"],
)
def test_a_set_belongs_to_its_page_and_its_members_however_it_is_said(tmp_path: Path, things: list[str]) -> None:
    assert readers(tmp_path, *things) == HR


def test_a_set_that_only_its_page_lists_restricts_it(tmp_path: Path) -> None:
    one = page("1", "А", collection("contentPermissionSets", "ContentPermissionSet", "70"))
    assert pages(tmp_path, SPACE, EVERYBODY, one, a_set(), member(OF_SET, GROUP))["1"].readers == HR


def test_a_permission_of_a_space_that_only_the_space_lists_tells_that_it_is_restricted(tmp_path: Path) -> None:
    space = thing("Space", "9", value("key", "TARA"), collection("permissions", "SpacePermission", "65"))
    one = thing("SpacePermission", "65", value("type", "VIEWSPACE"), value("group", "hr"))
    assert pages(tmp_path, space, one, page("1", "А"))["1"].readers == (Clause(),)


def test_a_user_is_named_by_the_address_that_any_object_knows(tmp_path: Path) -> None:
    def user(kind: str, key: str, *parts: str) -> str:
        return thing(kind, key, *parts).replace('<id name="id">', '<id name="key">')

    people = [
        user("ConfluenceUserImpl", "k1", value("name", "a"), value("email", "a@x.org")),
        user("ConfluenceUserImpl", "k2", value("name", "B")),
        user("InternalUser", "i2", value("name", "b"), value("emailAddress", "b@x.org")),
        user("ConfluenceUserImpl", "k3", value("name", "c")),
        user("InternalUser", "i3", value("name", "c"), value("displayName", "Ц")),
        user("ConfluenceUserImpl", "k4"),
    ]
    found = readers(tmp_path, *people, view("u:k1", "u:k2", "u:k3", "u:k4", "u:k5", owner="1"))
    assert found == (Clause(("a@x.org", "b@x.org", "c", "k4", "k5")),)


def test_what_closes_a_page_is_told_of_it_and_of_no_other(tmp_path: Path) -> None:
    strange = [a_set(target("owningContent", "Page", "2")), member(OF_SET, value("team", "x"))]
    below = page("3", "Ниже", target("parent", "Page", "2"))
    found = pages(tmp_path, SPACE, EVERYBODY, page("1", "А"), page("2", "Б"), below, *strange)
    told = {one.id: [(loss.kind, loss.name, loss.count) for loss in one.losses] for one in found.values()}
    assert told == {
        "1": [],
        "2": [("readers", "ContentPermission", 1)],
        "3": [("readers", "ContentPermission", 1)],
    }
    orphan = pages(tmp_path, SPACE, EVERYBODY, page("1", "А"), page("2", "Б", target("parent", "Page", "9")))
    assert [[loss.name for loss in orphan[name].losses] for name in ("1", "2")] == [[], ["parent"]]


def test_a_page_of_a_space_of_which_nothing_is_told_says_why_it_is_closed(tmp_path: Path) -> None:
    other = thing("Space", "8", value("key", "X"))
    there = page("2", "Б").replace('name="id">9<', 'name="id">8<')
    found = pages(tmp_path, SPACE, other, EVERYBODY, page("1", "А"), there)
    assert [(found[name].readers, [loss.name for loss in found[name].losses]) for name in ("1", "2")] == [
        ((), []),
        ((Clause(),), ["space"]),
    ]


@pytest.mark.parametrize(
    ("things", "sentence"),
    [
        ([a_set(OF_PAGE, kind="Wiew")], "the restriction 70 has the unknown type 'wiew'"),
        ([a_set(OF_PAGE), member(OF_SET, GROUP, kind="Wiew")], "the permission 71 has the unknown type 'wiew'"),
        ([a_set()], "the restriction 70 belongs to the page ?, which is not there"),
        ([a_set(target("owningContent", "Page", "5"))], "the restriction 70 belongs to the page 5, which is not there"),
        ([a_set(target("owningContent", "BlogPost", "5"))], "the restriction 70 belongs to the page 5"),
        ([member(OF_SET, GROUP)], "the permission 71 belongs to the restriction 70, which is not there"),
        ([member(GROUP)], "the permission 71 belongs to the restriction ?, which is not there"),
        (
            [a_set(OF_PAGE, collection("contentPermissions", "ContentPermission", "71"))],
            "the restriction 70 has the member 71, which is not there",
        ),
        (
            [page("2", "Б", collection("contentPermissionSets", "ContentPermissionSet", "70"))],
            "page 2 has the restriction 70, which is not there",
        ),
        (
            [page("2", "Б", collection("contentPermissionSets", "ContentPermissionSet", "70")), a_set(OF_PAGE)],
            "page 2 has the restriction 70, which says it belongs to the page 1",
        ),
        (
            [thing("Space", "8", value("key", "X"), collection("permissions", "SpacePermission", "66"))],
            "space 8 has the permission 66, which is not there",
        ),
        (
            [thing("SpacePermission", "66", value("type", "VIEWSPACE"), target("space", "Space", "5"))],
            "the permission 66 belongs to the space 5, which is not there",
        ),
        (
            [page("2", "Б", collection("historicalVersions", "Page", "1"))],
            "page 1 is an old version, but does not say of which page",
        ),
        (
            [a_set(OF_PAGE), a_set(target("content", "Page", "1"), kind="Edit")],
            "stands there twice and says two things",
        ),
    ],
)
def test_an_object_that_is_lost_is_found_by_those_that_point_to_it(
    tmp_path: Path, things: list[str], sentence: str
) -> None:
    with pytest.raises(SourceNotWhole) as refused:
        source(write(tmp_path, SPACE, EVERYBODY, page("1", "А"), *things))
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    "things",
    [
        [a_set(target("owningContent", "Comment", "5")), member(OF_SET, GROUP)],
        [a_set(OF_PAGE, kind="Share"), member(OF_SET, GROUP, kind="Edit")],
        [a_set(OF_PAGE), a_set(OF_PAGE)],
        [STAFF],
    ],
    ids=["of a comment", "other types", "twice the same", "nothing"],
)
def test_what_points_elsewhere_or_comes_twice_alike_is_whole(tmp_path: Path, things: list[str]) -> None:
    assert list(pages(tmp_path, SPACE, EVERYBODY, page("1", "А"), *things)) == ["1"]
