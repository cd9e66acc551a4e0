"""The ledger counts things: it says 100 % only when all are there, and notices whichever of them is taken away."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwiki.data import Count, Page
from indexer.confluence.measure.arrived import measure
from indexer.confluence.page import convert, rendered
from indexer.confluence.parse.adf_json import parse_adf
from indexer.confluence.parse.html_tree import parse_fragment
from indexer.confluence.parse.links import Context
from indexer.confluence.parse.storage import parse_storage
from indexer.sync.ledger import Ledger, unaccounted
from tests.page.test_conversion_properties import examples
from tests.support.fragments import Fragment, fragments

CONTEXT = Context("https://w.example", "1", "KB", "Т")
# Things of every kind; {} = a number, so that no two are alike.
THINGS = (
    '<p>до <a href="https://x.example/{}">ссылка{}</a></p>',
    '<p><a href="https://x.example/c{}" data-card-appearance="inline">https://x.example/c{}</a></p>',
    '<p><ac:link><ri:page ri:content-title="Страница{}"/></ac:link></p>',
    '<ac:image><ri:attachment ri:filename="план{}.png"/></ac:image>',
    '<ac:image><ri:attachment ri:filename="акт{}.docx"/></ac:image>',
    "<ac:task-list><ac:task><ac:task-status>complete</ac:task-status><ac:task-body>задача{}</ac:task-body></ac:task>"
    "</ac:task-list>",
    '<p>знак <ac:emoticon ac:name="tick"/></p>',
    '<p>итог <ac:emoticon ac:name="blue-star" ac:emoji-shortname=":x{}:"/></p>',
    '<ac:structured-macro ac:name="виджет{}"/>',
    '<p>в строке <ac:structured-macro ac:name="виджет{}"><ac:parameter ac:name="url">https://y.example/{}</ac:parameter>'
    "</ac:structured-macro></p>",
    '<ac:adf-extension><ac:adf-node type="extension"><ac:adf-attribute key="extension-key">a/доска{}</ac:adf-attribute>'
    "</ac:adf-node></ac:adf-extension>",
    '<ac:structured-macro ac:name="plantuml"><ac:plain-text-body>@startuml\nузел{} -> б\n@enduml</ac:plain-text-body>'
    "</ac:structured-macro>",
    '<ac:structured-macro ac:name="code"><ac:plain-text-body>вызов({})</ac:plain-text-body></ac:structured-macro>',
    "<table><tbody><tr><th>А</th><th>Б</th></tr><tr><td>клетка{}</td><td>1</td></tr><tr><td>2</td><td>да</td></tr></tbody>"
    "</table>",
    '<ac:structured-macro ac:name="include"><ac:parameter ac:name=""><ac:link><ri:page ri:content-title="Общее{}"/>'
    "</ac:link></ac:parameter></ac:structured-macro>",
)
# How a thing stands in the Markdown.
SHOWN = re.compile(
    r"!?\[(?:\\.|[^\[\]\\])*\]\([^()\s]*\)"  # [text](address), ![name](address)
    r"|\\\[макрос[^\]]*\]|\\\[macro[^\]]*\]"  # \[макрос X: см. в вики]
    r"|https?://\S+"  # an address alone
    r"|✅|\(x\d+\)"  # signs
    r"|- \[[ x]\] "  # the box of a task
    r"|(?<=\n)[^\n]*->[^\n]*(?=\n)"  # a line of a diagram
    r"|(?:узел|вызов|клетка|ссылка|задача|слово)\w*"
)  # fmt: skip


def whole(counts: tuple[Count, ...]) -> bool:
    page = Page("1", "KB", "Т", (), "", "", counts=counts)
    letters = next(one for one in counts if one.kind == "characters")
    return not unaccounted(page) and letters.source == letters.markdown


def made_of(numbers: list[int]) -> str:
    return "".join(THINGS[one].replace("{}", f"{place}") for place, one in enumerate(numbers))


@examples(150)
@given(st.lists(st.integers(0, len(THINGS) - 1), min_size=1, max_size=8), st.integers(0, 10_000))
def test_whichever_thing_is_taken_out_of_the_markdown_the_ledger_notices(numbers: list[int], which: int) -> None:
    source, renderer, markdown = rendered(parse_storage(made_of(numbers))[0], CONTEXT)
    assert whole(measure(source, renderer, markdown)[0])
    found = list(SHOWN.finditer(markdown))
    taken = found[which % len(found)]
    less = markdown[: taken.start()] + markdown[taken.end() :]
    counts, losses = measure(source, renderer, less)
    assert not whole(counts), taken.group()
    assert losses


@examples(80)
@given(fragments(), st.integers(0, 10_000))
def test_whichever_word_is_taken_out_the_ledger_notices(made: tuple[str, Fragment], which: int) -> None:
    text, fragment = made
    source, renderer, markdown = rendered(parse_storage(text)[0], Context(space="KB"))
    assert whole(measure(source, renderer, markdown)[0])
    words = [word for word in fragment.visible if word in source.text]
    if words:
        word = words[which % len(words)]
        assert not whole(measure(source, renderer, markdown.replace(word, "", 1))[0])


@pytest.mark.parametrize(
    "body",
    [
        '<p><img class="emoticon" data-emoji-shortname=":tick:" src="images/icons/emoticons/check.png"/></p>',
        '<table><tr><td><img class="emoticon emoticon-cross" alt="(error)" src="/s/x.png"/></td></tr></table>',
        '<p><img src="images/icons/contenttypes/home_page_16.png"/></p>',
        '<p><img src="data:image/png;base64,AA=="/></p>',
        '<p><span class="aui-icon">Page</span></p>',
        "",
    ],
)
def test_a_page_of_signs_and_icons_only_is_whole(body: str) -> None:
    assert whole(convert(parse_fragment(body), CONTEXT).counts)


def test_a_word_that_stands_twice_is_missed_when_it_stands_once() -> None:
    source, renderer, _ = rendered(parse_fragment("<p>весы и весы</p>"), CONTEXT)
    assert not whole(measure(source, renderer, "весы и")[0])
    assert whole(measure(source, renderer, "ве**сы** и весы")[0])


@pytest.mark.parametrize("name", ["toc", "children", "recently-updated"])
def test_what_is_left_out_on_purpose_is_told_with_its_reason(name: str) -> None:
    converted = convert(parse_storage(f'<p>До.</p><ac:structured-macro ac:name="{name}"/>')[0], CONTEXT)
    assert Count("macros", 1, 0, 0, 1) in converted.counts
    [dropped] = converted.dropped
    assert (dropped.name, dropped.count) == (name, 1)
    ledger = Ledger().with_page(
        Page("1", "KB", "Т", (), "", converted.markdown, counts=converted.counts, dropped=converted.dropped)
    )
    assert ledger.weak == ()
    assert "accounted for: 1 of 1 things, 100 % (0 by a mark, 1 left out on purpose)" in ledger.to_text()
    assert dropped.detail in ledger.to_text()


def test_a_sum_that_is_not_whole_is_never_said_to_be_100_percent() -> None:
    counts = (Count("links", 3000, 2999), Count("characters", 10, 10))
    ledger = Ledger().with_page(Page("1", "KB", "Т", (), "", "", counts=counts))
    assert "accounted for: 2999 of 3000 things, 99.9 %" in ledger.to_text()
    assert "Т (1): 99.9% kept" in ledger.to_text()


def test_a_node_of_a_newer_editor_without_any_text_leaves_a_mark() -> None:
    document = json.dumps({"type": "doc", "content": [{"type": "futureWidget", "attrs": {"id": "7"}}]})
    converted = convert(parse_adf(document), CONTEXT)
    assert converted.markdown == "\\[macro futurewidget: see the wiki]"
    assert Count("macros", 1, 0, 1, 0) in converted.counts
