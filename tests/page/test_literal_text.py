"""What a reader sees as signs stays signs: the Markdown, read by a CommonMark parser, says the same letters."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from indexer.confluence.page import convert
from indexer.confluence.parse.links import Context
from indexer.confluence.parse.storage import parse_storage
from indexer.confluence.parse.text import clean
from tests.page.test_conversion_properties import examples

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
PIECES = (
    *"ab1я *_#`~[]()!<>&|-+=.:\\\"'/$^{}@;",
    *("  ", "**", "__", "~~", "``", "```", "---", "===", "# ", "- ", "1. ", "> ", "&amp;", "&#35;", "<b>", "<!--"),
    *("http://x.example/a_b_", "<br>", "[a](b)", "![", "]:", "|---|", "\u00a0"),
)
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join)
MACRO = '<ac:structured-macro ac:name="{}"><ac:parameter ac:name="title">{{}}</ac:parameter>{}</ac:structured-macro>'
BODY = "<ac:rich-text-body><p>z</p></ac:rich-text-body>"
TASK = "<ac:task><ac:task-status>complete</ac:task-status><ac:task-body>{}z</ac:task-body></ac:task>"
# (storage format around the text, what else the reader sees before and behind it)
PLACES = {
    "paragraph": ("<p>{}</p>", "", ""),
    "line": ("<p>z<br/>{}</p>", "z", ""),
    "item": ("<ol><li>{}</li></ol>", "", ""),
    "heading": ("<h2>{}</h2>", "", ""),
    "quote": ("<blockquote><p>{}</p></blockquote>", "", ""),
    "cell": ("<table><tr><th>h</th></tr><tr><td>{}</td></tr></table>", "h", ""),
    "header": ("<table><tr><th>{}</th></tr><tr><td>z</td></tr></table>", "", "z"),
    "key": ("<table><tr><th>k{}k</th><td>z</td></tr></table>", "k", "k:z"),
    "value": ("<table><tr><th>k</th><td>{}</td></tr></table>", "k:", ""),
    "link": ('<p><a href="https://x.example">{}z</a></p>', "", "z"),
    "code": ("<p>z <code>{}</code> z</p>", "z", "z"),
    "bold": ("<p>z <strong>{}</strong> z</p>", "z", "z"),
    "emphasis": ("<p>z <em>{}</em> z</p>", "z", "z"),
    "struck": ("<p>z <del>{}</del> z</p>", "z", "z"),
    "term": ("<dl><dt>{}</dt><dd>z</dd></dl>", "", "z"),
    "definition": ("<dl><dt>z</dt><dd>{}</dd></dl>", "z", ""),
    "panel": (MACRO.format("panel", BODY), "", "z"),
    "expand": (MACRO.format("expand", BODY), "", "z"),
    "status": (f"<p>{MACRO.format('status', '')}</p>", "", ""),
    "task": (f"<ac:task-list>{TASK}</ac:task-list>", "[x]", "z"),
}


def read(storage: str) -> str:
    """The letters that a parser of Markdown finds in the conversion of a body."""
    rendered = PARSER.render(convert(parse_storage(storage)[0], Context()).markdown)
    return "".join(clean(lxml_html.fragment_fromstring(rendered, create_parent="div").text_content()).split())


@pytest.mark.parametrize("place", PLACES)
@examples(60)
@given(text=TEXTS)
def test_signs_stay_signs(place: str, text: str) -> None:
    storage, before, behind = PLACES[place]
    letters = "".join(clean(text).split())
    assert read(storage.format(html.escape(text))) == f"{before}{letters}{behind}"


@pytest.mark.parametrize("name", ["a](b", "[1] _план_ *.png", "x &lt; y \\", "<b>"])
def test_the_name_of_a_picture_is_read_as_it_was(name: str) -> None:
    storage = f'<p><ac:image ac:alt="{html.escape(name)}"><ri:attachment ri:filename="a.png"/></ac:image></p>'
    rendered = PARSER.render(convert(parse_storage(storage)[0], Context()).markdown)
    assert [picture.get("alt") for picture in lxml_html.fragment_fromstring(rendered).iter("img")] == [name]
