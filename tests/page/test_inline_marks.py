"""Marks that meet in a line: each is read by Markdown as the author set it."""

from __future__ import annotations

import pytest

from indexer.confluence.page import convert
from indexer.confluence.parse.links import Context
from indexer.confluence.parse.storage import parse_storage


@pytest.mark.parametrize(
    ("storage", "markdown"),
    [
        ("<strong>а</strong><strong>б</strong><b>в</b>", "**абв**"),
        ("<em>а</em><em>б </em>в", "*аб* в"),
        ("<strong>а</strong><em>б</em>", "**а***б*"),
        ("<strong>Важно:</strong>текст", "**Важно**:текст"),
        ("<strong>Важно:</strong><em>текст</em>", "**Важно**:*текст*"),
        ("слово<strong>(а)</strong>б", "слово(**а**)б"),
        ("а<strong>!б</strong>", "а!**б**"),
        ("а<strong><code>б</code></strong>в", "а`б`в"),
        ("<span>а<del>[б]</del></span>в", "а<del>[б]</del>в"),
        ("<code>а``б</code><code>в</code>", "``` а``б ``` `в`"),
        ("<code>а`</code><strong><code>б</code></strong>", "`` а` ``**`б`**"),
        ('Внимание!<a href="https://x.example">сюда</a>', "Внимание\\![сюда](https://x.example)"),
        ('<a href="https://x.example/a">https://x.example/a</a>текст', "https://x.example/a текст"),
        (
            '<ac:structured-macro ac:name="anchor"><ac:parameter ac:name="">я</ac:parameter></ac:structured-macro>'
            '<strong><a href="https://x.example">а</a></strong> б',
            "**[а](https://x.example)** б",
        ),
        ("[1]<span>(а)</span>", "[1\\](а)"),
        ("*<strong>а</strong>* б", "\\***а**\\* б"),
        ("а <br/>б<strong> </strong><br/><br/>в", "а  \nб  \n\nв"),
    ],
)
def test_marks_that_meet_are_read_apart(storage: str, markdown: str) -> None:
    assert convert(parse_storage(f"<p>{storage}</p>")[0], Context()).markdown == markdown
