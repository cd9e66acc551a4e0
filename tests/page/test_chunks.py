"""Chunks: letter for letter, none too long, ids that stay, kinds, parts."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwiki.configuration import load_configuration
from askwiki.data import Chunk, Page
from askwiki.encoders.factory import make_embedder
from askwiki.errors import PageError
from askwiki.markdown.blocks import parse_blocks
from askwiki.markdown.plain_text import plain_text
from askwiki.settings import ChunkingSettings, Settings, SparseSettings
from indexer.chunking.breadcrumb import few_tokens
from indexer.chunking.chunks import chunk_page, whole_text, with_context
from indexer.chunking.cuts import PageSpan, Thought
from indexer.chunking.embedded import embedded_texts
from indexer.chunking.sub_chunks import piece_texts
from indexer.chunking.token_limit import chunk_tokens
from indexer.chunking.units import number_units
from indexer.opening import open_source

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
    assert max(count([whole_text(chunk) for chunk in chunks])) <= SETTINGS.tokens
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    return chunks


def sentences(number: int, word: str = "слово") -> str:
    return " ".join(f"Предложение {n} говорит одно {word} и ещё одно." for n in range(number))


def test_an_empty_page_is_one_chunk_without_text() -> None:
    [chunk] = chunks_of("")
    assert (chunk.text, chunk.kind, chunk.headings, chunk.part, chunk.parts) == ("", "note", (), 1, 1)
    assert whole_text(chunk) == "Поддержка / Заявки"


def test_kinds_and_breadcrumbs_follow_the_heading_tree() -> None:
    text = f"{sentences(3)}\n\n# А\n\n{sentences(3)}\n\n## Б\n\n{sentences(3)}\n\n#### В\n\nКоротко.\n"
    assert [(chunk.kind, chunk.headings) for chunk in chunks_of(text)] == [
        ("note", ()),
        ("section", ("А",)),
        ("merged", ("А", "Б")),
    ]


def test_what_is_embedded_names_the_way_once() -> None:
    [_, chunk] = chunks_of(f"# Заявки\n\n{sentences(3)}\n\n## Сроки\n\n{sentences(3)}\n")
    whole, words = f"Поддержка / Заявки / Сроки\nСроки\n{sentences(3)}", f"Заявки / Сроки\nСроки\n{sentences(3)}"
    assert embedded_texts(chunk, Settings(), count=count, reads=512) == ((whole,), "", whole)
    without = Settings(sparse=SparseSettings(path=False))
    assert embedded_texts(chunk, without, count=count, reads=512) == ((whole,), "", words)
    assert whole_text(chunk) == whole


def test_addresses_and_marks_are_not_embedded_and_take_no_room() -> None:
    link = "[страница](https://wiki.example/pages/viewpage.action?pageId=123456)"
    [chunk] = chunks_of(f"# А\n\n**{' '.join([link] * 12)}**\n")
    assert whole_text(chunk) == f"Поддержка / Заявки / А\nА\n{' '.join(['страница'] * 12)}"


def test_a_chunk_of_addresses_only_does_not_grow_without_end() -> None:
    chunks = chunks_of(f"# А\n\n![]({'x' * 100_000})\n")
    assert max(len(chunk.text) for chunk in chunks) < 12 * LIMIT + 100


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


def test_a_merged_first_cell_is_carried_into_the_next_part() -> None:
    rows = "".join(f"| {'Группа' if n == 0 else ''} | поле{n} | смысл номер {n} |\n" for n in range(30))
    chunks = chunks_of(f"| Группа | Имя | Смысл |\n|---|---|---|\n{rows}")
    carried = "| Группа | Имя | Смысл |\n|---|---|---|\n| Группа | поле0 | смысл номер 0 |\n"
    assert [chunk.text[: chunk.overlap] for chunk in chunks[1:]] == [carried] * (len(chunks) - 1)


def test_a_table_stays_with_the_sentence_that_introduces_it() -> None:
    table = "| a | b |\n|---|---|\n" + "| один два | три четыре |\n" * 5
    chunks = chunks_of(f"# А\n\n{sentences(9)}\n\nПоля таковы:\n\n{table}\nПотом ещё. {sentences(4)}\n")
    [holder] = [chunk for chunk in chunks if "| a | b |" in chunk.text]
    assert f"Поля таковы:\n\n{table}" in holder.text


def test_long_code_is_cut_on_blank_lines_and_begins_with_its_fence() -> None:
    function = "def f(x):\n    # comment\n    return x + 1\n\n"
    chunks = chunks_of("# А\n\n```python\n" + function * 40 + "```\n")
    assert len(chunks) > 3
    for chunk in chunks[1:]:
        assert chunk.text.startswith("```python\ndef f(x):\n")
        assert chunk.overlap == len("```python\n")


def test_an_item_is_not_cut_in_code_that_looks_like_items() -> None:
    text = "1. Шаг\n\n   ````\n   ```\n   - не пункт, а код\n   ````\n\n2. Второй\n"
    units = number_units(text, parse_blocks(text))
    assert [text[unit.start :].partition("\n")[0] for unit in units] == ["1. Шаг", "2. Второй"]


def test_a_procedure_is_cut_between_its_steps() -> None:
    steps = "".join(f"{n}. Шаг {n}: откройте нужную страницу.\n   Подождите немного.\n" for n in range(1, 30))
    chunks = chunks_of(f"# А\n\n{steps}")
    assert all(re.match(r"\d+\. Шаг", chunk.text[chunk.overlap :]) for chunk in chunks[1:])


def test_a_heading_is_never_left_alone_at_the_end_of_a_part() -> None:
    text = "".join(f"## Р{n}\n\n### П{n}\n\n{sentences(12)}\n\n" for n in range(4))
    assert all(chunk.text.rstrip().endswith(".") for chunk in chunks_of(f"# А\n\n{text}"))


@pytest.mark.parametrize("separator", ["\n\n", "\r\n\r\n"])
def test_short_children_are_read_with_their_parent_but_top_sections_stay_apart(separator: str) -> None:
    text = separator.join(["# А", "О деле.", "## Б", "Одно.", "## В", "Два.", "# Г", "Три.", ""])
    assert [(chunk.kind, chunk.headings) for chunk in chunks_of(text)] == [("merged", ("А",)), ("section", ("Г",))]


def test_children_are_joined_with_parent_and_neighbours_while_they_fit() -> None:
    joining = ChunkingSettings(tokens=100, merge_below=100)
    text = "".join(f"## Р{n}\n\n{sentences(2)}\n\n" for n in range(6))
    chunks = chunk_page(page(f"# А\n\nО деле.\n\n{text}"), count=count, limit=LIMIT, settings=joining)
    assert [(chunk.kind, chunk.headings, chunk.text.count("## Р")) for chunk in chunks] == [
        ("merged", ("А",), 4),
        ("merged", ("А",), 2),
    ]


def test_a_screen_is_not_joined_to_an_explanation() -> None:
    form = "## Форма\n\n| Поле | Смысл |\n|---|---|\n| Сумма | сколько |\n\n"
    chunks = chunks_of(f"# А\n\nО деле.\n\n{form}## Сроки\n\nДва дня.\n")
    assert [(chunk.screen, chunk.headings) for chunk in chunks] == [
        (False, ("А",)),
        (True, ("А", "Форма")),
        (False, ("А", "Сроки")),
    ]


def test_a_bare_heading_belongs_to_what_follows() -> None:
    [chunk] = chunks_of(f"# А\n\n## Б\n\n{sentences(3)}\n")
    assert (chunk.kind, chunk.headings) == ("subsection", ("А", "Б"))


def test_the_address_leads_to_the_heading_but_not_for_text_under_none() -> None:
    address = "https://wiki.example/pages/viewpage.action?pageId=42"
    chunks = chunks_of(f"{sentences(3)}\n\n# Days off\n\n{sentences(3)}\n", title="Leave", url=address)
    assert [chunk.url for chunk in chunks] == [address, f"{address}#Leave-Daysoff"]
    assert {chunk.url for chunk in chunks_of("# A\n\nText.\n")} == {""}


def test_a_deep_tree_of_long_titles_leaves_room_for_the_text() -> None:
    whole = replace(page(sentences(200)), path=tuple(f"Очень длинное название раздела номер {n}" for n in range(40)))
    chunks = chunk_page(whole, count=count, limit=LIMIT, settings=SETTINGS)
    texts = [whole_text(chunk, few_tokens(count, SETTINGS.tokens)) for chunk in chunks]
    assert max(count(texts)) <= SETTINGS.tokens
    assert texts[0].startswith("Очень длинное название раздела номер 3")


PROSE = ["# A", "## B", "", "", "Слово за словом. И т. е. так.", "Так:", "- item", "  - item", "1. x", "> q", "---"]
FIGURES = ["| a | b |", "|---|---|", "| 1 | 2 |", "|  | x |", "```py", "```", "<table>", "</table>", "    code", "\r"]
LONG = ["слово " * 80, "x" * 300, "é" * 5, "👨‍👩‍👧‍👦" * 30, "\ud800", "\u2028"]
LINES = [*PROSE, *FIGURES, *LONG]


def count_bytes(texts: Sequence[str]) -> list[int]:
    """A tokenizer that reads almost every byte on its own."""
    return [len(text.encode("utf-8", "surrogatepass")) // 2 + SPECIAL for text in texts]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(LINES) | st.text(max_size=30), max_size=40).map("\n".join), st.integers(170, 260))
def test_any_page_comes_back_to_the_letter_and_no_text_is_too_long(markdown: str, limit: int) -> None:
    for tokens in (count, count_bytes):
        chunks = chunk_page(page(markdown), count=tokens, limit=limit, settings=SETTINGS)
        fits = few_tokens(tokens, SETTINGS.tokens)
        assert "".join(chunk.text[chunk.overlap :] for chunk in chunks) == markdown
        assert max(tokens([whole_text(chunk, fits) for chunk in chunks])) <= SETTINGS.tokens
        assert len({chunk.id for chunk in chunks}) == len(chunks)
        assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))


def test_a_letter_is_never_parted_from_its_marks() -> None:
    letters = ["e\u0301", "👨‍👩‍👧‍👦", "👍🏽", "🇷🇺", "\r\n"]
    chunks = chunk_page(page("".join(letters * 300)), count=count_bytes, limit=200, settings=SETTINGS)
    assert len(chunks) > 10
    for chunk in chunks:
        rest = chunk.text
        while rest:
            letter = next(one for one in letters if rest.startswith(one))
            rest = rest[len(letter) :]


@pytest.mark.long
@pytest.mark.parametrize(
    "markdown",
    [
        pytest.param("Это предложение говорит о важном, т. е. полезном. " * 30_000, id="one paragraph"),
        pytest.param("x" * 2_000_000, id="one word"),
        pytest.param("| a | b |\n|---|---|\n" + "| строка таблицы | значение |\n" * 60_000, id="one table"),
        pytest.param("```\n" + "x = 1\n\n" * 250_000 + "```\n", id="one code block"),
        pytest.param("\n" * 2_000_000, id="blank lines"),
        pytest.param("<table>\n\n" * 150_000, id="unclosed tags"),
    ],
)
def test_a_page_of_two_megabytes_is_cut_in_seconds(markdown: str) -> None:
    started = time.process_time()
    chunks = chunk_page(page(markdown), count=count_bytes, limit=500, settings=ChunkingSettings())
    assert time.process_time() - started < 30  # seconds; square time would be hours
    assert "".join(chunk.text[chunk.overlap :] for chunk in chunks) == markdown


@pytest.mark.parametrize("tokens", [60, 100, 200, 480])
def test_no_chunk_of_the_sample_wiki_has_more_tokens_than_the_setting_allows(tokens: int) -> None:
    root = Path(__file__).resolve().parents[2]
    configuration = load_configuration({}, root / "config")
    source = open_source(f"html:{root / 'tests' / 'wiki' / 'html'}", configuration)
    embedder = make_embedder(configuration.settings.embedding)
    fits = few_tokens(embedder.count, chunk_tokens(embedder.limit, tokens))
    pages = [one for one in source.pages() if isinstance(one, Page)]
    assert len(pages) > 40
    for one in pages:
        chunks = chunk_page(one, count=embedder.count, limit=504, settings=ChunkingSettings(tokens=tokens))
        assert "".join(chunk.text[chunk.overlap :] for chunk in chunks) == one.markdown
        assert max(embedder.count([whole_text(chunk, fits) for chunk in chunks])) <= tokens
        pieces = [piece_texts(one, count=embedder.count, tokens=100, limit=tokens) for one in chunks]
        assert max(embedder.count([text for texts in pieces for text in texts])) <= tokens
        words = [set(plain_text(chunk.text).split()) - set(" ".join(pieces[chunk.ordinal]).split()) for chunk in chunks]
        assert set().union(*words) == set()


def test_a_thought_of_a_model_is_counted_itself_not_by_its_share_of_letters() -> None:
    """Digits take a token each here, so the second half has nearly all tokens of the section."""

    def count_digits(texts: Sequence[str]) -> list[int]:
        return [sum(letter.isdigit() for letter in text) + len(text) // 20 + SPECIAL for text in texts]

    markdown = f"{'Слова без чисел идут. ' * 20}\n\n{'12 34 56 78. ' * 33}\n"
    middle = markdown.index("12 34")

    def halves(page: Page, spans: Sequence[PageSpan]) -> list[list[Thought]]:
        return [[Thought(middle), Thought(span.end)] for span in spans]

    settings = ChunkingSettings(tokens=200)
    chunks = chunk_page(page(markdown), count=count_digits, limit=200, settings=settings, cutter=halves)
    assert "".join(chunk.text[chunk.overlap :] for chunk in chunks) == markdown
    assert max(count_digits([whole_text(chunk) for chunk in chunks])) <= 200


@pytest.mark.models
def test_a_tokenizer_in_the_shape_of_fridas_is_never_overrun() -> None:
    """FRIDA reads 512 tokens of a byte-pair encoding, its prefix and end mark included."""
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel()
    tokenizer.train_from_iterator([sentences(50)], tokenizers.trainers.BpeTrainer(vocab_size=500, show_progress=False))

    def count_pairs(texts: Sequence[str]) -> list[int]:
        encoded = tokenizer.encode_batch([f"search_document: {text}" for text in texts])
        return [len(one.ids) + 1 for one in encoded]

    root = Path(__file__).resolve().parents[2]
    source = open_source(f"html:{root / 'tests' / 'wiki' / 'html'}", load_configuration({}, root / "config"))
    for one in source.pages():
        if isinstance(one, Page):
            chunks = chunk_page(one, count=count_pairs, limit=504, settings=ChunkingSettings())
            assert "".join(chunk.text[chunk.overlap :] for chunk in chunks) == one.markdown
            assert max(count_pairs([whole_text(chunk) for chunk in chunks])) <= 504


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
    chunks = [chunk_page(one, count=count, limit=LIMIT, settings=SETTINGS)[0] for one in variants]
    chunks += chunk_page(whole, count=count, limit=LIMIT, settings=SETTINGS, acl="*")
    hashes = {with_context(chunk, "Откуда это.").hash for chunk in chunks} | {with_context(chunks[0], "Иное.").hash}
    assert len(hashes) == len(variants) + 2


def test_a_limit_that_the_path_alone_fills_is_an_error_that_says_so() -> None:
    with pytest.raises(PageError, match="Path and title of «Заявки» leave no room"):
        chunk_page(page("Текст."), count=count, limit=10, settings=SETTINGS)
