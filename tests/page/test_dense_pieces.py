"""What the dense encoder is given of a chunk: pieces under their headings, none too long."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from askwiki.markdown.plain_text import plain_text
from indexer.chunking.sub_chunks import piece_texts
from tests.support.stores import make_chunk


def count(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) + 2 for text in texts]


def pieces(text: str, tokens: int = 8, limit: int = 40, headings: tuple[str, ...] = ("Пароль",)) -> list[str]:
    return piece_texts(
        make_chunk("1", 0, text, headings=headings, title="Учёт", path=()), count=count, tokens=tokens, limit=limit
    )


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("## Срок **важный**", "Срок важный"),
        ("[портал](https://x/y_(z)) и ![схема](a.png)", "портал и схема"),
        ("| a | b |\n| --- | :-: |\n| 1 | `2` |", "a | b\n1 | 2"),
        ("```bash\nls -l | wc\n```", "ls -l | wc"),
        ("> цитата\n\n\nдальше", "цитата\nдальше"),
        ("<b>жирно</b><br/>ниже ssh <host>", "жирно ниже ssh <host>"),
        ("---", "---"),
    ],
)
def test_models_read_words_without_marks(markdown: str, expected: str) -> None:
    assert plain_text(markdown) == expected


def test_a_short_chunk_is_one_piece_under_its_headings() -> None:
    assert pieces("## Пароль\n\nМеняют в портале.\n") == ["Учёт / Пароль\nПароль\nМеняют в портале."]


def test_inner_headings_begin_a_piece_of_their_own() -> None:
    assert pieces("## Пароль\n\nПортал.\n\n### Срок\n\nГод.\n\n## Ключ\n\nТокен.\n") == [
        "Учёт / Пароль\nПароль\nПортал.",
        "Учёт / Пароль / Срок\nСрок\nГод.",
        "Учёт / Ключ\nКлюч\nТокен.",
    ]


def test_the_title_of_the_page_stands_once() -> None:
    assert pieces("# Учёт\n\nВведение.\n", headings=("Учёт",)) == ["Учёт\nУчёт\nВведение."]


def test_paragraphs_are_packed_up_to_the_size() -> None:
    found = pieces("Один два три четыре.\n\nПять шесть семь восемь.\n\nДевять десять.\n")
    assert [text.partition("\n")[2] for text in found] == [
        "Один два три четыре.\nПять шесть семь восемь.",
        "Девять десять.",
    ]


def test_each_piece_of_a_table_begins_with_its_header() -> None:
    rows = "".join(f"| строка {number} | да |\n" for number in range(3))
    found = pieces(f"| имя | есть |\n| --- | --- |\n{rows}", tokens=8)
    assert [text.splitlines()[1] for text in found] == ["имя | есть"] * len(found)
    assert "\n".join("\n".join(text.splitlines()[2:]) for text in found) == (
        "строка 0 | да\nстрока 1 | да\nстрока 2 | да"
    )


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    found = pieces("Первое предложение из пяти слов. Второе предложение тоже из пяти слов.\n", tokens=6)
    assert [text.partition("\n")[2] for text in found] == [
        "Первое предложение из пяти слов.",
        "Второе предложение тоже из пяти слов.",
    ]


def test_a_chunk_without_text_is_its_path() -> None:
    assert pieces("") == ["Учёт / Пароль"]


def test_without_a_size_the_chunk_is_one_piece() -> None:
    text = "Слово. " * 30
    assert pieces(text, tokens=0, limit=100) == [f"Учёт / Пароль\n{text.strip()}"]


def test_no_piece_is_longer_than_the_encoder_reads() -> None:
    long_path = tuple(f"Очень длинный заголовок номер {number}" for number in range(9))
    found = pieces("слово " * 100, tokens=8, limit=20, headings=long_path)
    assert max(count(found)) <= 20
    assert " ".join(found).split().count("слово") == 100
