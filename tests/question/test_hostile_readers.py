"""What both readers open of an answer: ours, and the one that Open WebUI uses, run as it runs it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from askwiki.stages.citations.links import escape, link
from askwiki.stages.extractive.quotations import as_markdown
from askwiki.stages.sources import link_list, source_list
from askwiki.texts import load_texts
from tests.question.test_hostile import asked_of, by_id, gated, passage
from tests.support.hostile_chat_reader import missing, opened
from tests.support.hostile_grammar import composed, label
from tests.support.hostile_reading import WIKI, Case, cases, dangers

TEXTS = load_texts(Path(__file__).resolve().parents[2] / "config" / "texts")
NOW = datetime(2026, 11, 30, tzinfo=UTC)
CASES = [*cases("answer.yaml"), *cases("chat.yaml")]
GIVEN = frozenset({1, 2})
WHOLE = 10**6

chat = pytest.mark.skipif(bool(missing()), reason=missing())

TITLES = [
    "![](https://evil.example/?q=1)",
    r"!\[\](https://evil.example/a)",
    r"\!\[x\]\(https://evil.example/a\)",
    "[Вход](https://evil.example/login)",
    "`![](https://evil.example/a)`",
    "Пишите на thief@evil.com",
    "https://evil.example/a и www.evil.com/b",
    "яhttps://evil.example/a _https://evil.example/b_",
    "&#33;&#91;&#93;&#40;https://evil.example/a&#41;",
    "&amp;#33;[](https://evil.example/a)",
    "<img src=//evil.example/a>",
    "<@U:1|Иван>",
    "{{VIDEO_FILE_ID_0a}}",
    "$`$ ![](https://evil.example/a)",
    "a\n\n![](https://evil.example/a)",
    "h\u200bttps://evil.example/a h\u00adttps://evil.example/b",
    "](https://evil.example/a) ![",
    "конец\\",
    "\u202e\u200b",
    "2024",
    "^1",
]


def judged(text: str) -> list[str]:
    """What either reader opens; the chat's own where it can be had."""
    return dangers(text, sources=GIVEN) + ([] if missing() else opened(text))


# --- the cases ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, WHOLE])
@pytest.mark.parametrize("case", CASES, ids=by_id)
def test_neither_reader_opens_anything_in_an_answer(case: Case, size: int) -> None:
    shown = gated(case.text, size)
    assert judged(shown) == [], shown


@chat
@pytest.mark.parametrize("case", CASES, ids=by_id)
def test_as_it_stands_the_case_is_opened_by_one_of_them(case: Case) -> None:
    named = [word for word in case.never if word in case.text]
    assert judged(case.text) or named


@pytest.mark.parametrize("case", CASES, ids=by_id)
def test_neither_reader_opens_anything_in_a_quotation_or_in_the_window_beside_it(case: Case) -> None:
    sources, text = asked_of(case)
    assert [judged(source.text) for source in sources] == [[]]
    assert judged(text) == [], text


# --- names of pages ---------------------------------------------------------------------------------------


def named(title: str) -> list[str]:
    """Everywhere code itself writes the name of a page."""
    page = passage(1, title=title, heading=f"{title} 2")
    bare = passage(2, title=title, heading="", url="", path=title)
    lists = {"texts": TEXTS, "language": "ru", "now": NOW}
    return [
        source_list([page, bare], title="Источники", **lists),
        link_list([page, bare], **lists),
        as_markdown([(page, "Лимит.")]),
        f"Есть и прежняя редакция: {link(title, page.url)}. В найденном нет: «{escape(title)}».",
    ]


@pytest.mark.parametrize("title", TITLES)
def test_a_name_of_a_page_is_but_words_to_both_readers(title: str) -> None:
    for text in named(title):
        assert judged(text) == [], text


@pytest.mark.parametrize(
    "title",
    [
        "C++ / C#",
        "Настройка (v2) — часть 1",
        "Отпуск: как оформить?",
        "R&D, 50 % и «кавычки»",
        "№ 5 от 01.02.2026",
        "Приказ 12/3-к!",
        'Don\'t "panic"',
    ],
)
def test_an_ordinary_name_is_left_as_it_is(title: str) -> None:
    assert escape(title) == title


@pytest.mark.parametrize("title", ["2024", "1, 2", "^1", "5#x"])
def test_a_name_like_a_marker_is_a_link_all_the_same(title: str) -> None:
    """The chat takes [2024] for a source, and what then stands in parentheses for an address of its own."""
    assert link(title, f"https://{WIKI}/p") == f"[\u2060{title}](https://{WIKI}/p)"


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("a_b", r"a\_b"),
        ("10 % *", r"10 % \*"),
        ("[ЧЕРНОВИК] План", "(ЧЕРНОВИК) План"),
        ("Отчёт | Финансы", "Отчёт ¦ Финансы"),
        ("Список<Строка>", "Список‹Строка›"),
        ("R&amp;D", "R&D"),
        ("`kubectl`", "'kubectl'"),
        ("", "…"),
    ],
)
def test_what_could_be_markup_in_a_name_is_written_with_signs_that_look_alike(title: str, shown: str) -> None:
    assert escape(title) == shown


# --- at random ----------------------------------------------------------------------------------------------


def composed_answer(seed: int) -> str:
    return gated(composed(Random(seed)), WHOLE)


def composed_row(seed: int) -> str:
    return gated(f"| a | b |\n|---|---|\n| {composed(Random(seed)).replace(chr(10), ' ')} | x |\n", WHOLE)


def composed_quotation(seed: int) -> str:
    return as_markdown([(passage(1, title=label(Random(seed)), heading=""), composed_answer(seed).strip())])


def composed_names(seed: int) -> str:
    return "\n\n".join(named(label(Random(seed))))


PATHS: list[Callable[[int], str]] = [composed_answer, composed_row, composed_quotation, composed_names]


def none_opens(make: Callable[[int], str], seeds: range) -> None:
    for seed in seeds:
        text = make(seed)
        assert judged(text) == [], (seed, text)


@pytest.mark.parametrize("make", PATHS)
def test_nothing_of_a_hostile_composition_is_opened(make: Callable[[int], str]) -> None:
    none_opens(make, range(150))


@pytest.mark.long
@pytest.mark.parametrize("make", PATHS)
def test_nothing_of_many_hostile_compositions_is_opened(make: Callable[[int], str]) -> None:
    none_opens(make, range(1_000, 11_000))


def same_in_pieces(seeds: range) -> None:
    for seed in seeds:
        text = composed(Random(seed))
        assert gated(text, 1) == gated(text, 5) == gated(text, WHOLE), (seed, text)


def test_in_pieces_of_any_size_the_text_is_the_same() -> None:
    same_in_pieces(range(100))


@pytest.mark.long
def test_in_pieces_of_any_size_many_texts_are_the_same() -> None:
    same_in_pieces(range(1_000, 4_000))


@chat
@pytest.mark.parametrize("make", [composed])
def test_the_compositions_themselves_are_opened(make: Callable[[Random], str]) -> None:
    assert sum(bool(judged(make(Random(seed)))) for seed in range(100)) > 80


@chat
def test_the_wikis_own_pictures_and_links_stay() -> None:
    text = f"[Статусы](https://{WIKI}/p/1), ![схема](https://{WIKI}/a.png) и https://{WIKI}/p/2.\n"
    assert gated(text, 3) == text
    assert judged(text) == []
