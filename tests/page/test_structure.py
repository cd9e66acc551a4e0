"""Read back by a parser of Markdown, each word stands as deep in lists, in code or in a heading as on the page."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from lxml import html
from lxml.etree import _Element

from indexer.confluence.page import convert
from indexer.confluence.parse.links import Context
from indexer.confluence.parse.storage import parse_storage
from indexer.confluence.render.markdown import tag_name
from tests.page.test_conversion_properties import OURS, examples
from tests.page.test_literal_text import PARSER
from tests.support.fragments import Fragment, fragments

LISTS = frozenset({"ul", "ol", "ac:task-list"})
ELSEWHERE = frozenset({"table", "ac:parameter", "ac:placeholder"})  # shown in another form, or not at all
BOXES = frozenset({"li", "blockquote", "ac:task-body", "ac:structured-macro"})  # a heading inside is a bold line


def places(node: _Element, above: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """For each word the names of the elements around it."""
    here = (*above, tag_name(node))
    found = dict.fromkeys(OURS.findall(node.text or ""), here)
    for child in node:
        found |= {word: place for word, place in places(child, here).items() if word not in found}
        found |= {word: here for word in OURS.findall(child.tail or "") if word not in found}
    return found


def headed(place: tuple[str, ...]) -> bool:
    return any(re.fullmatch("h[1-6]", name) for name in place)


def holds(text: str) -> None:
    before = places(parse_storage(text)[0])
    markdown = convert(parse_storage(text)[0], Context()).markdown
    after = places(html.fragment_fromstring(PARSER.render(markdown) or "<p/>", create_parent="div"))
    for word in before.keys() & after.keys():
        source, read = before[word], after[word]
        if ELSEWHERE.isdisjoint(source):
            assert sum(name in LISTS for name in source) == sum(name in LISTS for name in read), (word, markdown)
            assert ("ac:plain-text-body" in source) == ("pre" in read), (word, markdown)
            if BOXES.isdisjoint(source):
                assert headed(source) == headed(read), (word, markdown)


@examples(150)
@given(fragments())
def test_structure_is_read_back(made: tuple[str, Fragment]) -> None:
    holds(made[0])


@pytest.mark.long
@examples(5000)
@given(fragments())
def test_structure_of_thousands_of_pages_is_read_back(made: tuple[str, Fragment]) -> None:
    holds(made[0])


@pytest.mark.parametrize(
    "storage",
    [
        '<ol start="9"><li>сл1ово</li><ol><li>сл2ово</li></ol><li>сл3ово</li><ol><li>сл4ово</li></ol></ol>',
        "<ul><li>сл1ово<ul><li>сл2ово</li></ul><p>сл3ово</p></li></ul>",
        "<ul><li>сл1ово<ul><li>сл2ово</li></ul>сл3ово <b>сл4ово</b></li><li>сл5ово</li></ul>",
        "<ol><li>сл1ово<ol><li>сл2ово</li></ol><span>сл3ово</span></li></ol>",
        "<ul><li>сл1ово<p>сл2ово</p><ol start='3'><li>сл3ово</li></ol></li></ul>",
    ],
)
def test_lists_that_markdown_reads_with_care_are_read_back(storage: str) -> None:
    holds(storage)
