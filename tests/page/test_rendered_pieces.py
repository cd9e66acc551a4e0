"""Which piece of the wiki's rendering belongs to which macro: by id, by order only when nothing else can be meant."""

from __future__ import annotations

import pytest

from indexer.confluence.parse.html_tree import parse_fragment
from indexer.confluence.parse.storage import parse_storage
from indexer.confluence.render.macro import read_macro
from indexer.confluence.rendered.pieces import MACROS, RenderedMacros


def macro(name: str, identity: str = "", inside: str = "", **parameters: str) -> str:
    given = "".join(f'<ac:parameter ac:name="{key}">{value}</ac:parameter>' for key, value in parameters.items())
    body = f"<ac:rich-text-body>{inside}</ac:rich-text-body>" if inside else ""
    known = f' ac:macro-id="{identity}"' if identity else ""
    return f'<ac:structured-macro ac:name="{name}"{known}>{given}{body}</ac:structured-macro>'


def piece(name: str, text: str, identity: str = "") -> str:
    known = f' data-macro-id="{identity}"' if identity else ""
    return f'<div class="conf-macro output-block" data-macro-name="{name}"{known}>{text}</div>'


def report(text: str) -> str:
    return f'<table class="metadata-summary-macro"><tbody><tr><td>{text}</td></tr></tbody></table>'


def issues(text: str) -> str:
    return f'<div class="jira-table conf-macro" data-macro-name="jira"><table><tr><td>{text}</td></tr></table></div>'


@pytest.mark.parametrize(
    ("stored", "view", "found"),
    [
        # by id, in whatever order
        (macro("a", "1") + macro("a", "2"), piece("a", "два", "2") + piece("a", "раз", "1"), ["раз", "два"]),
        # one was not rendered
        (macro("a", "1") + macro("a", "2"), piece("a", "два", "2"), [None, "два"]),
        # another id is another macro, even where both are alone
        (macro("a", "1"), piece("a", "чужой", "2"), [None]),
        # by order: as many of the name on both sides, one side or none says its ids
        (macro("a") + macro("b"), piece("b", "б") + piece("a", "а"), ["а", "б"]),
        (macro("a") + macro("a"), piece("a", "раз") + piece("a", "два"), ["раз", "два"]),
        (macro("a", "1"), piece("a", "раз"), ["раз"]),
        (macro("a"), piece("a", "раз", "7"), ["раз"]),
        # the numbers differ: nobody can say which is which
        (macro("a") + macro("a"), piece("a", "который?"), [None, None]),
        (macro("a"), piece("a", "раз") + piece("a", "два"), [None]),
        # the first is known by its id, so the rest agree again
        (macro("a", "1") + macro("a"), piece("a", "два") + piece("a", "раз", "1"), ["раз", "два"]),
        # old versions name no macros: by the class of what they leave
        (macro("detailssummary"), report("ряд"), ["ряд"]),
        (macro("detailssummary") + macro("detailssummary"), report("ряд"), [None, None]),
        # a list of issues that stands in an included page is not of this page
        (macro("include") + macro("jira", jqlQuery="x"), issues("чужие") + issues("свои"), [None, None]),
        (macro("include") + macro("jira", jqlQuery="x"), issues("чьи?"), [None, None]),
        (
            macro("include", "1") + macro("jira", jqlQuery="x"),
            piece("include", issues("чужие"), "1") + issues("свои"),
            ["чужие", "свои"],
        ),
        # a single issue is no list
        (
            macro("jira", key="K-1") + macro("jira", jqlQuery="x"),
            '<span class="jira-issue" data-macro-name="jira" data-jira-key="K-1">K-1</span>' + issues("список"),
            ["K-1", "список"],
        ),
        (macro("jiraissues", url="x"), issues("список"), ["список"]),
        # Cloud: the id of the editor
        (
            '<ac:adf-extension><ac:adf-node type="extension"><ac:adf-attribute key="local-id">l1</ac:adf-attribute>'
            "</ac:adf-node></ac:adf-extension>",
            '<div data-local-id="l1">виджет</div>',
            ["виджет"],
        ),
    ],
)  # fmt: skip
def test_a_piece_belongs_to_the_macro_that_it_was_made_of(stored: str, view: str, found: list[str | None]) -> None:
    tree = parse_storage(stored)[0]
    pieces = RenderedMacros(parse_fragment(view), tree)
    macros = [node for node in tree.iter() if str(node.tag).replace("{ac}", "ac:") in MACROS]
    taken = [pieces.find(node) for node in macros]
    assert [None if one is None else "".join(one.itertext()) for one in taken] == found


def test_without_a_rendering_nothing_is_found() -> None:
    tree = parse_storage(macro("a"))[0]
    assert RenderedMacros(None, tree).find(tree[0]) is None
    assert read_macro(tree[0]).name == "a"
