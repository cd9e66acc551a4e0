"""Whatever a page is made of: no visible word is lost, doubled or invented, no setting shows, nothing raises."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.confluence.page import convert
from indexer.confluence.parse.html_tree import parse_document, parse_fragment
from indexer.confluence.parse.links import Context
from indexer.confluence.parse.storage import parse_storage
from indexer.confluence.parse.wiki_markup import parse_wiki_markup
from tests.support.fragments import Fragment, fragments

WORD = re.compile(r"[^\W_]+")
OURS = re.compile(r"сл\d+ово")
# What the conversion may add: kinds of boxes, a neutral word for a person, addresses, languages of code.
ADDED = frozenset(
    {"Примечание", "Совет", "Предупреждение", "К", "сведению", "сотрудник", "Info", "Note", "Tip", "Warning", "a"}
    | {
        "colleague",
        *("Диаграмма", "под", "таблицей", "Diagram", "below", "the", "table"),
        "display",
        "KB",
        "https",
        "x",
        "example",
        "doc",
        "png",
        "plantuml",
        "sub",
        "del",
        "start",
        "end",
        "amp",
        "br",
    }
)
MARKUP = st.text(alphabet=st.sampled_from(list("<>/&;\"'=[]{}|*#-+_~`!\\ \n\tаb1ac:rip")), max_size=200)


def examples(count: int) -> settings:
    """The same examples in every run, or (in the long tests) new ones."""
    few = count < 1000
    return settings(
        max_examples=count, derandomize=few, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )


def holds(text: str, fragment: Fragment) -> None:
    tree, broken = parse_storage(text)
    assert broken == ()
    converted = convert(tree, Context(space="KB"))
    found = Counter(OURS.findall(converted.markdown))
    assert {word: found[word] for word in fragment.visible} == dict.fromkeys(fragment.visible, 1)
    assert [word for word in fragment.repeated if not found[word]] == []
    assert [word for word in fragment.hidden if found[word]] == []
    others = set(WORD.findall(OURS.sub("", converted.markdown))) - ADDED
    assert {word for word in others if not word.isdigit() and word != "x"} == set()
    assert [loss.detail for loss in converted.losses if loss.kind == "text"] == []


@examples(120)
@given(fragments())
def test_no_visible_word_is_lost_or_invented(made: tuple[str, Fragment]) -> None:
    holds(*made)


@pytest.mark.long
@examples(5000)
@given(fragments())
def test_no_visible_word_is_lost_or_invented_in_thousands_of_pages(made: tuple[str, Fragment]) -> None:
    holds(*made)


def convert_all(text: str) -> None:
    for tree in (parse_storage(text)[0], parse_fragment(text), parse_document(text), parse_wiki_markup(text)):
        convert(tree, Context("https://w.example", "1", "KB", "Т", "https://w.example/1"))


@examples(150)
@given(st.one_of(MARKUP, st.text(max_size=100)))
def test_no_text_raises_in_any_form(text: str) -> None:
    convert_all(text)


@pytest.mark.long
@examples(5000)
@given(st.one_of(MARKUP, st.text(max_size=400)))
def test_no_text_of_thousands_raises_in_any_form(text: str) -> None:
    convert_all(text)


@examples(60)
@given(fragments(), st.integers(0, 2000), st.integers(1, 40))
def test_a_page_with_a_piece_cut_out_is_still_a_page(made: tuple[str, Fragment], start: int, length: int) -> None:
    text = made[0]
    convert_all(text[:start] + text[start + length :])
