"""Diagrams out of their files and payloads, and what becomes of those that cannot be read."""

from __future__ import annotations

import base64
import json
import zlib
from urllib.parse import quote

import pytest

from indexer.confluence.macros.drawings import drawing_to_plantuml
from indexer.confluence.macros.plantuml import UnreadableDiagram, decode_data, plain_source
from indexer.confluence.page import convert
from indexer.confluence.parse.adf_json import parse_adf
from indexer.confluence.parse.html_tree import parse_fragment
from indexer.confluence.parse.links import Context


def packed(text: str) -> str:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(packer.compress(quote(text).encode()) + packer.flush()).decode()


def test_a_gliffy_file_gives_its_shapes_and_lines() -> None:
    def shape(identity: int, text: str) -> dict[str, object]:
        label = {"graphic": {"type": "Text", "Text": {"html": f"<p>{text}</p>"}}}
        return {"id": identity, "graphic": {"type": "Shape"}, "children": [label]}

    ends = {
        "startConstraint": {"StartPositionConstraint": {"nodeId": 1}},
        "endConstraint": {"EndPositionConstraint": {"nodeId": 2}},
    }
    line = {"id": 3, "graphic": {"type": "Line"}, "constraints": ends, "children": []}
    data = json.dumps({"stage": {"objects": [shape(1, "Касса &quot;А&quot;"), shape(2, "Склад"), line]}})
    assert drawing_to_plantuml(data.encode()).split("\n") == [
        "@startuml", "rectangle \"Касса 'А'\" as n1", 'rectangle "Склад" as n2', "n1 --> n2", "@enduml",
    ]  # fmt: skip


def test_a_packed_drawing_gives_nested_boxes_and_labelled_edges() -> None:
    model = (
        '<mxGraphModel><root><mxCell id="0"/><mxCell id="1" parent="0"/>'
        '<mxCell id="z" value="Зона" vertex="1" parent="1"/>'
        '<object id="a" label="Узел&lt;br&gt;1"><mxCell vertex="1" parent="z"/></object>'
        '<mxCell id="b" value="База" vertex="1" parent="1"/><mxCell id="e" edge="1" source="a" target="b" parent="1"/>'
        '<mxCell id="l" value="TCP 5433" vertex="1" parent="e"/></root></mxGraphModel>'
    )
    file = f"<mxfile><diagram>{packed(model)}</diagram></mxfile>"
    assert drawing_to_plantuml(file.encode()).split("\n") == [
        "@startuml", 'rectangle "Зона" as n1 {', '  rectangle "Узел 1" as n2', "}", 'rectangle "База" as n3',
        "n2 --> n3 : TCP 5433", "@enduml",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"{", b"<mxfile><diagram>!!</diagram></mxfile>", b"<mxGraphModel/>", b"\x89PNG"]
)
def test_a_file_that_is_no_drawing_is_told(data: bytes) -> None:
    with pytest.raises(UnreadableDiagram):
        drawing_to_plantuml(data)


def test_parents_in_a_circle_end() -> None:
    cells = '<mxCell id="a" value="А" vertex="1" parent="b"/><mxCell id="b" value="Б" vertex="1" parent="a"/>'
    assert drawing_to_plantuml(f"<mxGraphModel>{cells}</mxGraphModel>".encode()).startswith("@startuml")


@pytest.mark.parametrize(
    ("data", "compressed", "reason"),
    [
        ("DATA(x)", True, "no base64"),
        ("", True, "empty"),
        (base64.b64encode(b"no deflate").decode(), True, "no DEFLATE data"),
        (packed("a" * 1000)[:-8], True, "cut off|no base64|no DEFLATE"),
        (base64.b64encode(b"\xff\xfe").decode(), False, "no UTF-8"),
        (packed(" " * 2_000_000), True, "unpacks to more than"),
    ],
)
def test_a_payload_that_cannot_be_read_says_why(data: str, compressed: bool, reason: str) -> None:
    with pytest.raises(UnreadableDiagram, match=reason):
        decode_data(data, compressed)


def test_a_json_body_that_is_no_diagram_stays_as_it_is() -> None:
    assert plain_source('{"umlDefinition": 5}') == '{"umlDefinition": 5}'
    assert plain_source("{broken") == "{broken"


def test_the_cloud_editors_document_becomes_markdown() -> None:
    def text(words: str, *marks: dict[str, object]) -> dict[str, object]:
        return {"type": "text", "text": words, "marks": list(marks)}

    def node(kind: str, *content: dict[str, object], **attrs: object) -> dict[str, object]:
        return {"type": kind, "content": list(content), "attrs": attrs}

    cells = [node("tableHeader", node("paragraph", text("А"))), node("tableHeader", node("paragraph", text("Б")))]
    values = [
        node("tableCell", node("paragraph", text("1")), rowspan=1),
        node("tableCell", node("paragraph", text("2"))),
    ]
    document = node(
        "doc",
        node("heading", text("Смена"), level=2),
        node(
            "paragraph", text("до "), node("date", timestamp="1743465600000"), text(" "), node("status", text="ГОТОВО")
        ),
        node("paragraph", text("см. "), text("портал", {"type": "link", "attrs": {"href": "https://p.example"}})),
        node("panel", node("paragraph", text("ночью двое")), panelType="warning"),
        node(
            "taskList", node("taskItem", text("сдать"), state="DONE"), node("taskItem", text("принять"), state="TODO")
        ),
        node("table", node("tableRow", *cells), node("tableRow", *values)),
        node("codeBlock", text("a\n  b"), language="bash"),
        node(
            "extension",
            extensionKey="plantuml",
            parameters={"macroParams": {"__bodyContent": {"value": "@startuml\n@enduml"}}},
        ),
        node(
            "paragraph",
            node("mention", text="@Ольга"),
            node("emoji", shortName=":fire:", text="🔥"),
            node("placeholder", text="нет"),
        ),
    )
    assert convert(parse_adf(json.dumps(document)), Context()).markdown.split("\n\n") == [
        "## Смена", "до 2025-04-01 ГОТОВО", "см. [портал](https://p.example)", "> **Предупреждение:** ночью двое",
        "- [x] сдать\n- [ ] принять", "| А | Б |\n| --- | --- |\n| 1 | 2 |", "```bash\na\n  b\n```",
        "```plantuml\n@startuml\n@enduml\n```", "Ольга🔥",
    ]  # fmt: skip


def test_a_page_nested_beyond_the_parser_keeps_its_words_and_says_so() -> None:
    converted = convert(parse_fragment("<div>слово " * 3000 + "<p>конец</p>"), Context())
    assert (converted.markdown.count("слово"), converted.markdown.endswith("конец")) == (3000, True)
    assert [loss.kind for loss in converted.losses] == ["nesting"]
