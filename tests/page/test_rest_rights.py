"""Who may read a page or a space by the words of the API alone."""

from __future__ import annotations

from typing import Any

import pytest

from askwiki.data import Clause
from indexer.confluence.sources.rest.rights import own_restriction, space_readers, user_name

UNKNOWN = (Clause(unknown=True),)
NOBODY = (Clause(),)


def listed(*records: Any, **more: Any) -> dict[str, Any]:
    return {"results": list(records), **more}


def own(user: Any, group: Any) -> tuple[Clause, ...]:
    return own_restriction({"restrictions": {"read": {"restrictions": {"user": user, "group": group}}}})


@pytest.mark.parametrize(
    ("user", "group", "expected"),
    [
        (listed(), listed(), ()),
        (listed(size=0, limit=200), listed(_links={"self": "/x"}), ()),
        (listed(limit=0), listed(), NOBODY),
        (listed(), listed(limit=0), NOBODY),
        (listed(size=1), listed(), NOBODY),
        (listed(_links={"next": "/x"}), listed(), NOBODY),
        ({"size": 0}, listed(), NOBODY),
        (listed({"username": "b"}, {"username": "a"}), listed(), (Clause(("a", "b")),)),
        (listed(), listed({"name": "hr", "id": "1"}, {"id": "2"}), (Clause((), ("2", "hr")),)),
        (listed({"username": "a"}), listed({"name": "hr"}), (Clause(("a",), ("hr",)),)),
        (listed({}), listed({}), NOBODY),
    ],
)
def test_a_restriction_lets_in_whom_it_names_and_everybody_only_when_it_is_empty_and_whole(
    user: Any, group: Any, expected: tuple[Clause, ...]
) -> None:
    assert own(user, group) == expected


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({}, UNKNOWN),
        ({"restrictions": {}}, UNKNOWN),
        ({"restrictions": {"read": {}}}, UNKNOWN),
        ({"restrictions": {"read": {"restrictions": {"user": listed()}}}}, UNKNOWN),
        ({"restrictions": {"read": {"restrictions": {"group": listed()}}}}, UNKNOWN),
        ({"restrictions": 1}, NOBODY),
        ({"restrictions": {"read": {"restrictions": 1}}}, NOBODY),
        ({"restrictions": {"read": {"restrictions": {"user": listed(), "group": listed(), "more": 1}}}}, ()),
    ],
)
def test_what_is_not_in_the_answer_is_unknown_and_what_is_odd_lets_nobody_in(
    record: dict[str, Any], expected: tuple[Clause, ...]
) -> None:
    assert own_restriction(record) == expected


def permission(*, users: Any = None, groups: Any = None, operation: Any = "read", **more: Any) -> dict[str, Any]:
    named = {"operation": operation, **({"targetType": more.pop("on")} if "on" in more else {})}
    return {"operation": named, "subjects": {"user": users, "group": groups}, **more}


@pytest.mark.parametrize(
    ("permissions", "expected"),
    [
        (None, None),
        ({}, None),
        ([], NOBODY),
        ([permission(groups=listed({"name": "hr"}))], (Clause((), ("hr",)),)),
        ([permission(users=listed({"username": "a"}), on="space")], (Clause(("a",)),)),
        ([permission(users=listed({"username": "a"}), on="page")], NOBODY),
        ([permission(users=listed({"username": "a"}), operation="create")], NOBODY),
        ([permission(operation="create", anonymousAccess=True)], NOBODY),
        ([permission(on="comment", anonymousAccess=True)], NOBODY),
        ([permission(anonymousAccess=True, on="space")], ()),
        ([permission(anonymousAccess=False, groups=listed({"name": "hr"}))], (Clause((), ("hr",)),)),
        ([permission(users=listed({}), groups=listed({}, {"name": "hr"}))], (Clause((), ("hr",)),)),
        (
            [permission(groups=listed({"name": "hr"})), permission(users=listed({"username": "a"}), groups=listed())],
            (Clause(("a",), ("hr",)),),
        ),
        ([permission(groups=listed({"name": "b"}, {"name": "a"}))], (Clause((), ("a", "b")),)),
        ([{"anonymousAccess": True}, {"operation": None, "anonymousAccess": True}], NOBODY),
    ],
)
def test_a_space_is_for_those_who_may_read_it_and_not_said_without_a_list(
    permissions: Any, expected: tuple[Clause, ...] | None
) -> None:
    assert space_readers({} if permissions is None else {"permissions": permissions}) == expected


def test_a_person_is_named_by_address_login_account_or_key_whichever_is_told_first() -> None:
    person = {"userKey": "k", "accountId": "i", "username": "u", "email": "e"}
    told = []
    while person:
        told.append(user_name(person))
        person.popitem()
    assert told == ["e", "u", "i", "k"]
    assert [user_name(odd) for odd in ({}, None, {"email": None, "username": 1}, {"email": ""})] == [""] * 4
