"""Listings of children, labels, files and blog posts: out of the source itself, and only what all readers may see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from askwiki.configuration import Configuration
from askwiki.data import Page
from askwiki.settings import Settings
from indexer.opening import open_source
from tests.support.rest_wiki import page, restricted

SPACE = {
    "key": "KB",
    "permissions": [{"operation": {"operation": "read", "targetType": "space"}, "anonymousAccess": True}],
}
EXCERPT = (
    '<ac:structured-macro ac:name="excerpt"><ac:rich-text-body><p>Для <b>тары</b> до 5 кг.</p></ac:rich-text-body>'
    "</ac:structured-macro><p>Дальше.</p>"
)
TARA = '<ac:link><ri:page ri:content-title="Тара"/></ac:link>'


def macro(name: str, inside: str = "", **parameters: str) -> str:
    given = "".join(f'<ac:parameter ac:name="{key}">{value}</ac:parameter>' for key, value in parameters.items())
    return f'<ac:structured-macro ac:name="{name}">{given}{inside}</ac:structured-macro>'


def stored(body: str, view: str = "") -> dict[str, Any]:
    return {"body": {"storage": {"value": body}, **({"view": {"value": view}} if view else {})}}


def below(*titles: str) -> dict[str, Any]:
    numbers = {"Склад": "1", "Весы": "2", "Тара": "3"}
    return {"ancestors": [{"id": numbers[title], "type": "page", "title": title} for title in titles]}


def labels(*names: str) -> dict[str, Any]:
    return {"metadata": {"labels": {"results": [{"prefix": "global", "name": name} for name in names]}}}


def shown(tmp_path: Path, body: str, *records: dict[str, Any], view: str = "", **more: Any) -> Page:
    """The page «Склад» with this body, beside these pages."""
    first = page("1", "Склад", **stored(body, view), **more)
    for number, record in enumerate((first, *records, SPACE)):
        (tmp_path / f"{number}.json").write_text(json.dumps(record), encoding="utf-8")
    found = open_source(f"rest:{tmp_path}", Configuration(Settings(), Path(), {})).pages()
    return next(one for one in found if isinstance(one, Page) and one.id == "1")


def place(number: int) -> dict[str, Any]:
    return {"extensions": {"position": number}}


FAMILY = (
    page("2", "Весы", **below("Склад"), **place(2), **stored("<p>до тонны</p>")),
    page("3", "Тара", **below("Склад"), **place(1), **stored(EXCERPT), **labels("тара", "склад")),
    page("4", "Лотки", **below("Склад", "Тара"), **labels("тара")),
    page("5", "Оклады", **below("Склад"), restrictions=restricted(("boss",)), **labels("тара")),
    page("6", "Новость", type="blogpost", **stored(EXCERPT), **labels("весть")),
)


def address(number: int) -> str:
    return f"/pages/viewpage.action?pageId={number}"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (macro("children"), ["- [Тара](3)", "- [Весы](2)"]),
        (macro("children", depth="2"), ["- [Тара](3)", "  - [Лотки](4)", "- [Весы](2)"]),
        (macro("children", all="true"), ["- [Тара](3)", "  - [Лотки](4)", "- [Весы](2)"]),
        (macro("pagetree"), ["- [Тара](3)", "  - [Лотки](4)", "- [Весы](2)"]),
        (macro("children", sort="title", first="1"), ["- [Весы](2)"]),
        (macro("children", excerptType="simple"), ["- [Тара](3): Для **тары** до 5 кг.", "- [Весы](2)"]),
        (
            macro("children", f'<ac:parameter ac:name="page">{TARA}</ac:parameter>'),
            ["- [Лотки](4)"],
        ),
        (macro("contentbylabel", labels="тара"), ["- [Тара](3)", "- [Лотки](4)"]),
        (macro("contentbylabel", cql='label = "тара" and space = currentSpace()'), ["- [Тара](3)", "- [Лотки](4)"]),
        (macro("contentbylabel", cql='label = "тара" and label = "склад"'), ["- [Тара](3)"]),
        (macro("contentbylabel", cql='label in ("весть", "склад")'), ["- [Тара](3)", "- [Новость](6)"]),
        (macro("contentbylabel", labels="тара,склад", operator="AND"), ["- [Тара](3)"]),
        (macro("contentbylabel", labels="тара,-склад"), ["- [Лотки](4)"]),
        (macro("contentbylabel", labels="тара", spaces="DRUGOE"), []),
        (macro("blog-posts", content="titles"), ["- [Новость](6)"]),
        (macro("blog-posts"), ["- [Новость](6): Для **тары** до 5 кг."]),
    ],
)  # fmt: skip
def test_a_listing_names_what_all_readers_of_its_page_may_read(tmp_path: Path, body: str, lines: list[str]) -> None:
    found = shown(tmp_path, f"<p>До.</p>{body}<p>После.</p>", *FAMILY)
    made = [line for line in found.markdown.split("\n") if line.strip() and line not in ("До.", "После.")]
    assert [line.replace("/pages/viewpage.action?pageId=", "") for line in made] == lines
    assert "Оклады" not in found.markdown


def test_a_page_that_as_few_may_read_names_what_they_may_read(tmp_path: Path) -> None:
    found = shown(tmp_path, macro("children"), *FAMILY, restrictions=restricted(("boss",)))
    assert "Оклады" in found.markdown


def test_the_rendering_of_the_wiki_does_not_open_what_the_source_knows_to_be_closed(tmp_path: Path) -> None:
    view = '<ul class="childpages-macro" data-macro-name="children"><li><a href="/x">Оклады</a></li></ul>'
    assert "Оклады" not in shown(tmp_path, macro("children"), *FAMILY, view=view).markdown


def test_files_are_listed_where_the_answer_lists_them(tmp_path: Path) -> None:
    held = {"children": {"attachment": {"results": [{"title": "акт.pdf"}, {"title": "план.png"}]}}}
    found = shown(tmp_path, macro("attachments") + macro("gallery"), **held)
    assert found.markdown == (
        "- [акт.pdf](/download/attachments/1/акт.pdf)\n- [план.png](/download/attachments/1/план.png)\n\n"
        "- ![план.png](/download/attachments/1/план.png)"
    )
    view = '<div data-macro-name="attachments"><a class="filename" href="/download/attachments/1/b.pdf">b.pdf</a></div>'
    assert "b.pdf" in shown(tmp_path, macro("attachments"), view=view).markdown


@pytest.mark.parametrize("name", ["toc", "recently-updated", "livesearch", "anchor"])
def test_controls_of_the_wiki_show_nothing(tmp_path: Path, name: str) -> None:
    assert shown(tmp_path, f"<p>До.</p>{macro(name)}", *FAMILY).markdown == "До."
