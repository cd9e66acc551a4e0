"""The Cloud editor's own format: what stands in it comes out where it stood."""

from __future__ import annotations

import json
from typing import Any

import pytest

from indexer.confluence.page import convert
from indexer.confluence.parse.adf_json import parse_adf
from indexer.confluence.parse.links import Context

LINK = {"type": "link", "attrs": {"href": "https://x.example"}}


def node(kind: str, *content: Any, **attrs: Any) -> dict[str, Any]:
    return {"type": kind, "attrs": attrs, "content": list(content)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


@pytest.mark.parametrize(
    ("given", "markdown"),
    [
        (
            [node("blockCard", url="https://a.example"), node("embedCard", url="https://b.example")],
            "https://a.example\n\nhttps://b.example",
        ),
        ([node("paragraph", text("см. "), node("inlineCard", url="https://a.example"))], "см. https://a.example"),
        (
            [
                node(
                    "taskList",
                    node("taskItem", text("сдать"), state="DONE"),
                    node("taskList", node("taskItem", text("акт"), state="TODO")),
                )
            ],
            "- [x] сдать\n  - [ ] акт",
        ),
        (
            [
                node(
                    "mediaGroup",
                    node("media", type="file", id="1", __fileName="а.pdf"),
                    node("media", type="file", id="2", __fileName="б.docx"),
                )
            ],
            "а.pdf\n\nб.docx",
        ),
        (
            [node("mediaSingle", node("media", id="1", alt="план.png") | {"marks": [LINK]})],
            "[![план.png](план.png)](https://x.example)",
        ),
        ([node("panel", node("paragraph", text("пить")), panelType="custom", panelIconText="❌")], "> ❌ пить"),
        ([node("paragraph", node("emoji", shortName=":rocket:", id="1f680"))], "🚀"),
    ],
)
def test_a_node_becomes_markdown(given: list[dict[str, Any]], markdown: str) -> None:
    document = json.dumps({"type": "doc", "content": given})
    assert convert(parse_adf(document), Context()).markdown == markdown


@pytest.mark.parametrize("bare", [False, True])
def test_a_table_in_a_cell_is_read_out_of_its_parameter(bare: bool) -> None:
    words = {"type": "paragraph", "content": [{"type": "text", "text": "консоль"}]}
    table = {"type": "table", "content": [{"type": "tableRow", "content": [{"type": "tableCell", "content": [words]}]}]}
    held = {"adf": json.dumps({"type": "doc", "version": 1, "content": [table]})}
    older = {"macroParams": {"nestedContent": {"value": json.dumps(table)}}}
    attributes = {"extensionKey": "nested-table", "parameters": older if bare else held}
    document = {"type": "doc", "content": [{"type": "extension", "attrs": attributes}]}
    cell = parse_adf(json.dumps(document)).find(".//td")
    assert cell is not None and "".join(cell.itertext()) == "консоль"
