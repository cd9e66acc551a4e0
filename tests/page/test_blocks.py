"""Markdown into blocks: what is a heading, where a block ends, nothing lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwiki.markdown.blocks import parse_blocks

PROSE = ["# A", "A", "===", "---", "", " ", "> q", "- i", "  - j", "1. x", "    code", "\tcode", "***", "\r"]
FIGURES = ["```", "~~~", "| a | b |", "|---|---|", "| 1 | 2 |", "<div>", "<table>", "</table>", "<pre>", "<!--", "-->"]
LINES = st.sampled_from([*PROSE, *FIGURES])


def kinds(text: str) -> list[str]:
    return [block.kind for block in parse_blocks(text)]


def headings(text: str) -> list[tuple[int, str]]:
    return [(block.level, block.title) for block in parse_blocks(text) if block.kind == "heading"]


@given(st.lists(LINES | st.text(max_size=10), max_size=30).map("\n".join))
def test_the_blocks_of_any_text_joined_give_it_back(text: str) -> None:
    blocks = parse_blocks(text)
    assert "".join(text[block.start : block.end] for block in blocks) == text
    assert [block.start for block in blocks[1:]] == [block.end for block in blocks[:-1]]


def test_every_kind_of_block_is_known() -> None:
    text = (
        "# H\n\nParagraph\non two lines\n- item\n\n  its text\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n"
        "> quote\ngoes on\n\n---\n\n    code\n\n    more\n\n<div>\nhtml\n</div>\n"
    )
    assert kinds(text) == ["heading", "paragraph", "list", "table", "fence", "quote", "rule", "code", "html"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# One", [(1, "One")]),
        ("###### Six ######\r\n", [(6, "Six")]),
        ("   ## Indented", [(2, "Indented")]),
        ("#\tTab", [(1, "Tab")]),
        ("Title\n=====", [(1, "Title")]),
        ("Title\non two lines\n---\ntext", [(2, "Title on two lines")]),
        ("text\n# Right after", [(1, "Right after")]),
        ("<details>\n<summary>More</summary>\n\n## In an expand\n\n</details>", [(2, "In an expand")]),
    ],
)
def test_headings(text: str, found: list[tuple[int, str]]) -> None:
    assert headings(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "#hash",
        "#",
        "####### seven",
        "\\# escaped",
        "    # indented code",
        "```\n# comment\n```",
        "~~~~\n# comment\n~~~\n# still code\n~~~~",
        "```\n# in a fence that never ends",
        "```\ncode\n      ```\n# still code: that line stood too deep to close it",
        "```\n```sh\n# still code: a closing fence has nothing behind it\n```",
        "- ```\n  # code of an item\n  ```",
        "| # a | b |\n|---|---|\n| # c | d |",
        "> # quoted\n> ## again",
        "- # in an item\n\n  ## under it",
        "1. Do:\n\n    ```sh\n# comment out of line\n    ```",
        "<h2>HTML</h2>",
        "<table>\n<tr><td>\n\n# in a cell\n\n</td></tr>\n</table>",
        "<table><tr><td><table>\n</table>\n\n# between end tags\n\n</td></tr></table>",
        "<pre>\n\n# preformatted\n</pre>",
        "<!-- a comment\n\n# in it\n-->",
        "word " * 60 + "\n---",
        "text\n***\n",
        "- item\n---",
    ],
)
def test_what_only_looks_like_a_heading(text: str) -> None:
    assert headings(text) == []


def test_a_heading_after_an_unclosed_tag_is_still_found() -> None:
    assert headings("<!-- never closed\n\n# Real\n\n<table>\n\n# Also real\n") == [(1, "Real"), (1, "Also real")]


@pytest.mark.parametrize(
    "text",
    [
        "- ```sh\n  code of an item that begins with it\n  ```\n\n# Real",
        "- item\n\n      ``` too deep below the item: indented code\n\n# Real",
        "1. item\n\n   ```\n    code\n      ```\n\n# Real",
        "```a``` is a span of code\n\n# Real",
    ],
)
def test_a_heading_after_what_is_no_open_fence_is_found(text: str) -> None:
    assert headings(text) == [(1, "Real")]


def test_many_unclosed_tags_do_not_cost_square_time() -> None:
    assert len(parse_blocks("<table>\n\n" * 20_000)) == 20_000


def test_a_numbered_list_with_code_between_its_items_is_one_block() -> None:
    text = "1. First:\n\n   ```sh\n   # comment\n   ```\n\n2. Second\n   - inner\n\n3. Third\n\nAfter\n"
    assert kinds(text) == ["list", "paragraph"]


def test_a_table_may_follow_a_paragraph_and_have_a_wrong_number_of_columns() -> None:
    assert kinds("Values:\n| a | b |\n|---|\n| 1 | 2 | 3 |\n") == ["paragraph", "table"]


def test_blank_lines_belong_to_the_block_before_them() -> None:
    text = "\n\none\n\n\ntwo\n"
    assert [text[block.start : block.end] for block in parse_blocks(text)] == ["\n\none\n\n\n", "two\n"]


def test_a_line_of_html_ends_a_table() -> None:
    assert kinds("| a | b |\n|---|---|\n| 1 | 2 |\n<!-- end -->\n\nafter") == ["table", "html", "paragraph"]
