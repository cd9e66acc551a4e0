"""Opening a source by "KIND:PATH", and the ledger that a run over it builds up."""

from __future__ import annotations

from pathlib import Path

import pytest

from askwiki.configuration import Configuration
from askwiki.data import Attachment, Count, Loss, Page
from askwiki.errors import SourceError
from askwiki.settings import Settings
from indexer.opening import open_source
from indexer.sources import PageFailure, PageRef, read_attachment
from indexer.sync.ledger import Ledger, WeakPage

CONFIGURATION = Configuration(Settings(), Path(), {})


@pytest.mark.parametrize("spec", ["", "html", "pdf:x", "/some/path", "HTML:x"])
def test_an_unknown_kind_names_the_allowed_ones(spec: str) -> None:
    with pytest.raises(SourceError, match="one of html:PATH, xml:PATH, rest:PATH, markdown:PATH"):
        open_source(spec, CONFIGURATION)


def test_a_kind_without_a_path_is_told() -> None:
    with pytest.raises(SourceError, match="names no path"):
        open_source("html:", CONFIGURATION)


def test_the_name_of_a_source_is_its_kind_and_path(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x", encoding="utf-8")
    source = open_source(f"markdown:{tmp_path}", CONFIGURATION)
    assert (source.name, source.kind) == (f"markdown:{tmp_path}", "markdown")


def test_an_attachment_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not hold the file"):
        read_attachment(Attachment("a.png"))
    with pytest.raises(SourceError, match="cannot be read"):
        read_attachment(Attachment("a.png", file=str(tmp_path / "none.png")))


def page(identity: str, losses: tuple[Loss, ...] = (), counts: tuple[Count, ...] = ()) -> Page:
    return Page(identity, "KB", f"С{identity}", (), "", "", losses=losses, counts=counts)


def test_a_ledger_counts_pages_losses_and_constructs() -> None:
    ledger = Ledger(source="html:x")
    ledger = ledger.with_page(page("1", (Loss("macro", "jira", 2),), (Count("tables", 2, 2),)))
    ledger = ledger.with_page(page("2", (Loss("macro", "jira"), Loss("link", "А")), (Count("tables", 1, 1),)))
    assert ledger.read == 2
    assert ledger.losses == {("macro", "jira"): 3, ("link", "А"): 1}
    assert ledger.counts == {"tables": (3, 3)}


def test_a_page_of_which_too_little_arrived_is_listed() -> None:
    counts = (Count("characters", 100, 97), Count("rows", 10, 0))
    assert Ledger().with_page(page("1", (), counts)).weak == (WeakPage("1", "С1", 0.97, (), counts),)


def test_expected_pages_that_never_came_are_missing() -> None:
    expected = [PageRef("1", "А"), PageRef("2", "Б"), PageRef("3", "В")]
    ledger = (
        Ledger()
        .with_page(page("1"))
        .with_failure(PageFailure(expected[1], "broken"))
        .with_missing(expected, ["1", "2"])
    )
    assert ledger.missing == (PageRef("3", "В"),)
    assert (ledger.expected, ledger.read, ledger.failed, ledger.exit_code) == (3, 1, 1, 1)


@pytest.mark.parametrize(
    ("ledger", "code"),
    [
        (Ledger(expected=2, read=2), 0),
        (Ledger(expected=2, read=1, failed=1), 1),
        (Ledger(expected=2, failed=2), 2),
        (Ledger(read=1, skipped=3), 0),
    ],
)
def test_the_exit_code_says_whether_all_some_or_nothing_is_in(ledger: Ledger, code: int) -> None:
    assert ledger.exit_code == code


def test_the_ledger_is_written_for_machines_and_for_people() -> None:
    failure = PageFailure(PageRef("2", "Б"), "broken")
    ledger = (
        Ledger(source="html:x", expected=2, seconds=1.5)
        .with_page(page("1", (Loss("macro", "jira", 3),)))
        .with_failure(failure)
    )
    written = ledger.with_note("Addresses are not known.").to_json()
    assert written["pages"] == {
        "expected": 2, "read": 1, "indexed": 0, "unchanged": 0, "skipped": 0, "failed": 1, "removed": 0,
    }  # fmt: skip
    assert written["losses"] == [{"kind": "macro", "name": "jira", "count": 3}]
    assert written["failures"] == [{"id": "2", "title": "Б", "reason": "broken", "skipped": False}]
    assert ledger.to_text().split("\n") == [
        "html:x",
        "pages: expected 2, read 1, indexed 0, unchanged 0, skipped 0, failed 1, removed 0",
        "1.5 s",
        "failed or skipped: 1",
        "  Б (2): broken",
        "losses: 1",
        "  3 x macro jira",
    ]
