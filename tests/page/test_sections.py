"""The heading tree: breadcrumbs, levels, anchors; all sections joined are the page."""

from __future__ import annotations

import pytest

from askwiki.data import Page, Section
from indexer.chunking.anchors import with_anchor
from indexer.chunking.sections import plain, same_title, split_sections

CONFLUENCE = "https://wiki.example/pages/viewpage.action?pageId=42"
CLOUD = "https://firm.atlassian.net/wiki/spaces/IT/pages/42/Title"


def sections(markdown: str, title: str = "Отпуск", url: str = "") -> list[Section]:
    found = split_sections(Page("42", "HR", title, (), url, markdown))
    assert "".join(section.markdown for section in found) == markdown
    assert [section.ordinal for section in found] == list(range(len(found)))
    return found


def test_every_heading_opens_a_section_with_its_breadcrumb() -> None:
    found = sections("intro\n\n# A\n\ntext\n\n## B\n\n## C\ntext\n# D\n")
    assert [(section.level, section.headings) for section in found] == [
        (0, ()),
        (1, ("A",)),
        (2, ("A", "B")),
        (2, ("A", "C")),
        (1, ("D",)),
    ]


def test_a_skipped_level_counts_as_the_next_one() -> None:
    found = sections("## A\n#### B\n### C\n# D\n###### E\n")
    assert [section.headings for section in found] == [("A",), ("A", "B"), ("A", "C"), ("D",), ("D", "E")]


@pytest.mark.parametrize("markdown", ["", "\n\n", "Only text.\n"])
def test_a_page_without_headings_is_one_section(markdown: str) -> None:
    [section] = sections(markdown)
    assert (section.level, section.headings, section.anchor, section.markdown) == (0, (), "", markdown)


@pytest.mark.parametrize(
    ("inline", "text"),
    [
        ("**Bold** and `code`", "Bold and code"),
        ("[link](https://x.example/a_(b)) end", "link end"),
        ("![icon](i.png) Name", "Name"),
        ("snake_case_name and _it_", "snake_case_name and it"),
        ("a \\* b \\_c\\_", "a * b _c_"),
        ("Q&amp;A <br/> x", "Q&A x"),
        ("Title {#id .class}", "Title"),
        ("1 < 2", "1 < 2"),
        ("Map\\<K,V> and `a*b`, `&amp;`", "Map<K,V> and a*b, &amp;"),
        ("x[i\\](y) and [a \\] b](u)", "x[i](y) and a ] b"),
        ("C \\#", "C #"),
    ],
)
def test_a_heading_is_named_as_a_person_reads_it(inline: str, text: str) -> None:
    assert plain(inline) == text


def test_anchors_are_those_of_confluence() -> None:
    found = sections("# Кто утверждает?\n# Days off\n# Days off\n", url=CONFLUENCE)
    assert [section.anchor for section in found] == [
        "id-Отпуск-Ктоутверждает?",
        "id-Отпуск-Daysoff",
        "id-Отпуск-Daysoff.1",
    ]
    assert sections("# Кто?\n", title="Leave", url=CONFLUENCE)[0].anchor == "Leave-Кто?"


def test_anchors_are_those_of_the_cloud() -> None:
    assert [section.anchor for section in sections("# Days  off\n# Days off\n", url=CLOUD)] == [
        "Days-off",
        "Days-off.1",
    ]


def test_anchors_are_those_of_git_hosts_elsewhere() -> None:
    found = sections("# Что нужно: e-mail, A_b?\n# X\n# X\n", url="https://git.example/page.md")
    assert [section.anchor for section in found] == ["что-нужно-e-mail-a_b", "x", "x-1"]


@pytest.mark.parametrize(
    ("url", "anchor"),
    [
        ("https://wiki.example/confluence/x/AbC-d?focused=1#old", "T-Days-off"),
        ("https://wiki.example/spaces/K/pages/1/T", "T-Days-off"),
        ("https://Company.Atlassian.net:443/wiki/x/AbCd", "Days-off"),
        ("https://company.atlassian.net", "Days-off"),
        ("https://x/AbCd", "days-off"),  # a host called x
        ("https://git.example/a?from=/display/K/T", "days-off"),
        ("https://notatlassian.net/a", "days-off"),
        ("http://[broken/display/K/T", "T-Days-off"),  # no address at all, but the page has its text
    ],
)
def test_the_address_says_whose_anchors_a_page_has(url: str, anchor: str) -> None:
    heading = "Days-off"
    assert sections(f"# {heading}\n", title="T", url=url)[0].anchor == anchor


def test_an_anchor_is_encoded_and_an_unknown_address_stays_empty() -> None:
    assert with_anchor(CONFLUENCE, "id-О-А?") == f"{CONFLUENCE}#id-%D0%9E-%D0%90%3F"
    assert with_anchor("https://x.example/a#old", "new") == "https://x.example/a#new"
    assert with_anchor("", "id-A-B") == ""
    assert with_anchor(CONFLUENCE, "") == CONFLUENCE


def test_titles_are_equal_but_for_case_and_marks() -> None:
    assert same_title("Приём: заявок", "прием заявок")
    assert not same_title("…", "—")
