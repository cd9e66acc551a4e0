"""The plain text of any stretch of a page is the same, read off the page's or made anew."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwiki.markdown.plain_text import PlainPage, plain_text

LINES = (
    *("", " ", "# H", "Text  of `code` and **bold**.", "- item", "> # quoted", "```sh", "~~~", "---", "![](a.png)"),
    *("| a | **b** |", "|---|:-:|", "| | |", "[label](https://x (1))", "a <b>c</b> <br", "/> d", "<div", "class=x> e"),
    *("tab\tand\u00a0blank", "\u2028# odd", "one\x0b| two", "\r", "**", "`"),
)


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        (
            "# Heading\n\nText with `code`, **bold** and [a link](https://x).",
            "Heading\nText with code, bold and a link.",
        ),
        ("| a | b | c |\n|---|:-:|---|\n|1| |2|\n", "a | b | c\n1 | | 2"),
        ("```sh\nls   -l\n```", "ls -l"),
        ("```ls``` lists files", "ls lists files"),
        ("> ## Quoted\n> text<br>more", "Quoted\ntext more"),
        ("![](a.png)", ""),
        ("", ""),
    ],
)
def test_words_and_signs_stay(markdown: str, plain: str) -> None:
    assert plain_text(markdown) == plain


@given(st.lists(st.sampled_from(LINES)), st.data())
def test_a_page_gives_the_plain_text_of_its_stretches(lines: list[str], data: st.DataObject) -> None:
    markdown = "\n".join(lines)
    starts = list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))
    border = st.sampled_from([*starts, len(markdown)]) | st.integers(0, len(markdown))
    borders = sorted(data.draw(st.lists(border, max_size=6)))
    stretches = list(zip(borders[::2], borders[1::2], strict=False))
    text = "".join(markdown[start:end] for start, end in stretches)
    assert PlainPage(markdown).of(*stretches) == plain_text(text)


@pytest.mark.parametrize("markdown", ["a <b\nclass=x> c\n# H", "x\u2028# odd\n# H", "# A\n```", "# A\n", "|---|\n\n"])
def test_whole_pages_of_odd_lines(markdown: str) -> None:
    page = PlainPage(markdown)
    for end in range(len(markdown) + 1):
        for start in range(end + 1):
            assert page.of((start, end)) == plain_text(markdown[start:end])
