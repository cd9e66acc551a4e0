"""The model's cut: what it is shown, what its numbers become, what unusable answers become."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from askwiki.data import Chunk, Page
from askwiki.errors import ModelError
from askwiki.language.glossary import Glossary, GlossaryTerm
from askwiki.prompts import load_prompts
from askwiki.settings import ChunkingSettings
from indexer.chunking.chunks import chunk_page
from indexer.enrich.asking import Counters, Desk
from indexer.enrich.cache import Cache
from indexer.enrich.cut import cut_by_meaning
from tests.support.scripted import ScriptedLlm

PROMPTS = load_prompts(Path(__file__).resolve().parents[2] / "config" / "prompts")
SENTENCES = [f"Это предложение номер {number}, и оно говорит о ТК что-то важное." for number in range(1, 13)]
LAST = "Эти поля заполняет сам сотрудник до отправки заявки на согласование, вот и конец."
TEXT = f"# А\n\n{' '.join(SENTENCES)}\n\nПоля заявки таковы:\n\n| Имя | Смысл |\n|---|---|\n| a | b |\n\n{LAST}\n"
# About 230 tokens, of which a chunk has 150 here: six of the sentences, twelve are too many.
# Numbered: 1 the heading, 2 to 13 the sentences, 14 the introduction, 15 the table, 16 the end.
PAGE = Page("7", "IT", "Заявки", (), "", TEXT)


def count(texts: Sequence[str]) -> list[int]:
    return [len(re.findall(r"\w+|[^\w\s]", text)) for text in texts]


@pytest.fixture
def cache() -> Iterator[Cache]:
    kept = Cache(None)
    yield kept
    kept.close()


def desk(llm: ScriptedLlm, cache: Cache) -> Desk:
    return Desk(llm, PROMPTS, Glossary([GlossaryTerm("ТК", "телефонная книга")]), cache, Counters())


def cut(at: Desk, page: Page = PAGE, limit: int = 150) -> list[Chunk]:
    settings = ChunkingSettings(tokens=limit, overlap_sentences=0)
    cutter = partial(cut_by_meaning, desk=at)
    chunks = chunk_page(page, count=count, limit=limit, settings=settings, cutter=cutter)
    assert "".join(chunk.text[chunk.overlap :] for chunk in chunks) == page.markdown
    return chunks


def test_the_numbers_become_borders_and_the_text_stays_to_the_letter(cache: Cache) -> None:
    at = desk(ScriptedLlm().enqueue("cut", {"ends": [7, 13, 16], "screens": [16]}), cache)
    chunks = cut(at)
    assert [chunk.text.split()[-1] for chunk in chunks] == ["важное.", "важное.", "конец."]
    assert [chunk.text.count("предложение номер") for chunk in chunks] == [6, 6, 0]
    assert [(chunk.part, chunk.parts, chunk.screen) for chunk in chunks] == [(1, 3, False), (2, 3, False), (3, 3, True)]
    assert at.counters.counts() == {"cut.calls": 1}


def test_the_model_sees_numbered_sentences_whole_tables_and_the_terms(cache: Cache) -> None:
    llm = ScriptedLlm().enqueue("cut", {"ends": [16], "screens": []})
    cut(desk(llm, cache))
    [asked] = llm.history
    assert f"[1] # А\n[2] {SENTENCES[0]}\n[3] {SENTENCES[1]}\n" in asked.text
    assert f"[15] | Имя | Смысл |\n|---|---|\n| a | b |\n[16] {LAST}" in asked.text
    assert "- ТК — телефонная книга" in asked.text


def test_a_second_run_calls_nothing_and_cuts_the_same(cache: Cache) -> None:
    first = cut(desk(ScriptedLlm().enqueue("cut", {"ends": [7, 16], "screens": [7]}), cache))
    again = desk(ScriptedLlm(), cache)
    assert cut(again) == first
    assert again.counters.counts() == {"cut.cached": 1}


def test_a_short_section_is_not_asked_about(cache: Cache) -> None:
    llm = ScriptedLlm()
    [chunk] = cut(desk(llm, cache), Page("7", "IT", "Заявки", (), "", "# А\n\nОдно. Два.\n"))
    assert (chunk.text, llm.history) == ("# А\n\nОдно. Два.\n", [])


def test_what_fits_into_one_chunk_is_not_asked_about(cache: Cache) -> None:
    llm = ScriptedLlm()
    [chunk] = cut(desk(llm, cache), limit=300)
    assert (chunk.text, llm.history) == (TEXT, [])


def test_a_chunk_holds_as_many_thoughts_as_fit(cache: Cache) -> None:
    at = desk(ScriptedLlm().enqueue("cut", {"ends": [4, 7, 10, 13, 16], "screens": []}), cache)
    assert [chunk.text.count("предложение номер") for chunk in cut(at)] == [9, 3]


def test_sections_are_joined_alike_with_a_model_and_without(cache: Cache) -> None:
    page = Page("7", "IT", "Заявки", (), "", "# А\n\nОдно.\n\n## Б\n\nДва.\n\n## В\n\nТри.\n")
    [chunk] = cut(desk(ScriptedLlm(), cache), page)
    assert chunk.kind == "merged"


def test_a_page_without_text_is_one_empty_chunk_and_no_call(cache: Cache) -> None:
    at = desk(ScriptedLlm(), cache)
    assert [chunk.text for chunk in cut(at, Page("7", "IT", "Заявки", (), "", ""))] == [""]
    assert at.counters.counts() == {}


@pytest.mark.parametrize(
    ("ends", "sentences"),
    [
        ([7, 99, -1, 16], [6, 6]),  # out of range
        ([13, 7], [6, 6]),  # out of order, the last one missing; what is left fits to the second
        ([7, 7, 16], [6, 6]),  # twice
        ([1, 7, 16], [6, 6]),  # after the heading
        ([7, 14, 16], [6, 6]),  # between an introduction and its table
        ([2, 7, 16], [6, 6]),  # a scrap
    ],
)
def test_faulty_numbers_are_mended_and_counted(cache: Cache, ends: list[int], sentences: list[int]) -> None:
    at = desk(ScriptedLlm().enqueue("cut", {"ends": ends, "screens": []}), cache)
    assert [chunk.text.count("предложение номер") for chunk in cut(at)] == sentences
    assert at.counters.counts() == {"cut.calls": 1, "cut.repaired": 1}


@pytest.mark.parametrize(
    "reply",
    [
        {"ends": [], "screens": []},
        {"ends": [0, 99], "screens": [1]},
        ModelError("prose instead of JSON"),
        ModelError("no answer for 60 s"),
    ],
)
def test_what_cannot_be_used_leaves_the_cut_to_the_rule_and_is_counted(cache: Cache, reply: Any) -> None:
    by_rule = chunk_page(PAGE, count=count, limit=90, settings=ChunkingSettings(tokens=90, overlap_sentences=0))
    at = desk(ScriptedLlm().enqueue("cut", reply), cache)
    assert cut(at, limit=90) == by_rule
    assert at.counters.counts() == {"cut.calls": 1, "cut.fallback": 1}


def test_a_thought_that_is_too_long_is_cut_further_by_the_rule(cache: Cache) -> None:
    at = desk(ScriptedLlm().enqueue("cut", {"ends": [13, 16], "screens": [16]}), cache)
    chunks = cut(at, limit=90)
    assert [chunk.text.count("предложение номер") for chunk in chunks] == [5, 5, 2, 0]
    assert [chunk.screen for chunk in chunks] == [False, False, False, True]


def test_a_very_long_section_is_asked_in_several_calls(cache: Cache) -> None:
    llm = ScriptedLlm().always("cut", {"ends": [1_000_000, 5], "screens": []})
    at = desk(llm, cache)
    cut(at, Page("7", "IT", "Заявки", (), "", " ".join(SENTENCES * 60)))
    assert len(llm.history) == 3
    assert at.counters.counts() == {"cut.calls": 3, "cut.repaired": 3}
