"""Files and comments in the index: they come, change, close and go with their page."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from askwiki.access.rights import acl_key
from askwiki.data import Attachment, Clause, Comment, Page
from askwiki.settings import AttachmentSettings, Settings
from indexer.sources import PageFailure
from indexer.sync.rights import compare_rights
from indexer.sync.sync import Rules
from tests.support.sources import Indexer, ListSource, make_page

BOSS = (Clause(users=("boss",)),)
SAID = (Comment("Анна", "2025-03-02", "Уже не так."),)


@dataclass
class LiveList(ListSource):
    """A live wiki: its files are asked for, and it tells who may read what without giving the pages."""

    live: bool = True
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def attachment(self, page_id: str, name: str) -> bytes | None:
        self.asked.append(name)
        return self.files.get(name)

    def changed(self, since: Any) -> Iterator[Page | PageFailure]:
        yield from ()

    def readers(self) -> Iterator[tuple[str, tuple[Clause, ...] | None] | PageFailure]:
        yield from ((item.id, item.readers) for item in self.items if isinstance(item, Page))


def with_file(place: Path, **more: Any) -> Page:
    return make_page("1", "Текст.", attachments=(Attachment(place.name, "https://w/a", "", str(place)),), **more)


def test_documents_come_change_and_go_with_their_page(tmp_path: Path) -> None:
    indexer, file = Indexer(tmp_path), tmp_path / "акт.txt"
    file.write_text("Принято 7 мест.", encoding="utf-8")
    first = indexer.sync(with_file(file, comments=SAID))
    assert (first.read, first.indexed, first.exit_code) == (1, 3, 0)
    assert indexer.texts("1!/акт.txt") == ["Принято 7 мест."]
    assert indexer.texts("1!/comments") == ["## Комментарий: Анна, 2025-03-02\n\nУже не так."]
    again = indexer.sync(with_file(file, comments=SAID))
    assert (again.indexed, again.unchanged, again.removed) == (0, 3, 0)
    file.write_text("Принято 8 мест.", encoding="utf-8")
    assert indexer.sync(with_file(file, comments=SAID)).indexed == 1
    assert indexer.texts("1!/акт.txt") == ["Принято 8 мест."]
    assert indexer.sync(make_page("1", "Текст.")).removed == 2
    assert indexer.texts("1!/акт.txt") == indexer.texts("1!/comments") == []


def test_a_document_that_cannot_be_read_any_more_keeps_what_is_stored(tmp_path: Path) -> None:
    indexer, file = Indexer(tmp_path), tmp_path / "a.csv"
    file.write_text("код;срок\n7;день", encoding="utf-8")
    indexer.sync(with_file(file))
    file.write_bytes(b"\xd0\xcf\x11\xe0")
    assert indexer.sync(with_file(file)).removed == 0
    assert indexer.texts("1!/a.csv") == ["| код | срок |\n| --- | --- |\n| 7 | день |"]


def test_many_documents_do_not_make_a_wiki_look_shrunk(tmp_path: Path) -> None:
    indexer = Indexer(tmp_path)
    pages = [make_page(str(number), f"Текст {number}.", comments=SAID) for number in range(9)]
    indexer.sync(*pages)
    assert indexer.sync(*pages).unchanged == 18


def test_a_right_taken_from_a_page_is_taken_from_its_documents(tmp_path: Path) -> None:
    indexer = Indexer(tmp_path)
    indexer.sync(make_page("1", "Текст.", comments=SAID))
    writer = indexer.store.writer(indexer.fingerprint())
    closed = LiveList([make_page("1", "Текст.", readers=BOSS)])
    compare_rights(closed, writer=writer, settings=indexer.settings)
    writer.commit()
    writer.close()
    assert indexer.texts("1!/comments") == []
    assert indexer.texts("1!/comments", acl_key(BOSS)) == ["## Комментарий: Анна, 2025-03-02\n\nУже не так."]


def test_files_of_a_live_wiki_are_asked_for_by_a_setting_when_their_page_changes(tmp_path: Path) -> None:
    file = Attachment("a.txt", "https://w/a?version=1")
    source = LiveList([make_page("1", "Текст.", attachments=(file,))], files={"a.txt": "Принято 7 мест.".encode()})
    without = Indexer(tmp_path / "without")
    without.run(source, Rules())
    assert (source.asked, without.texts("1!/a.txt")) == ([], [])
    settings = dataclasses.replace(Settings(), attachments=AttachmentSettings(fetch=True))
    indexer = Indexer(tmp_path / "with", settings=settings)
    indexer.run(source, Rules())
    ledger = indexer.run(source, Rules())
    assert (source.asked, indexer.texts("1!/a.txt"), ledger.removed) == (["a.txt"], ["Принято 7 мест."], 0)
    source.items = [make_page("1", "Текст.", attachments=(Attachment("a.txt", "https://w/a?version=2"),))]
    source.files = {}
    indexer.run(source, Rules())
    assert (source.asked, indexer.texts("1!/a.txt")) == (["a.txt", "a.txt"], ["Принято 7 мест."])
