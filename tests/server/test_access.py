"""Who may read what: keys of conjunctions, rights of people, groups from the header and the file."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from askwiki.access import identity as identities
from askwiki.access.directory import Directory, load_directory
from askwiki.access.identity import Ambiguous, GroupMemory, header_groups, identity_of, told_before
from askwiki.access.rights import (
    NOBODY,
    acl_key,
    known_readers,
    normalise,
    not_told,
    rights_of,
    stated_user,
    unbelieved,
)
from askwiki.data import PUBLIC, Clause, Identity, Rights
from askwiki.errors import SettingsError
from askwiki.metrics import METRICS
from askwiki.settings import AccessSettings

SETTINGS = AccessSettings()
KINDS = ("html", "xml", "rest", "markdown", "backstage")
ANNA = Identity(id="1", email="anna@example.com", name="Анна", groups=("finance",), known=True)
USER = {"id": "1", "email": "anna@example.com", "name": "Анна", "role": "user"}


def clause(*groups: str, users: tuple[str, ...] = ()) -> Clause:
    return Clause(users=users, groups=groups)


def passes(identity: Identity, *clauses: Clause, settings: AccessSettings = SETTINGS) -> bool:
    return "k" in rights_of(identity, {"k": clauses}, settings).keys


def identify(
    user: object,
    headers: dict[str, str] | None = None,
    *,
    settings: AccessSettings = SETTINGS,
    directory: Directory | None = None,
    memory: GroupMemory | None = None,
    recall: bool = False,
) -> Identity:
    return identity_of(
        user,
        headers or {},
        settings=settings,
        directory=directory or Directory(),
        memory=memory or GroupMemory(),
        **({"recall": True} if recall else {}),  # without it: as the pipe asks
    )


def test_no_restriction_has_the_public_key() -> None:
    assert acl_key(()) == PUBLIC


def test_the_same_conjunction_written_otherwise_has_the_same_key() -> None:
    written = (clause("Finance ", "hr"), clause("it", users=("Anna@Example.com",)))
    otherwise = (clause("it", "it", users=("anna@example.com",)), clause("HR", "finance"), clause("hr", "finance"))
    assert acl_key(written) == acl_key(otherwise)


def test_a_clause_that_a_stricter_one_implies_goes() -> None:
    assert normalise((clause("finance", "hr"), clause("finance"))) == (clause("finance"),)
    assert normalise((Clause(("a", "b"), ("hr",)), Clause(("a",), ("hr",)))) == (Clause(("a",), ("hr",)),)
    neither = (Clause(("a", "b"), ("hr",)), Clause(("a",), ("it",)))
    assert set(normalise(neither)) == set(neither)


def test_a_key_stays_what_it_is_from_version_to_version() -> None:
    """Indexes hold it: another way to write it would close every restricted page until the next full run."""
    assert acl_key((clause("Кадры"), clause(users=("a@example.com",)))) == "470e148502ffe485c7e88a71c72b6ff1"


def test_a_name_that_is_no_valid_text_has_a_key_of_its_own() -> None:
    assert acl_key((clause("\udce9"),)) != acl_key((clause("\udcea"),))


def test_a_key_whose_readers_have_changed_is_passed_by_the_new_ones() -> None:
    key = {"changing": (clause("finance"),)}
    assert "changing" in rights_of(ANNA, key, SETTINGS).keys
    assert "changing" not in rights_of(ANNA, {"changing": (clause("hr"),)}, SETTINGS).keys
    assert "changing" in rights_of(ANNA, {"changing": (clause("finance"),)}, SETTINGS).keys


def test_different_conjunctions_have_different_keys() -> None:
    assert acl_key((clause("a", "b"),)) != acl_key((clause("a"), clause("b")))
    assert acl_key((clause("a"),)) != acl_key((clause(users=("a",)),))


def test_a_clause_without_members_is_kept_and_passed_by_nobody() -> None:
    assert normalise((clause("a"), Clause())) == NOBODY
    assert not passes(ANNA, Clause())


def test_every_clause_must_be_passed() -> None:
    assert passes(ANNA, clause("finance"), clause("hr", users=("ANNA@example.com",)))
    assert not passes(ANNA, clause("finance"), clause("hr"))


def test_an_unknown_person_sees_the_public_part_whatever_the_record_says() -> None:
    unknown = dataclasses.replace(ANNA, known=False, note="Права не определены.")
    assert rights_of(unknown, {"k": (clause("finance"),)}, SETTINGS) == Rights(frozenset({PUBLIC}), unknown.note)


def test_a_key_with_an_empty_conjunction_or_without_a_name_is_invisible() -> None:
    assert rights_of(ANNA, {"k": (), "": (clause("finance"),)}, SETTINGS).keys == {PUBLIC}


def test_every_known_person_is_in_the_groups_of_everybody() -> None:
    assert passes(dataclasses.replace(ANNA, groups=()), clause("Confluence-Users"))
    assert not passes(Identity(), clause("confluence-users"))
    assert passes(ANNA, clause("staff"), settings=AccessSettings(everybody_groups="all, staff"))


def test_groups_learned_too_long_ago_are_closed() -> None:
    old = dataclasses.replace(ANNA, groups_age=SETTINGS.max_age + 1)
    assert not passes(old, clause("finance"))
    assert passes(old, clause(users=("anna@example.com",)))
    assert passes(dataclasses.replace(ANNA, groups_age=SETTINGS.max_age), clause("finance"))
    assert passes(old, clause("finance"), settings=dataclasses.replace(SETTINGS, max_age=0))


def test_a_user_name_matches_only_by_the_stated_attribute_or_the_alias() -> None:
    by_id = dataclasses.replace(SETTINGS, user_attribute="id")
    assert not passes(ANNA, clause(users=("1",)))
    assert passes(ANNA, clause(users=("1",)), settings=by_id)
    assert passes(dataclasses.replace(ANNA, aliases=("a.ivanova",)), clause(users=("A.Ivanova",)))


def test_a_display_name_is_no_login_unless_the_admin_says_that_nobody_can_change_it() -> None:
    by_name = dataclasses.replace(SETTINGS, user_attribute="name")
    liar = dataclasses.replace(ANNA, name="A.Boss")
    assert not passes(liar, clause(users=("a.boss",)), settings=by_name)
    assert stated_user(liar, by_name) == ""
    assert "groups.yaml" in unbelieved(by_name)
    trusting = dataclasses.replace(by_name, trust_names=True)
    assert passes(liar, clause(users=("a.boss",)), settings=trusting)
    assert (unbelieved(trusting), unbelieved(SETTINGS)) == ("", "")


def test_a_display_name_cannot_claim_an_address() -> None:
    by_name = dataclasses.replace(SETTINGS, user_attribute="name", trust_names=True)
    liar = dataclasses.replace(ANNA, name="boss@example.com")
    assert not passes(liar, clause(users=("boss@example.com",)), settings=by_name)


@pytest.mark.parametrize(
    ("kind", "readers", "expected"),
    [
        ("html", None, NOBODY),
        ("xml", None, NOBODY),
        ("rest", None, NOBODY),
        ("markdown", None, ()),
        ("html", (), ()),
        ("html", (clause("A"),), (clause("a"),)),
    ],
)
def test_unknown_readers_are_closed_but_for_markdown(
    kind: str, readers: tuple[Clause, ...] | None, expected: tuple[Clause, ...]
) -> None:
    assert known_readers(readers, kind, SETTINGS) == expected


@pytest.mark.parametrize("kind", ["html", "xml", "rest", "markdown", "backstage"])
def test_every_kind_of_source_is_opened_and_closed_by_its_own_setting(kind: str) -> None:
    opened = AccessSettings(
        **{f"unknown_{each}": "open" if each == kind else "closed" for each in KINDS}  # type: ignore[arg-type]
    )
    assert [known_readers(None, each, opened) == () for each in KINDS] == [each == kind for each in KINDS]


def test_an_unknown_clause_beside_known_ones_is_closed_and_opens_by_the_settings_only() -> None:
    readers = (clause("hr"), Clause(unknown=True))
    assert known_readers(readers, "xml", SETTINGS) == NOBODY
    listed = dataclasses.replace(SETTINGS, unknown_groups="auditors")
    assert known_readers(readers, "xml", listed) == (clause("auditors"), clause("hr"))
    assert known_readers(readers, "xml", dataclasses.replace(SETTINGS, unknown_xml="open")) == (clause("hr"),)
    assert [not_told(readers), not_told(readers[:1]), not_told(()), not_told(None)] == [True, False, False, True]


def test_an_unknown_clause_that_nobody_looked_at_lets_nobody_in() -> None:
    assert normalise([Clause(unknown=True)]) == NOBODY
    assert not passes(ANNA, Clause(unknown=True))


def test_closed_pages_are_open_to_the_listed_groups() -> None:
    settings = dataclasses.replace(SETTINGS, unknown_groups="wiki-admins, Auditors")
    assert known_readers(None, "xml", settings) == (clause("auditors", "wiki-admins"),)


def test_groups_come_from_the_header_decoded() -> None:
    headers = {"x-user-groups": "finance,%D0%9A%D0%B0%D0%B4%D1%80%D1%8B", "x-user-group-ids": "g-1,g-2"}
    identity = identify(USER, headers)
    assert (identity.groups, identity.known, identity.groups_age) == (("finance", "кадры"), True, 0.0)


@pytest.mark.parametrize("value", [None, "{{USER_GROUPS}}"])
def test_an_unfilled_header_is_no_groups(value: str | None) -> None:
    assert header_groups(value) is None


@pytest.mark.parametrize(
    ("value", "ids", "expected"),
    [
        ("hr", None, ("hr",)),  # one name without a comma is one group
        ("", None, ()),
        ("", "", ()),
        ("hr", "g-1", ("hr",)),
        ("hr,it", "g-1,g-2", ("hr", "it")),
        ("hr,", "g-1,g-2", ("hr",)),  # the second has no name
        ("", "g-1", ()),
        ("Отдел%2C HR", "g-1", ("Отдел, HR",)),
    ],
)
def test_as_many_names_as_ids_are_one_a_group(value: str, ids: str | None, expected: tuple[str, ...]) -> None:
    assert header_groups(value, ids) == expected


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ("Отдел, HR", "g-1"),
        ("%D0%9E%D1%82%D0%B4%D0%B5%D0%BB, HR", "g-1"),
        ("Отдел,HR", "g-1"),
        ("Отдел,HR", None),
        ("Отдел,HR", "{{USER_GROUP_IDS}}"),
        ("x,HR,it", "g-1,g-2"),
        (",HR", "g-1"),
        ("HR,", "g-1"),
        ("HR", ""),
        ("HR", "g-1,g-2"),
    ],
)
def test_names_that_cannot_be_told_apart_give_no_group_and_the_admin_is_told(
    value: str, ids: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    sent = {"x-user-groups": value} | ({} if ids is None else {"x-user-group-ids": ids})
    memory = GroupMemory()
    told_before.cache_clear()
    assert identify(USER, sent, memory=memory).groups == ()
    assert identify(USER, memory=memory, recall=True).groups == ()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "x-user-group-ids" in caplog.text and "anna@example.com" not in caplog.text


def test_the_admin_is_told_how_many_groups_there_are_and_how_often_that_happens() -> None:
    with pytest.raises(Ambiguous, match="they are 2"):
        header_groups("HR", "g-1,g-2")
    with pytest.raises(Ambiguous, match="did not say how many"):
        header_groups("Отдел,HR", None)
    before = METRICS.render()
    identify(USER, {"x-user-groups": "Отдел,HR"})
    assert METRICS.render() != before and "askwiki_groups_ambiguous_total" in METRICS.render()


@pytest.mark.parametrize(
    ("value", "known", "expected"),
    [
        ("HR,it", {"hr", "it"}, ("HR", "it")),
        ("Отдел,HR", {"hr"}, None),  # a part that the wiki does not know may be half a name
        ("Отдел, HR", {"отдел", "hr"}, None),  # Open WebUI sends no blank after its comma
        ("Отдел,HR,it", {"отдел", "hr", "it", "отдел,hr"}, None),
        ("Отдел,HR,it", {"отдел", "hr", "it", "отдел,it"}, ("Отдел", "HR", "it")),
        ("HR,it,", {"hr", "it"}, None),
    ],
)
def test_without_ids_several_names_are_believed_when_the_wiki_knows_each(
    value: str, known: set[str], expected: tuple[str, ...] | None
) -> None:
    if expected is None:
        with pytest.raises(Ambiguous, match="none"):
            header_groups(value, None, lambda: known)
    else:
        assert header_groups(value, None, lambda: known) == expected


def test_a_group_whose_name_has_a_comma_is_known_by_its_id() -> None:
    directory = Directory(aliases={"g-1": frozenset({"отдел, hr"})})
    headers = {"x-user-groups": "Отдел, HR,it", "x-user-group-ids": "g-1,g-2"}
    assert identify(USER, headers, directory=directory).groups == ("отдел, hr",)


@pytest.mark.parametrize(
    "user", [None, "anna@example.com", {}, {"id": "1", "email": ""}, {"email": ["anna@example.com"]}]
)
def test_nobody_is_known_without_a_record_with_an_address(user: object) -> None:
    assert identify(user, {"x-user-groups": "finance"}) == Identity()


def test_a_body_that_names_another_person_than_the_header_is_not_believed() -> None:
    assert identify(USER, {"x-openwebui-user-email": "boris@example.com"}) == Identity()
    assert identify(USER, {"x-openwebui-user-email": "Anna@example.com"}).known
    both = {"x-openwebui-user-email": "anna@example.com", "x-user-email": "boris@example.com"}
    assert identify(USER, both) == Identity()


def test_the_filter_recalls_groups_with_their_age_until_they_are_too_old() -> None:
    now = [1000.0]
    memory = GroupMemory(clock=lambda: now[0])
    identify(USER, {"x-user-groups": "finance"}, memory=memory)
    now[0] += 60
    recalled = identify(USER, memory=memory, recall=True)
    assert (recalled.groups, recalled.groups_age) == (("finance",), 60.0)
    assert identify(USER, {"x-user-groups": "hr"}, memory=memory, recall=True).groups == ("hr",)
    identify(USER, {"x-user-groups": "finance"}, memory=memory)
    now[0] += SETTINGS.max_age
    assert identify(USER, memory=memory, recall=True).groups == ("finance",)
    now[0] += 1
    directory = Directory(
        members={"hr": frozenset({"anna@example.com"})}, users={"anna@example.com": frozenset({"a.ivanova"})}
    )
    late = identify(USER, directory=directory, memory=memory, recall=True)
    assert late == Identity(**USER, groups=("hr",), known=True, aliases=("a.ivanova",))


def test_the_groups_of_the_last_people_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identities, "REMEMBERED", 2)
    memory = GroupMemory(clock=lambda: 5.0)
    for name in ("a", "b", "a", "c"):
        memory.learn(name, (name,))
    assert [memory.recall(name) for name in ("a", "b", "c")] == [(("a",), 0.0), None, (("c",), 0.0)]


def test_who_asks_is_whom_the_record_names() -> None:
    expected = Identity(id="1", email="anna@example.com", name="Анна", role="user", known=True, groups_age=0.0)
    assert identify({**USER, "name": " Анна ", "further": 1}) == expected


@pytest.mark.parametrize("header", ["x-openwebui-user-email", "x-user-email"])
@pytest.mark.parametrize("value", ["", "  ", "{{USER_EMAIL}}"])
def test_a_header_that_was_not_filled_names_nobody(header: str, value: str) -> None:
    assert identify(USER, {header: value}).known


def test_a_question_without_the_header_takes_the_groups_away() -> None:
    memory = GroupMemory()
    identify(USER, {"x-user-groups": "finance"}, memory=memory)
    assert identify(USER, memory=memory).groups == ()
    assert identify(USER, memory=memory, recall=True).groups == ()


def test_the_file_gives_groups_inner_groups_aliases_and_user_names(tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text(
        "groups: {finance: ['@accounts', boris@example.com], accounts: Anna@example.com}\n"
        "aliases: {CN=Payments: [payments, cards]}\n"
        "users: {anna@example.com: a.ivanova}\n",
        encoding="utf-8",
    )
    identity = identify(USER, {"x-user-groups": "cn=payments"}, directory=load_directory(file))
    assert identity.groups == ("accounts", "cards", "finance", "payments")
    assert identity.aliases == ("a.ivanova",)


def test_sources_of_groups_can_be_switched_off() -> None:
    directory = Directory(members={"finance": frozenset({"anna@example.com"})})
    only_file = dataclasses.replace(SETTINGS, groups_from="file")
    only_header = dataclasses.replace(SETTINGS, groups_from="header")
    headers = {"x-user-groups": "hr"}
    assert identify(USER, headers, settings=only_file, directory=directory).groups == ("finance",)
    assert identify(USER, headers, settings=only_header, directory=directory).groups == ("hr",)


@pytest.mark.parametrize(
    "text",
    [
        "groups: [a]",
        "group: {}",
        "groups: {a: [1]}",
        "groups: {a: ['@b']}",
        "groups: {a: ",
        "- a",
        "groups: {a: ['  ']}",
    ],
)
def test_a_malformed_groups_file_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"groups\.yaml"):
        load_directory(file)


def test_circles_of_groups_end(tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text("groups: {a: ['@b', x@example.com], b: ['@a']}", encoding="utf-8")
    assert load_directory(file).groups_of("x@example.com") == {"a", "b"}


def test_many_layers_of_groups_inside_one_another_are_read_at_once(tmp_path: Path) -> None:
    file, depth = tmp_path / "groups.yaml", 1_500
    layers = [f"  g{layer}: ['@g{layer + 1}', '@g{min(layer + 2, depth)}']" for layer in range(40)]
    chain = [f"  g{layer}: ['@g{layer + 1}']" for layer in range(40, depth)]
    file.write_text("\n".join(["groups:", *layers, *chain, f"  g{depth}: [x@example.com]"]), encoding="utf-8")
    assert len(load_directory(file).groups_of("x@example.com")) == depth + 1


def test_the_file_of_groups_is_read_again_only_when_it_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    assert load_directory(file) == Directory()
    file.write_text("groups: {finance: [a@example.com]}", encoding="utf-8")
    first = load_directory(file)
    assert load_directory(file) is first
    other = tmp_path / "new"
    other.write_text("groups: {finance: [b@example.com]}", encoding="utf-8")
    os.utime(other, ns=(file.stat().st_mtime_ns, file.stat().st_mtime_ns))
    other.replace(file)  # as editors and configuration tools do it; here with the old time and size
    assert load_directory(file).groups_of("b@example.com") == {"finance"}
    file.unlink()
    assert load_directory(file) == Directory()


def test_the_shipped_groups_file_is_empty_and_valid() -> None:
    assert load_directory(Path(__file__).parents[2] / "config" / "groups.yaml") == Directory()
