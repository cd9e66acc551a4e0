"""Who stands behind a request, from all sources of groups; what cannot be asked closes and is said."""

from __future__ import annotations

import dataclasses
import functools
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from askwiki.data import Clause, Identity
from askwiki.errors import StoreError
from askwiki.kit import Kit
from askwiki.openwebui.asker import identity_behind, person_id
from askwiki.request import Request
from askwiki.settings import AccessSettings, ConfluenceSettings, Settings, WikiSettings

USER = {"id": "1", "email": "anna@example.com", "name": "Анна", "role": "user"}


class Rights:
    """Of a store, whom its pages are restricted to."""

    def __init__(self, *groups: str, down: bool = False) -> None:
        self.groups = groups
        self.down = down

    def conjunctions(self) -> dict[str, tuple[Clause, ...]]:
        if self.down:
            raise StoreError("The store does not answer.")
        return {group: (Clause(groups=(group,)),) for group in self.groups}


class Notes:
    def say(self, name: str, language: str) -> str:
        return f"{name} in {language}"


def kit(folder: Path, rights: Rights | None = None, wiki: str = "", **access: str) -> Kit:
    settings = Settings(
        wiki=WikiSettings(url=wiki), access=AccessSettings(**access), confluence=ConfluenceSettings(timeout=2)
    )
    parts = {"settings": settings, "configuration": SimpleNamespace(folder=folder), "reader": rights or Rights()}
    return cast(Kit, SimpleNamespace(**parts, texts=Notes()))


def asker(kit: Kit, user: object = USER, *, recall: bool = False, **headers: str) -> Identity:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return identity_behind(user, Request(headers=named), kit, **({"recall": True} if recall else {}))


@pytest.fixture
def wiki() -> Iterator[str]:
    """The address of a wiki that names the group of everybody who asks."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"results": [{"name": "Of the wiki"}]}).encode())

        def log_message(self, *_: Any) -> None:
            """Not into the output of the tests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=functools.partial(server.serve_forever, 0.05))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_groups_come_from_header_and_file_together_and_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "groups.yaml").write_text("groups: {finance: [anna@example.com]}", encoding="utf-8")
    found = asker(kit(tmp_path), x_user_groups="HR")
    assert (found.groups, found.known, found.note) == (("finance", "hr"), True, "")


def test_a_person_without_a_record_is_told_that_only_public_pages_are_searched(tmp_path: Path) -> None:
    found = asker(kit(tmp_path), None, x_user_groups="HR")
    assert (found.known, found.groups, found.note) == (False, (), "public_only in ru")


def test_a_broken_file_of_groups_closes_what_it_would_open_and_is_said(tmp_path: Path) -> None:
    (tmp_path / "groups.yaml").write_text("groups: [", encoding="utf-8")
    found = asker(kit(tmp_path), x_user_groups="HR")
    assert (found.groups, found.known, found.note) == (("hr",), True, "directory_down in ru")


def test_only_the_filter_recalls_the_groups_of_the_last_question(tmp_path: Path) -> None:
    user = {**USER, "email": "recalled@example.com"}
    asker(kit(tmp_path), user, x_user_groups="HR")
    assert asker(kit(tmp_path), user, recall=True).groups == ("hr",)
    assert asker(kit(tmp_path), user).groups == ()


def test_the_wiki_is_asked_for_groups_only_where_the_settings_say_so(tmp_path: Path, wiki: str) -> None:
    assert asker(kit(tmp_path, wiki=wiki, groups_from="file,rest")).groups == ("of the wiki",)
    assert asker(kit(tmp_path, wiki=wiki, groups_from="file")).groups == ()


def test_the_wiki_is_not_asked_for_a_person_whom_nobody_knows(tmp_path: Path, wiki: str) -> None:
    found = asker(kit(tmp_path, wiki=wiki, groups_from="rest"), {"id": "1", "name": "Анна"})
    assert (found.groups, found.note) == ((), "public_only in ru")


def test_a_wiki_that_is_down_leaves_the_other_groups_and_is_said(tmp_path: Path) -> None:
    found = asker(kit(tmp_path, wiki="http://127.0.0.1:9", groups_from="header,rest"), x_user_groups="HR")
    assert (found.groups, found.note) == (("hr",), "directory_down in ru")


def test_several_groups_without_ids_are_believed_by_the_rights_in_the_index(tmp_path: Path) -> None:
    assert asker(kit(tmp_path, Rights("Finance", "hr")), x_user_groups="HR,Finance").groups == ("finance", "hr")
    assert asker(kit(tmp_path, Rights("hr")), x_user_groups="HR,Finance").groups == ()


def test_an_index_that_cannot_be_read_makes_several_groups_none(tmp_path: Path) -> None:
    assert asker(kit(tmp_path, Rights("finance", "hr", down=True)), x_user_groups="HR,Finance").groups == ()


def test_the_note_speaks_the_language_of_the_settings(tmp_path: Path) -> None:
    english = kit(tmp_path)
    english = cast(
        Kit, SimpleNamespace(**{**vars(english), "settings": dataclasses.replace(english.settings, language="en")})
    )
    assert asker(english, None).note == "public_only in en"


@pytest.mark.parametrize(("user", "expected"), [({"id": "u-1"}, "u-1"), ({}, ""), (None, ""), ("u-1", "")])
def test_a_person_is_named_by_the_id_of_the_record(user: object, expected: str) -> None:
    assert person_id(user) == expected
