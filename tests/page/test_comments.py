"""Comments: left out by default; else documents of their own, called comments wherever they are shown."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from askwiki.configuration import Configuration
from askwiki.data import Clause, Comment, Page, Passage
from askwiki.settings import AttachmentSettings, ChunkingSettings, ConfluenceSettings, Settings
from askwiki.stages.sources import source_list
from askwiki.texts import load_texts
from indexer.attachments.documents import documents_of
from indexer.chunking.chunks import chunk_page
from indexer.opening import open_source
from tests.page.test_xml_export import EVERYBODY, SPACE, body, page, target, thing, value
from tests.support.rest_wiki import page as rest_page

TEXTS = load_texts(Path(__file__).parents[2] / "config" / "texts")
SAID = {
    "id": "90",
    "type": "comment",
    "status": "current",
    "body": {"storage": {"value": "<p>Уже <b>не так</b>.</p>"}},
    "version": {"by": {"displayName": "Анна Сажина"}, "when": "2025-03-02T10:00:00.000Z"},
}


def read(spec: str, *, wanted: bool = True) -> Page:
    settings = Settings(confluence=ConfluenceSettings(comments=wanted))
    found = open_source(spec, Configuration(settings, Path(), {})).pages()
    return next(one for one in found if isinstance(one, Page))


EXPECTED = (Comment("Анна Сажина", "2025-03-02T10:00:00+00:00", "Уже **не так**."),)


@pytest.mark.parametrize(
    "records",
    [
        [rest_page("1", "А", children={"comment": {"results": [SAID]}})],
        [rest_page("1", "А"), {"results": [{**SAID, "container": {"id": "1", "type": "page"}}]}],
        [
            rest_page("1", "А", history={"createdBy": {"accountId": "5b", "displayName": "Анна Сажина"}}),
            {
                **{"id": "90", "status": "current", "pageId": "1", "body": SAID["body"], "title": "Re: А"},
                "version": {"authorId": "5b", "createdAt": "2025-03-02T10:00:00.000Z"},
            },
        ],
    ],
)
def test_the_api_gives_comments_with_the_page_or_apart(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    for number, record in enumerate(records):
        (tmp_path / f"{number}.json").write_text(json.dumps(record), encoding="utf-8")
    assert read(f"rest:{tmp_path}").comments == EXPECTED
    assert read(f"rest:{tmp_path}", wanted=False).comments == ()


def test_a_deleted_comment_is_none(tmp_path: Path) -> None:
    record = rest_page("1", "А", children={"comment": {"results": [{**SAID, "status": "trashed"}]}})
    (tmp_path / "a.json").write_text(json.dumps(record), encoding="utf-8")
    assert read(f"rest:{tmp_path}").comments == ()


def test_an_xml_export_gives_comments(tmp_path: Path) -> None:
    user = f'<object class="ConfluenceUserImpl" package="p"><id name="key">k1</id>{value("name", "a.s")}</object>'
    name = thing("InternalUser", "u1", value("name", "a.s"), value("displayName", "Анна Сажина"))
    comment = thing(
        "Comment", "90", target("containerContent", "Page", "1"), target("creator", "ConfluenceUserImpl", "k1", "key"),
        value("creationDate", "2025-03-02 10:00:00.000"), value("contentStatus", "current"),
    )  # fmt: skip
    said = body("90", "<p>Уже <b>не так</b>.</p>").replace('class="Page"', 'class="Comment"')
    everything = "".join((SPACE, EVERYBODY, user, name, page("1", "А"), body("1", "<p>т</p>"), comment, said))
    (tmp_path / "entities.xml").write_text(f"<hibernate-generic>{everything}</hibernate-generic>", encoding="utf-8")
    found = read(f"xml:{tmp_path / 'entities.xml'}")
    assert (found.markdown, found.comments) == (
        "т",
        (Comment("Анна Сажина", "2025-03-02T10:00:00", "Уже **не так**."),),
    )
    assert read(f"xml:{tmp_path / 'entities.xml'}", wanted=False).comments == ()


def test_an_html_export_gives_comments(tmp_path: Path) -> None:
    note = '<div class="smallfont"><img src="images/icons/x.png"/>Posted by a.s at Mar 02, 2025 10:00</div>'
    cell = f'<td><a name="comment-90"></a><font class="smallfont"><p>Уже <b>не так</b>.</p></font>{note}</td>'
    head = '<div class="pageSectionHeader"><h2 id="comments">Comments:</h2></div>'
    section = f'<div class="pageSection group">{head}<table><tr>{cell}</tr></table></div>'
    (tmp_path / "a_1.html").write_text(
        f'<html><body><div id="main-content">т</div>{section}</body></html>', encoding="utf-8"
    )
    found = read(f"html:{tmp_path}")
    assert (found.markdown, found.comments) == ("т", (Comment("a.s", "2025-03-02", "Уже **не так**."),))


def test_comments_are_a_document_of_their_own_with_chunks_of_their_own_kind() -> None:
    readers = (Clause(groups=("sklad",)),)
    said = (
        Comment("Анна", "2025-03-02T10:00:00", "# Нет\n\nУже не так."),
        Comment("", "", "Так."),
        Comment("Б", "", " "),
    )
    one = Page("1", "KB", "Приёмка", ("Склад",), "https://w/1", "Текст.", readers=readers, comments=said)
    [found] = documents_of(one, AttachmentSettings())
    assert isinstance(found, Page)
    assert found.markdown == "## Комментарий: Анна, 2025-03-02\n\n### Нет\n\nУже не так.\n\n## Комментарий\n\nТак."
    assert (found.id, found.title, found.readers, found.content) == ("1!/comments", "Приёмка", readers, "comments")
    chunks = chunk_page(
        found, count=lambda texts: [len(text.split()) + 2 for text in texts], limit=400, settings=ChunkingSettings()
    )
    assert {(chunk.kind, chunk.url, chunk.content) for chunk in chunks} == {("comment", "https://w/1", "comments")}


def test_a_comment_is_called_one_in_the_list() -> None:
    passage = Passage(1, "1!/comments", "Приёмка", (), (), "https://w/1", "", "т", ("c",), content="comments")
    told = source_list([passage], title="И", texts=TEXTS, language="ru", now=datetime(2026, 1, 2, tzinfo=UTC))
    assert told.endswith("1. [Приёмка](https://w/1) · комментарий к странице")
