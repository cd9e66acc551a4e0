"""Syncs over a source in memory: what changes, what stays, what it costs, what is refused."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from askwiki.data import Clause, Page, Rights
from askwiki.errors import ModelError, SourceError, StoreError, StoreMismatch
from askwiki.settings import AccessSettings, ChunkingSettings, LlmSettings, Settings, SyncSettings
from askwiki.store.port import Leg
from indexer.sources import PageFailure, PageRef
from indexer.sync.ledger import Ledger
from indexer.sync.sync import OVERLAP, LiveSource, Rules
from tests.support.fakes import HashEmbedder
from tests.support.scripted import ScriptedLlm
from tests.support.sources import Indexer, ListSource, make_page
from tests.support.stores import embedded
from tests.support.waiting import PATIENCE

PASSWORD = make_page("1", "# Пароль\n\nПароль меняют в портале.\n\n## Срок\n\nСрок девяносто дней для всех.\n")
MACHINE = make_page("2", "# Машина\n\nМашину создают в облаке.\n")
DISK = make_page("3", "# Диск\n\nДиск подключают к машине.\n", path=("Home", "Cloud"))
WIKI = (PASSWORD, MACHINE, DISK)


@pytest.fixture
def indexer(tmp_path: Path) -> Indexer:
    return Indexer(tmp_path)


def counts(ledger: Ledger) -> dict[str, int]:
    return {name: number for name, number in ledger.to_json()["pages"].items() if number}


def test_the_first_sync_indexes_every_page(indexer: Indexer) -> None:
    ledger = indexer.sync(*WIKI)
    assert counts(ledger) == {"expected": 3, "read": 3, "indexed": 3}
    assert ledger.chunks == sum(len(indexer.texts(page.id)) for page in WIKI)
    assert "".join(indexer.texts("1")) == PASSWORD.markdown
    assert (ledger.truncated, ledger.exit_code) == (0, 0)


def test_an_unchanged_sync_calls_no_model_and_copies_nothing(tmp_path: Path) -> None:
    indexer = Indexer(tmp_path, embedded(tmp_path / "store"))
    indexer.sync(*WIKI)
    pointer = (tmp_path / "store" / "current").stat().st_mtime_ns
    indexer.embedder.calls = 0
    ledger = indexer.sync(*WIKI)
    assert counts(ledger) == {"expected": 3, "read": 3, "unchanged": 3}
    assert (ledger.model_calls, indexer.embedder.calls) == (0, 0)
    assert (tmp_path / "store" / "current").stat().st_mtime_ns == pointer


def test_the_same_digest_spares_reading(indexer: Indexer) -> None:
    rules = Rules(digest="all of it")
    first = indexer.sync(*WIKI, PageFailure(PageRef("4", "Draft"), "a draft", skipped=True), rules=rules)
    again = indexer.run(ListSource([]), rules)
    assert counts(first) == {"expected": 4, "read": 3, "indexed": 3, "skipped": 1}
    assert counts(again) == {"expected": 4, "read": 3, "unchanged": 3, "skipped": 1}
    assert (again.chunks, again.failures) == (first.chunks, first.failures)


def test_another_digest_reads_again(indexer: Indexer) -> None:
    indexer.sync(*WIKI, rules=Rules(digest="old"))
    ledger = indexer.sync(PASSWORD, MACHINE, replace(DISK, markdown="Другое.\n"), rules=Rules(digest="new"))
    assert counts(ledger) == {"expected": 3, "read": 3, "indexed": 1, "unchanged": 2}


def test_a_run_with_failures_leaves_no_digest(indexer: Indexer) -> None:
    rules = Rules(digest="all of it")
    indexer.sync(*WIKI, PageFailure(PageRef("4", "Broken"), "not HTML"), rules=rules)
    ledger = indexer.sync(*WIKI, make_page("4", "Готово.\n"), rules=rules)
    assert counts(ledger) == {"expected": 4, "read": 4, "indexed": 1, "unchanged": 3}


def test_an_edited_page_embeds_only_its_new_texts(indexer: Indexer) -> None:
    indexer.sync(*WIKI)
    indexer.embedder.texts = 0
    longer = PASSWORD.markdown + "\n# Сброс\n\nСброс делает дежурный инженер.\n"
    changed = replace(PASSWORD, markdown=longer)
    ledger = indexer.sync(changed, MACHINE, DISK)
    assert counts(ledger) == {"expected": 3, "read": 3, "indexed": 1, "unchanged": 2}
    assert indexer.embedder.texts == 1  # the new chunk


EDIT = replace(PASSWORD, markdown=PASSWORD.markdown.replace("портале", "кабинете"))
MOVED = replace(DISK, path=("Home", "Storage", "Disks"))
RENAMED = replace(MACHINE, title="Виртуальная машина")
LABELLED = replace(MACHINE, labels=("howto", "cloud"))
RESTRICTED = replace(DISK, readers=(Clause(groups=("admins",)),))
DATED = replace(MACHINE, updated="2026-06-01T00:00:00Z")
FIRST_HALF = replace(PASSWORD, markdown="# Пароль\n\nПароль меняют в портале.\n\n")
SECOND_HALF = make_page("4", "## Срок\n\nСрок девяносто дней для всех.\n")
TWICE = replace(MACHINE, markdown=MACHINE.markdown * 2)

SCENARIOS: dict[str, list[tuple[Page, ...]]] = {
    "edit": [WIKI, (EDIT, MACHINE, DISK)],
    "move a subtree": [WIKI, (PASSWORD, MACHINE, MOVED)],
    "rename": [WIKI, (PASSWORD, RENAMED, DISK)],
    "label": [WIKI, (PASSWORD, LABELLED, DISK)],
    "restrict the parent": [WIKI, (PASSWORD, MACHINE, RESTRICTED)],
    "delete": [WIKI, (PASSWORD, MACHINE)],
    "undelete": [WIKI, (PASSWORD, MACHINE), WIKI],
    "split in two": [WIKI, (FIRST_HALF, MACHINE, DISK, SECOND_HALF)],
    "the same text twice": [WIKI, (PASSWORD, TWICE, DISK)],
    "only the date": [WIKI, (PASSWORD, DATED, DISK)],
}


@pytest.mark.parametrize("steps", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_after_any_change_the_index_is_as_if_built_anew(steps: list[tuple[Page, ...]], tmp_path: Path) -> None:
    changed, fresh = Indexer(tmp_path / "changed"), Indexer(tmp_path / "fresh")
    for pages in steps:
        changed.sync(*pages)
    fresh.sync(*steps[-1])
    assert changed.store.contents() == fresh.store.contents()


@pytest.mark.parametrize(
    ("page", "embedded_texts"),
    [(LABELLED, 0), (RESTRICTED, 0), (DATED, 0), (MOVED, 1)],
    ids=["label", "readers", "date", "path, which the text holds"],
)
def test_what_no_encoder_reads_costs_no_embedding(indexer: Indexer, page: Page, embedded_texts: int) -> None:
    indexer.sync(*WIKI)
    indexer.embedder.texts = 0
    ledger = indexer.sync(*(page if page.id == old.id else old for old in WIKI))
    assert counts(ledger)["indexed"] == 1
    assert indexer.embedder.texts == embedded_texts


def test_a_page_moved_back_costs_nothing(indexer: Indexer) -> None:
    indexer.sync(*WIKI)
    indexer.sync(PASSWORD, MACHINE, MOVED)
    assert indexer.sync(*WIKI).model_calls == 0


def test_a_restricted_page_is_found_by_its_readers_only(indexer: Indexer) -> None:
    indexer.sync(*WIKI)
    indexer.sync(PASSWORD, MACHINE, RESTRICTED)
    reader = indexer.store.reader()
    [key] = [key for key, readers in reader.conjunctions().items() if readers == RESTRICTED.readers]
    reader.close()
    assert indexer.texts("3") == []
    assert indexer.texts("3", key) == [DISK.markdown]


def test_unknown_readers_are_closed_and_the_ledger_says_so(indexer: Indexer) -> None:
    ledger = indexer.sync(PASSWORD, replace(MACHINE, readers=None))
    assert indexer.texts("2") == []
    assert ledger.notes == (
        "1 pages do not say who may read them, so nobody will find them. Name groups that may "
        "(ASKWIKI_ACCESS__UNKNOWN_GROUPS=A,B), or open them to everybody (ASKWIKI_ACCESS__UNKNOWN_HTML=open), "
        "and sync again.",
    )


def test_unknown_readers_are_open_where_the_settings_say_so(tmp_path: Path) -> None:
    indexer = Indexer(tmp_path, settings=Settings(access=AccessSettings(unknown_html="open")))
    ledger = indexer.sync(replace(MACHINE, readers=None))
    assert indexer.texts("2") == [MACHINE.markdown]
    assert ledger.notes == ()


def test_opening_unknown_readers_in_the_settings_changes_the_index(tmp_path: Path) -> None:
    page = replace(MACHINE, readers=None)
    closed = Indexer(tmp_path)
    closed.sync(page)
    opened = replace(closed, settings=Settings(access=AccessSettings(unknown_html="open")))
    ledger = opened.sync(page)
    assert (counts(ledger)["indexed"], ledger.model_calls) == (1, 0)
    assert opened.texts("2") == [MACHINE.markdown]


def test_a_page_that_fails_keeps_what_is_stored(indexer: Indexer) -> None:
    indexer.sync(*WIKI)
    ledger = indexer.sync(PASSWORD, MACHINE, PageFailure(PageRef("3", "Page 3"), "not HTML"))
    assert counts(ledger) == {"expected": 3, "read": 2, "unchanged": 2, "failed": 1}
    assert (ledger.exit_code, indexer.texts("3")) == (1, [DISK.markdown])


def test_a_page_that_is_named_but_does_not_come_keeps_what_is_stored(indexer: Indexer) -> None:
    indexer.sync(*WIKI)
    ledger = indexer.sync(PASSWORD, MACHINE, silent=("3",))
    assert (ledger.missing, ledger.exit_code) == ((PageRef("3", "3"),), 1)
    assert indexer.texts("3") == [DISK.markdown]


def test_a_page_that_is_left_out_by_rule_goes(indexer: Indexer) -> None:
    indexer.sync(*WIKI)
    ledger = indexer.sync(PASSWORD, MACHINE, PageFailure(PageRef("3", "Page 3"), "archived", skipped=True))
    assert counts(ledger) == {"expected": 3, "read": 2, "unchanged": 2, "skipped": 1, "removed": 1}
    assert indexer.texts("3") == []


def test_a_second_page_with_the_same_id_is_counted_and_left_out(indexer: Indexer) -> None:
    ledger = indexer.sync(MACHINE, replace(MACHINE, markdown="Другая.\n"))
    assert (ledger.collisions, indexer.texts("2")) == (1, [MACHINE.markdown])


def test_a_limit_takes_the_first_pages_and_removes_nothing(indexer: Indexer) -> None:
    indexer.sync(*WIKI)
    ledger = indexer.sync(EDIT, MACHINE, rules=Rules(limit=1))
    assert counts(ledger) == {"expected": 2, "read": 1, "indexed": 1}
    assert indexer.texts("3") == [DISK.markdown]


def numbered(number: int) -> list[Page]:
    return [make_page(str(index), f"Страница {index}.\n") for index in range(number)]


@pytest.mark.parametrize(("left", "refused"), [(10, False), (7, False), (6, True), (0, True)])
def test_a_source_that_shrank_too_much_changes_nothing(indexer: Indexer, left: int, refused: bool) -> None:
    indexer.sync(*numbered(10))
    if refused:
        with pytest.raises(SourceError, match=rf"holds {left} pages where the index has 10 of it.*--allow-shrink"):
            indexer.sync(*numbered(left))
    else:
        assert indexer.sync(*numbered(left)).removed == 10 - left
    assert indexer.texts("9") == ([] if left in (7,) else ["Страница 9.\n"])


def test_how_much_a_source_may_shrink_is_a_setting(tmp_path: Path) -> None:
    indexer = Indexer(tmp_path, settings=Settings(sync=SyncSettings(shrink=0.9)))
    indexer.sync(*numbered(10))
    assert indexer.sync(*numbered(2)).removed == 8


def test_a_model_cuts_only_where_the_settings_let_it(tmp_path: Path) -> None:
    long = make_page("1", "".join(f"Предложение номер {number} о порядке работы.\n\n" for number in range(200)))
    asked = []
    for allowed in (True, False):
        llm = ScriptedLlm().always("context", "Страница.").always("cut", ModelError("busy"))
        settings = Settings(chunking=ChunkingSettings(llm_cut=allowed, tokens=200))
        Indexer(tmp_path / str(allowed), settings=settings, llm=llm).sync(long)
        asked.append(bool(llm.asked("cut")))
    assert asked == [True, False]


def test_a_shrunken_source_is_taken_when_that_is_allowed(indexer: Indexer) -> None:
    indexer.sync(*numbered(10))
    assert indexer.sync(*numbered(1), rules=Rules(allow_shrink=True)).removed == 9


def test_in_a_small_wiki_two_pages_may_go(indexer: Indexer) -> None:
    indexer.sync(*WIKI)
    assert indexer.sync(PASSWORD).removed == 2


class BrokenEmbedder(HashEmbedder):
    """Fails after a number of calls, like a server that goes away."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.left = calls

    def documents(self, texts: Sequence[str]) -> Any:
        if not self.left:
            raise ModelError("The embedding server does not answer.")
        self.left -= 1
        return super().documents(texts)


def test_an_embedder_that_fails_in_the_middle_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    indexer = Indexer(tmp_path, embedded(tmp_path / "store"))
    indexer.sync(*numbered(150))
    before = indexer.store.contents()
    changed = [replace(page, markdown=page.markdown + "Дополнено.\n") for page in numbered(150)]
    with pytest.raises(ModelError):
        replace(indexer, embedder=BrokenEmbedder(1)).sync(*changed)
    assert indexer.store.contents() == before
    assert counts(indexer.sync(*changed))["unchanged"] == 32
    found = sorted(row.payload["text"] for row in indexer.store.rows() if row.payload["record"] == "chunk")
    assert found == sorted(page.markdown for page in changed)


def test_two_indexers_at_once_the_second_says_so(tmp_path: Path) -> None:
    indexer = Indexer(tmp_path, embedded(tmp_path / "store"))
    writer = indexer.store.writer(indexer.fingerprint())
    with pytest.raises(StoreError, match=r"Another indexer \(process \d+\) is writing"):
        indexer.sync(*WIKI)
    writer.close()
    assert counts(indexer.sync(*WIKI))["indexed"] == 3


def test_other_models_are_refused_and_a_rebuild_mends_it(tmp_path: Path) -> None:
    indexer = Indexer(tmp_path)
    indexer.sync(*WIKI)
    other = replace(indexer, embedder=HashEmbedder(size=32, name="other"))
    with pytest.raises(StoreMismatch, match="indexer rebuild"):
        other.sync(*WIKI)
    assert other.texts("2") == [MACHINE.markdown]
    ledger = other.run(ListSource(WIKI), rebuild=True)
    assert counts(ledger) == {"expected": 3, "read": 3, "indexed": 3}
    assert counts(other.sync(*WIKI)) == {"expected": 3, "read": 3, "unchanged": 3}


class ChangingSource(ListSource):
    """A live wiki: ``asked`` = the moments since which changes were asked for."""

    def __init__(self, items: Sequence[Page], changes: Sequence[Page]) -> None:
        super().__init__(items)
        self.live = True
        self.changes = changes
        self.asked: list[datetime] = []

    def changed(self, since: datetime) -> Any:
        self.asked.append(since)
        yield from self.changes


def test_a_live_wiki_is_asked_only_for_changes_between_full_comparisons(indexer: Indexer) -> None:
    source = ChangingSource(WIKI, [EDIT, MACHINE])
    assert isinstance(source, LiveSource)
    before = datetime.now(UTC)
    indexer.run(source, Rules(between=3600.0))
    ledger = indexer.run(source, Rules(between=3600.0))
    assert counts(ledger) == {"expected": 2, "read": 2, "indexed": 1, "unchanged": 1}
    assert indexer.texts("3") == [DISK.markdown]
    [since] = source.asked
    assert timedelta(0) <= since + OVERLAP + timedelta(seconds=1) - before < timedelta(minutes=1)


def test_a_full_comparison_is_due_after_its_interval(indexer: Indexer) -> None:
    source = ChangingSource(WIKI, [])
    indexer.run(source, Rules(between=3600.0))
    indexer.run(source, Rules(between=3600.0))
    indexer.run(ChangingSource(WIKI[:2], []), Rules(between=0.0))
    assert len(source.asked) == 1
    assert indexer.texts("3") == []


@pytest.mark.parametrize("stamp", ["2999-01-01T00:00:00+00:00", "yesterday", "2026-01-01T00:00:00"])
def test_a_run_stamped_in_the_future_or_oddly_does_not_put_off_the_next_comparison(
    indexer: Indexer, stamp: str
) -> None:
    source = ChangingSource(WIKI, [])
    indexer.run(source, Rules(between=3600.0))
    writer = indexer.store.writer(indexer.fingerprint())
    [run] = writer.freshness()
    writer.finish(replace(run, started=stamp, reconciled=stamp))
    writer.close()
    ledger = indexer.run(source, Rules(between=3600.0))
    assert (counts(ledger), source.asked) == ({"expected": 3, "read": 3, "unchanged": 3}, [])


def test_contexts_of_many_pages_are_written_at_once_and_in_order(tmp_path: Path) -> None:
    """The first four wait for one another: they can only end when the model is asked of four pages at a time."""
    asked, four = itertools.count(1), threading.Event()

    def context(messages: object) -> str:
        if next(asked) == 4:
            four.set()
        assert four.wait(PATIENCE)
        return "Про страницу."

    llm = ScriptedLlm(parallel=4).always("context", context).always("cut", "")
    indexer = Indexer(tmp_path, settings=Settings(llm=LlmSettings(url="http://llm", parallel=4)), llm=llm)
    ledger = indexer.sync(*numbered(8))
    assert (counts(ledger)["indexed"], ledger.model_calls) == (8, 9)
    assert list(indexer.store.writer(indexer.fingerprint()).pages("html:wiki")) != []


def test_a_page_whose_context_failed_is_described_by_the_next_sync(tmp_path: Path) -> None:
    settings = Settings(llm=LlmSettings(url="http://llm"))
    failing = ScriptedLlm().always("context", ModelError("The model does not answer."))
    indexer = Indexer(tmp_path, settings=settings, llm=failing)
    indexer.sync(MACHINE, rules=Rules(digest="all of it"))
    mended = replace(indexer, llm=ScriptedLlm().always("context", "Про машину."))
    ledger = mended.sync(MACHINE, rules=Rules(digest="all of it"))
    assert counts(ledger) == {"expected": 1, "read": 1, "indexed": 1}
    [chunk] = [row for row in indexer.store.rows() if row.payload["record"] == "chunk"]
    assert chunk.payload["context"] == "Про машину."
    assert counts(mended.sync(MACHINE)) == {"expected": 1, "read": 1, "unchanged": 1}


def test_chunks_have_a_second_vector_where_a_model_wrote_their_context(tmp_path: Path) -> None:
    def legs(indexer: Indexer) -> dict[str, int]:
        reader = indexer.store.reader()
        query = indexer.embedder.query("машина")
        found = reader.search([Leg("text", query, 9), Leg("context", query, 9)], Rights())
        reader.close()
        return {name: len(hits) for name, hits in found.items()}

    plain = Indexer(tmp_path, embedded(tmp_path / "store"))
    plain.sync(MACHINE)
    assert legs(plain) == {"text": 1, "context": 0}
    told = replace(plain, llm=ScriptedLlm().always("context", "Про машину."))
    told.run(ListSource((MACHINE,)), rebuild=True)
    assert legs(told) == {"text": 1, "context": 1}


def test_a_model_that_is_set_or_taken_away_stops_no_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    plain = Indexer(tmp_path, embedded(tmp_path / "store"))
    plain.sync(MACHINE)
    told = replace(plain, llm=ScriptedLlm().always("context", "Про машину."))
    assert told.sync(MACHINE, PASSWORD).exit_code == 0
    assert "To have the language model write them run: python -m indexer rebuild".lower() in caplog.text.lower()
    told.run(ListSource((MACHINE,)), rebuild=True)
    assert plain.sync(MACHINE, PASSWORD).exit_code == 0
    assert "new chunks have none" in caplog.text
    reader = plain.store.reader()
    found = reader.search([Leg(name, plain.embedder.query("машина"), 9) for name in ("text", "context")], Rights())
    reader.close()
    assert {name: len(hits) for name, hits in found.items()} == {"text": 2, "context": 1}


class ChokingEmbedder(HashEmbedder):
    """Its tokenizer cannot read one word."""

    def count(self, texts: Sequence[str]) -> list[int]:
        if any("нечитаемо" in text for text in texts):
            raise ValueError("unknown symbol")
        return super().count(texts)


def test_a_page_that_cannot_be_cut_does_not_stop_the_others(tmp_path: Path) -> None:
    indexer = Indexer(tmp_path, embedder=ChokingEmbedder())
    ledger = indexer.sync(PASSWORD, replace(MACHINE, markdown="нечитаемо\n"), DISK)
    assert counts(ledger) == {"expected": 3, "read": 2, "indexed": 2, "failed": 1}
    [failure] = ledger.failures
    assert failure.reason == "cannot be cut into chunks: ValueError: unknown symbol"
    assert (ledger.exit_code, indexer.texts("3")) == (1, [DISK.markdown])
