"""Chunks: letter for letter, none too long, ids that stay, kinds, parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from askwiki.data import Chunk, Page
from askwiki.errors import PageError
from askwiki.settings import ChunkingSettings
from indexer.chunks import chunk_page, embedded_texts

LIMIT = 120  # tokens of the word counter below
SETTINGS = ChunkingSettings(tokens=100, merge_below=12)
WORDS = re.compile(r"\w+|[^\w\s]")
SPECIAL = 3


def count(texts: Sequence[str]) -> list[int]:
    """Words and marks, as a tokenizer with three special tokens."""
    return [len(WORDS.findall(text)) + SPECIAL for text in texts]


def page(markdown: str, title: str = "Заявки", url: str = "") -> Page:
    return Page("42", "IT", title, ("Поддержка",), url, markdown)


def chunks_of(markdown: str, **fields: str) -> list[Chunk]:
    """The chunks, after the two rules that hold for every page."""
    whole = page(markdown, **fields)
    chunks = chunk_page(whole, count=count, limit=LIMIT, settings=SETTINGS)
    assert "".join(chunk.text[chunk.overlap :] for chunk in chunks) == markdown
    assert max(count([embedded_texts(chunk, True).text for chunk in chunks])) <= LIMIT
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    return chunks


def sentences(number: int, word: str = "слово") -> str:
    return " ".join(f"Предложение {n} говорит одно {word} и ещё одно." for n in range(number))


def test_an_empty_page_is_one_chunk_without_text() -> None:
    [chunk] = chunks_of("")
    assert (chunk.text, chunk.kind, chunk.headings, chunk.part, chunk.parts) == ("", "note", (), 1, 1)
    assert embedded_texts(chunk, True).text == "Поддержка / Заявки"


def test_kinds_and_breadcrumbs_follow_the_heading_tree() -> None:
    text = f"{sentences(3)}\n\n# А\n\n{sentences(3)}\n\n## Б\n\n{sentences(3)}\n\n#### В\n\nКоротко.\n"
    assert [(chunk.kind, chunk.headings) for chunk in chunks_of(text)] == [
        ("note", ()),
        ("section", ("А",)),
        ("merged", ("А", "Б")),
    ]


def test_what_is_embedded_names_the_way_once() -> None:
    [_, chunk] = chunks_of(f"# Заявки\n\n{sentences(3)}\n\n## Сроки\n\nДва дня.\n")
    texts = embedded_texts(chunk, False)
    assert texts.text == "Поддержка / Заявки / Сроки\n## Сроки\n\nДва дня."
    assert texts.sparse == "Заявки / Сроки\n## Сроки\n\nДва дня."
    assert embedded_texts(chunk, True).sparse == texts.text


def test_a_long_section_becomes_marked_parts_with_a_sentence_of_overlap() -> None:
    chunks = chunks_of(f"# А\n\n{sentences(30)}\n")
    assert [(chunk.part, chunk.parts) for chunk in chunks] == [(n, len(chunks)) for n in range(1, len(chunks) + 1)]
    assert [chunk.text[: chunk.overlap].count("Предложение") for chunk in chunks] == [0] + [1] * (len(chunks) - 1)


def test_a_long_table_is_cut_between_rows_and_its_header_is_repeated() -> None:
    rows = "".join(f"| поле{n} | что оно значит, номер {n} |\n" for n in range(40))
    chunks = chunks_of(f"# А\n\n| Имя | Смысл |\n|---|---|\n{rows}")
    assert len(chunks) > 3
    for chunk in chunks[1:]:
        assert chunk.text[: chunk.overlap] == "| Имя | Смысл |\n|---|---|\n"
        assert chunk.text[chunk.overlap :].startswith("| поле")
        assert chunk.text.endswith("|\n")


def test_a_line_without_a_blank_is_cut_as_the_last_resort() -> None:
    chunks = chunk_page(
        page("x" * 5000), count=lambda texts: [len(text) // 2 + 2 for text in texts], limit=500, settings=SETTINGS
    )
    assert "".join(chunk.text for chunk in chunks) == "x" * 5000


def test_ids_stay_when_another_section_is_edited_or_inserted() -> None:
    first, second = f"# А\n\n{sentences(5)}\n\n", f"# Б\n\n{sentences(30)}\n"
    before = [chunk.id for chunk in chunks_of(first + second)]
    after = [chunk.id for chunk in chunks_of(f"Вступление.\n\n{first}# Новое\n\n{sentences(5)}\n\n{second}")]
    assert [id for id in after if id in before] == before


def test_equal_texts_under_equal_headings_have_their_own_ids() -> None:
    chunks = chunks_of("# А\n\nОдно.\n\n# А\n\nОдно.\n\n# А\n\nОдно.\n")
    assert [chunk.text for chunk in chunks] == ["# А\n\nОдно.\n\n", "# А\n\nОдно.\n\n", "# А\n\nОдно.\n"]


def test_the_hash_changes_with_everything_that_is_stored() -> None:
    whole = page("# А\n\nОдно.\n")
    variants = [
        whole,
        replace(whole, updated="2026-01-01"),
        replace(whole, labels=("x",)),
        replace(whole, path=("Другое",)),
        replace(whole, markdown="# А\n\nДва.\n"),
        replace(whole, url="https://wiki.example/1"),
    ]
    hashes = {chunk_page(one, count=count, limit=LIMIT, settings=SETTINGS)[0].hash for one in variants}
    hashes |= {chunk_page(whole, count=count, limit=LIMIT, settings=SETTINGS, acl="*")[0].hash}
    assert len(hashes) == len(variants) + 1


def test_a_limit_that_the_path_alone_fills_is_an_error_that_says_so() -> None:
    with pytest.raises(PageError, match="Path and title of «Заявки» leave no room"):
        chunk_page(page("Текст."), count=count, limit=10, settings=SETTINGS)
