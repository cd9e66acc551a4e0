"""Contexts: what the model is asked, what is kept, what happens when it fails, how long one may be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from askwiki.data import Chunk, Page
from askwiki.errors import ModelError
from askwiki.language.glossary import Glossary, GlossaryTerm
from askwiki.prompts import load_prompts
from askwiki.settings import ChunkingSettings, ContextSettings
from indexer.chunking.chunks import chunk_page
from indexer.enrich.asking import Counters, Desk
from indexer.enrich.cache import Cache
from indexer.enrich.context import describe, page_window, template
from tests.support.scripted import ScriptedLlm

PROMPTS = load_prompts(Path(__file__).resolve().parents[2] / "config" / "prompts")
TEXT = "Вступление о заявках.\n\n# Сроки\n\nОтвет за два дня. Потом день.\n\n# Оплата\n\nСчёт приходит в ТК.\n"
PAGE = Page("7", "IT", "Заявки", ("Поддержка",), "", TEXT)


def count(texts: Sequence[str]) -> list[int]:
    return [len(re.findall(r"\w+|[^\w\s]", text)) for text in texts]


def chunks_of(page: Page) -> list[Chunk]:
    return chunk_page(page, count=count, limit=200, settings=ChunkingSettings())


@pytest.fixture
def cache() -> Iterator[Cache]:
    kept = Cache(None)
    yield kept
    kept.close()


def desk(llm: ScriptedLlm | None, cache: Cache, *terms: GlossaryTerm) -> Desk:
    return Desk(llm, PROMPTS, Glossary(terms), cache, Counters())


def contexts(page: Page, at: Desk, *, limit: int = 200, settings: ContextSettings | None = None) -> list[str]:
    described = describe(
        page, chunks_of(page), desk=at, settings=settings or ContextSettings(), count=count, limit=limit
    )
    return [chunk.context for chunk in described]


def test_without_a_model_there_is_no_context(cache: Cache) -> None:
    assert contexts(PAGE, desk(None, cache)) == ["", "", ""]


def test_where_a_model_fails_the_template_names_path_neighbours_and_first_sentence(cache: Cache) -> None:
    assert contexts(PAGE, desk(ScriptedLlm().always("context", ModelError("busy")), cache)) == [
        "Поддержка / Заявки. Перед разделом «Сроки». Вступление о заявках.",
        "Поддержка / Заявки / Сроки. Перед разделом «Оплата». Ответ за два дня.",
        "Поддержка / Заявки / Оплата. После раздела «Сроки». Счёт приходит в ТК.",
    ]


def test_the_template_speaks_the_language_of_the_page_and_numbers_parts() -> None:
    [chunk] = chunks_of(Page("1", "IT", "Requests", (), "", "One sentence. Another."))
    assert template(chunk._replace(part=2, parts=3), None, None, "en") == "Requests. Part 2 of 3. One sentence."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# Сроки\n\n| Кто | Срок |\n| --- | --- |\n| я | день |\n", "Кто | Срок я | день"),
        ("# Сроки\n\n```python\nwait(1)\n```\n", "wait(1)"),
        ("# Сроки\n\n> **Внимание.** Завтра.\n", "Внимание."),
        ("# Сроки\n\n---\n\n<br/>\n\nДва дня. Потом день.\n", "Два дня."),
    ],
)
def test_the_first_sentence_has_no_marks_of_tables_code_or_quotes(text: str, words: str) -> None:
    [chunk] = chunks_of(Page("1", "IT", "Сроки", (), "", text))
    assert template(chunk, None, None, "ru") == f"Сроки. {words}"


def test_the_model_reads_the_page_first_and_the_terms_of_the_page(cache: Cache) -> None:
    llm = ScriptedLlm().always("context", "О чём-то.")
    assert contexts(PAGE, desk(llm, cache, GlossaryTerm("ТК", "телефонная книга"))) == ["О чём-то."] * 3
    prompts = sorted(asked.text for asked in llm.history)
    shared = prompts[0][: prompts[0].index("<chunk>")].partition("## Фрагмент")[0]
    assert all(prompt.startswith(shared) for prompt in prompts)
    assert f"<page>\n{TEXT}\n</page>" in shared
    assert "- ТК — телефонная книга" in shared


def test_a_second_run_calls_nothing(cache: Cache) -> None:
    llm = ScriptedLlm().always("context", "О чём-то.")
    contexts(PAGE, desk(llm, cache))
    again = desk(None, cache)
    silent = ScriptedLlm()
    assert contexts(PAGE, replace(again, llm=silent)) == ["О чём-то."] * 3
    assert (len(llm.history), len(silent.history)) == (3, 0)
    assert again.counters.counts() == {"context.cached": 3}


def test_an_edit_of_one_section_asks_for_that_section_only(cache: Cache) -> None:
    llm = ScriptedLlm().always("context", "О чём-то.")
    contexts(PAGE, desk(llm, cache))
    contexts(replace(PAGE, markdown=TEXT.replace("два дня", "три дня")), desk(llm, cache))
    assert [asked.text.count("три дня. Потом день.\n\n\n</chunk>") for asked in llm.history[3:]] == [1]


def test_a_failing_or_silent_call_falls_back_to_the_template_and_is_tried_again(cache: Cache) -> None:
    llm = ScriptedLlm(parallel=1).enqueue("context", ModelError("no answer for 60 s"), "  ", "О сроках.")
    at = desk(llm, cache)
    first = contexts(PAGE, at)
    assert first[0] == "Поддержка / Заявки. Перед разделом «Сроки». Вступление о заявках."
    assert first[1].startswith("Поддержка / Заявки / Сроки.")
    assert first[2] == "О сроках."
    assert at.counters.counts() == {"context.calls": 3, "context.fallback": 2}
    assert contexts(PAGE, desk(ScriptedLlm().always("context", "Теперь."), cache)) == [
        "Теперь.",
        "Теперь.",
        "О сроках.",
    ]


def test_a_context_that_is_too_long_is_cut_at_a_sentence(cache: Cache) -> None:
    llm = ScriptedLlm().always("context", "Первое предложение тут. Второе предложение тут. Третье предложение тут.")
    at = desk(llm, cache)
    assert contexts(PAGE, at, limit=9) == ["Первое предложение тут. Второе предложение тут."] * 3
    assert at.counters.counts()["context.shortened"] == 3


def test_a_context_of_one_endless_word_is_cut_in_it(cache: Cache) -> None:
    [context, *_] = describe(
        PAGE,
        chunks_of(PAGE),
        desk=desk(ScriptedLlm().always("context", "я" * 5000), cache),
        settings=ContextSettings(),
        count=lambda texts: [len(text) for text in texts],
        limit=500,
    )
    assert set(context.context) == {"я"}
    assert 300 < len(context.context) <= 500


def test_the_setting_turns_the_model_off(cache: Cache) -> None:
    llm = ScriptedLlm()
    assert contexts(PAGE, desk(llm, cache), settings=ContextSettings(llm=False)) == ["", "", ""]
    assert llm.history == []


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("# Схема\n\n![Схема сети](net.png)\n", 0),
        ("# Схема\n\n[![](net.png)](big.png)\n\n---\n", 0),
        ("# Схема\n\n![Схема сети](net.png)\n\nСлева шлюз.\n", 1),
        ("# Схема\n\n```\nscheme\n```\n", 1),
    ],
)
def test_a_model_that_sees_no_picture_is_not_asked_of_one(cache: Cache, text: str, asked: int) -> None:
    llm = ScriptedLlm().always("context", "О схеме.")
    at = desk(llm, cache)
    [context] = contexts(Page("1", "IT", "Сеть", (), "", text), at)
    assert len(llm.history) == asked
    assert context.startswith("О схеме." if asked else "Сеть / Схема.")
    assert "context.fallback" not in at.counters.counts()  # which would have the page done again at each sync


def test_the_context_is_part_of_the_hash(cache: Cache) -> None:
    before = [chunk.hash for chunk in chunks_of(PAGE)]
    after = describe(PAGE, chunks_of(PAGE), desk=desk(None, cache), settings=ContextSettings(), count=count, limit=200)
    assert all(one != chunk.hash for one, chunk in zip(before, after, strict=True))


def test_of_a_long_page_the_model_sees_as_much_as_the_settings_say() -> None:
    long = replace(PAGE, markdown=PAGE.markdown + "".join(f"Строка {number}.\n\n" for number in range(100)))
    seen = []
    for window in (300, 100_000):
        llm = ScriptedLlm().always("context", "О заявках.")
        kept = Cache(None)
        contexts(long, desk(llm, kept), settings=ContextSettings(window=window))
        kept.close()
        seen.append("Строка 99." in str(llm.history[0]))
    assert seen == [False, True]


def test_a_page_longer_than_the_window_is_shown_by_outline_and_a_window_that_neighbours_share() -> None:
    long = replace(PAGE, markdown="".join(f"{number:09d}\n" for number in range(100)))
    first, second, third = (page_window(long, "Сроки", middle, 200) for middle in (410, 490, 500))
    assert first == second
    assert first.startswith("Сроки\n\n[…]\n\n000000035\n")
    assert third.startswith("Сроки\n\n[…]\n\n000000045\n")
