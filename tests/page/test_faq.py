"""Bold questions of a FAQ: cut at like headings, and above the pieces of their answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from askwiki.data import Page
from askwiki.settings import ChunkingSettings
from indexer.chunking.chunks import chunk_page
from indexer.chunking.faq import is_only_question, question_of
from indexer.chunking.sub_chunks import piece_texts

NAMES = ("отпуск", "пропуск", "роль", "диск", "адрес", "пароль", "почту", "ключ")


def count(texts: Sequence[str]) -> list[int]:
    return [len(re.findall(r"\w+|[^\w\s]", text)) + 3 for text in texts]


@pytest.mark.parametrize(
    ("paragraph", "question", "alone"),
    [
        ("**Кто отзывает роль?**\n", "Кто отзывает роль?", True),
        ("__Кто отзывает роль?__", "Кто отзывает роль?", True),
        ("**Кто отзывает роль**?", "Кто отзывает роль?", True),
        ("**Где `root` и [диск](https://wiki.example.com)?**", "Где root и диск?", True),
        ("**Кто отзывает роль?**\\\nВладелец.", "Кто отзывает роль?", False),
        ("**Решение**", "", False),
        ("**Внимание.** Кто отзывает роль?", "", False),
        ("Кто отзывает роль?", "", False),
        (f"**{'Кто ' * 100}?**", "", False),
        ("**Кто отзывает роль?", "", False),
    ],
)
def test_what_is_a_question_of_a_faq(paragraph: str, question: str, alone: bool) -> None:
    assert (question_of(paragraph), is_only_question(paragraph)) == (question, alone)


@pytest.mark.parametrize("between", ["\n\n", "\\\n"], ids=["answer below", "answer in the same paragraph"])
def test_a_long_faq_is_cut_at_its_bold_questions(between: str) -> None:
    answer = f"{'Откройте раздел в портале. ' * 4}\n\nПисьмо придёт за день."
    faq = "\n\n".join(f"**Как получить {name}?**{between}{answer}" for name in NAMES)
    page = Page("42", "IT", "Вопросы", (), "", faq)
    chunks = chunk_page(page, count=count, limit=120, settings=ChunkingSettings(tokens=100))
    assert len(chunks) > 2
    assert all(chunk.text[chunk.overlap :].startswith("**Как получить") for chunk in chunks)
    assert all(chunk.text.rstrip().endswith("за день.") for chunk in chunks)


def test_each_answer_is_embedded_below_its_own_question() -> None:
    faq = "\n\n".join(f"**Как получить {name}?**\n\nДорого.\n\nИ долго." for name in NAMES)
    page = Page("42", "IT", "Вопросы", (), "", f"{faq}\n\n# Прочее\n\nКонец.")
    pieces = [
        text
        for chunk in chunk_page(page, count=count, limit=500, settings=ChunkingSettings(tokens=450))
        for text in piece_texts(chunk, count=count, tokens=100, limit=500)
    ]
    for name in NAMES:
        [own] = [text for text in pieces if f"Как получить {name}?" in text]
        assert own.endswith("\nДорого.\nИ долго.")
        assert sum(f"Как получить {other}?" in own for other in NAMES) == 1
    [last] = [text for text in pieces if "Конец." in text]
    assert "получить" not in last
