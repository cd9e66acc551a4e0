"""Candidates to numbered passages: rebuilt, joined, without copies, within the budget."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import pytest

from askwiki.data import PUBLIC, Candidate, Chunk, Passage, PassageNote, PassagePart, Rights, Verdict
from askwiki.markdown.fences import close_fences
from askwiki.settings import PassagesSettings
from askwiki.stages.passages.assemble import Cut, make_passages, renumbered
from askwiki.stages.passages.budget import halve, shorten
from askwiki.stages.passages.reading import as_read
from askwiki.stages.passages.spans import GAP, join_texts
from askwiki.stages.passages.versions import find_twins
from tests.support.small_wiki import MemoryReader, chunk, kit_of

RIGHTS = Rights(frozenset({PUBLIC}))
MANY = 10**6


def parts(page: str, *texts: str, **more: Any) -> list[Chunk]:
    """One section of a page in several parts."""
    return [
        chunk(f"{page}#{number}", text, part=number + 1, parts=len(texts), headings=("Раздел",), **more)
        for number, text in enumerate(texts)
    ]


def made(
    wiki: Sequence[Chunk], found: Sequence[str], *, tokens: int = MANY, rights: Rights = RIGHTS, **settings: Any
) -> Cut:
    """Passages of the chunks named ``found``, best first; a token is a character."""
    kit = kit_of(wiki)
    by_id = {each.id: each for each in wiki}
    candidates = [Candidate(by_id[name], 10.0 - place) for place, name in enumerate(found)]
    chosen = PassagesSettings(**{"tokens": MANY, **settings})
    return make_passages(candidates, rights, reader=kit.reader, count=len, settings=chosen, tokens=tokens)


def texts(cut: Cut) -> list[str]:
    return [passage.text for passage in cut.passages]


def test_passages_are_numbered_in_the_order_of_the_candidates() -> None:
    cut = made([chunk("a", "Первый."), chunk("b", "Второй.")], ["b", "a"])
    assert [(passage.number, passage.text, passage.chunk_ids) for passage in cut.passages] == [
        (1, "Второй.", ("b",)),
        (2, "Первый.", ("a",)),
    ]


def test_a_passage_knows_where_it_is_from() -> None:
    (passage,) = made([chunk("a", "Текст.", headings=("Лимиты",))], ["a"]).passages
    assert passage == Passage(
        number=1,
        page_id="a",
        title="Страница a",
        path=("База знаний",),
        headings=("Лимиты",),
        url="https://wiki.example.com/a",
        updated="2026-08-30T10:00:00",
        text="Текст.",
        chunk_ids=("a",),
        score=10.0,
        parts=(PassagePart(("Лимиты",), "https://wiki.example.com/a", "Текст."),),
    )


def test_the_parts_of_a_split_section_are_fetched_and_put_in_page_order() -> None:
    (passage,) = made(parts("a", "один ", "два ", "три"), ["a#2"]).passages
    assert (passage.text, passage.rebuilt, passage.part) == ("один два три", True, (1, 3, 3))


def test_what_a_part_repeats_of_the_one_before_it_is_left_out() -> None:
    head = "| A | B |\n| - | - |\n"
    wiki = parts("a", head + "| 1 | 2 |\n", head + "| 3 | 4 |\n")
    wiki[1] = chunk("a#1", wiki[1].text, part=2, parts=2, headings=("Раздел",), overlap=len(head))
    assert texts(made(wiki, ["a#1"])) == [head + "| 1 | 2 |\n| 3 | 4 |\n"]


def test_parts_that_the_person_may_not_read_stay_out() -> None:
    wiki = [*parts("a", "один", "два")]
    wiki[1] = chunk("a#1", "два", part=2, parts=2, headings=("Раздел",), acl="key")
    assert texts(made(wiki, ["a#0"])) == ["один"]


def test_siblings_can_be_switched_off() -> None:
    assert texts(made(parts("a", "один", "два"), ["a#1"], siblings=False)) == ["два"]


def test_neighbours_are_joined_and_keep_the_better_place() -> None:
    wiki = [chunk("a#0", "ноль\n"), chunk("a#1", "один\n"), chunk("a#5", "пять\n"), chunk("b", "бэ")]
    cut = made(wiki, ["a#1", "b", "a#0", "a#5"])
    assert texts(cut) == ["ноль\nодин\n", "бэ", "пять\n"]
    assert (cut.passages[0].score, cut.passages[0].chunk_ids) == (10.0, ("a#0", "a#1"))


def test_a_gap_between_parts_is_shown() -> None:
    assert join_texts([chunk("a#0", "один"), chunk("a#2", "три")]) == f"один{GAP}три"


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("a\n```sql\nselect 1", "a\n```sql\nselect 1\n```"),
        ("a\n```\nb\n```\nc", "a\n```\nb\n```\nc"),
        ("~~~~\n```\n", "~~~~\n```\n~~~~"),
        ("````\n```\n````\n", "````\n```\n````\n"),
        ("1. a\n    ```\n    b\n   ```\nc", "1. a\n    ```\n    b\n   ```\nc"),
        ("no code", "no code"),
        ("```\n```sh\nc\n", "```\n```sh\nc\n```"),
        ("```a``` b", "```a``` b"),
        ("a\n\n    ```\n    b", "a\n\n    ```\n    b"),
        ("- ```\n  a", "- ```\n  a\n```"),
    ],
)
def test_an_open_code_block_is_closed_in_the_passage(text: str, closed: str) -> None:
    assert close_fences(text) == closed


# --- budget ---------------------------------------------------------------------------------------


def test_what_does_not_fit_is_cut_and_counted() -> None:
    wiki = [chunk("a", "а" * 100), chunk("b", "б" * 100), chunk("c", "в" * 100)]
    cut = made(wiki, ["a", "b", "c"], tokens=340)
    assert [len(text) for text in texts(cut)] == [100, 100]
    assert (cut.left_out, cut.shortened) == (1, 0)


def test_the_first_passage_is_always_there_however_small_the_budget() -> None:
    (passage,) = made([chunk("a", "слово " * 100)], ["a"], tokens=1).passages
    assert passage.shortened and passage.text.endswith("…") and len(passage.text) < 70


def test_no_passage_takes_more_than_half_of_the_budget_from_the_others() -> None:
    wiki = [chunk("a", "а" * 900), chunk("b", "б" * 100)]
    cut = made(wiki, ["a", "b"], tokens=600)
    assert [passage.shortened for passage in cut.passages] == [True, False]
    assert len(cut.passages[0].text) <= 300


def test_of_a_long_section_the_part_that_was_found_is_kept_with_its_neighbours() -> None:
    wiki = parts("a", *(f"часть {number} " + "x" * 100 + "\n" for number in range(9)))
    (passage,) = made(wiki, ["a#6"], tokens=400).passages
    assert (passage.part, passage.chunk_ids, passage.shortened) == ((6, 8, 9), ("a#5", "a#6", "a#7"), True)


def test_no_more_passages_than_the_setting_says() -> None:
    wiki = [chunk(name, f"текст {name}") for name in "abcde"]
    cut = made(wiki, list("abcde"), count=2)
    assert (texts(cut), cut.left_out) == (["текст a", "текст b"], 3)


# --- what was judged and its siblings ----------------------------------------------------------------------


def judged(wiki: Sequence[Chunk], found: Sequence[str], *, tokens: int, **more: Any) -> Cut:
    """As ``made``, of candidates that the model found relevant."""
    kit = kit_of(wiki)
    by_id = {each.id: each for each in wiki}
    candidates = [Candidate(by_id[name], 10.0 - place, verdict="yes") for place, name in enumerate(found)]
    chosen = PassagesSettings(tokens=MANY)
    return make_passages(candidates, RIGHTS, reader=kit.reader, count=len, settings=chosen, tokens=tokens, **more)


def ids(cut: Cut) -> list[tuple[str, ...]]:
    return [passage.chunk_ids for passage in cut.passages]


LIST = parts("a", *(f"строка {number} " + "x" * 90 + "\n" for number in range(30)))
OTHERS = [chunk(name, name * 100) for name in "bcd"]


def test_every_relevant_fragment_has_room_before_any_sibling() -> None:
    assert ids(judged([*LIST, *OTHERS], ["a#9", "b", "c", "d"], tokens=750)) == [("a#9",), ("b",), ("c",), ("d",)]


def test_what_is_left_goes_to_the_neighbours_the_nearest_first() -> None:
    assert ids(judged([*LIST, *OTHERS], ["a#9", "b"], tokens=600)) == [("a#8", "a#9", "a#10"), ("b",)]


def test_a_row_of_a_long_list_does_not_bring_the_list_but_says_how_the_page_begins() -> None:
    [passage] = judged(LIST, ["a#9"], tokens=MANY).passages
    assert passage.chunk_ids == ("a#0", "a#7", "a#8", "a#9", "a#10", "a#11")
    assert GAP in passage.text and passage.shortened


def test_where_the_whole_list_is_asked_for_it_is_read_as_far_as_there_is_room() -> None:
    assert ids(judged(LIST, ["a#9"], tokens=MANY, wide=True)) == [tuple(f"a#{number}" for number in range(22))]


def test_a_small_one_takes_the_room_that_a_long_one_leaves_and_the_long_one_is_cut_into_the_rest() -> None:
    wiki = [chunk("a", "а" * 100), chunk("b", "б" * 290), chunk("c", "в" * 50)]
    cut = judged(wiki, ["a", "b", "c"], tokens=480)
    assert [(passage.page_id, len(passage.text), passage.shortened) for passage in cut.passages] == [
        ("a", 100, False),
        ("b", 140, True),
        ("c", 50, False),
    ]


def test_two_relevant_rows_of_one_list_are_both_kept() -> None:
    assert ids(judged(LIST, ["a#9", "a#20"], tokens=350)) == [("a#9",), ("a#20",)]


def test_links_into_the_wiki_are_words_for_the_model_and_others_keep_their_address() -> None:
    assert as_read("[`f`](/f) и [два\nслова](x.md)", "") == "`f` и два\nслова"
    text = "[проект](/ru/a) [форма](https://forms.example.com/1) ![рис](/p.png) `[a](/b)` [почта](mailto:a@b.c)"
    own = "[стр](https://wiki.example.com/x?y=(1))"
    assert as_read(f"{text} {own}", "https://wiki.example.com/z") == (
        "проект [форма](https://forms.example.com/1) ![рис](/p.png) `[a](/b)` [почта](mailto:a@b.c) стр"
    )


@pytest.mark.parametrize(
    ("text", "tokens", "short"),
    [
        ("один\nдва\nтри\nчетыре", 14, "один\nдва\nтри\n…"),
        ("```\nab\ncd\nef\n```", 8, "```\nab\n…\n```"),
        ("abc", 10, "abc\n…"),
    ],
)
def test_a_text_is_shortened_at_the_end_of_a_line(text: str, tokens: int, short: str) -> None:
    assert shorten(text, tokens, len) == short


def test_half_of_the_text_keeps_the_numbers() -> None:
    cut = made([chunk("a", "а" * 100), chunk("b", "б" * 100), chunk("c", "в" * 100)], ["a", "b", "c"])
    fewer = halve(cut.passages, len)
    assert [(passage.number, len(passage.text)) for passage in fewer] == [(1, 100)]
    assert [passage.number for passage in halve(cut.passages[:1], len)] == [1]


# --- copies and editions --------------------------------------------------------------------------

RULES = "Деньги возвращают отправителю за три рабочих дня со дня заявления, комиссию удерживают всегда. "
OTHER = "Деньги возвращают отправителю за десять рабочих дней со дня заявления, комиссию не удерживают никогда. "
WORDS = "Отправитель пишет заявление кассиру, тот передаёт бумагу контролёру смены, контролёр сверяет паспорт."
LONG, LONG_10 = (f"{WORDS} Деньги возвращают за {days} рабочих дней." for days in (3, 10))
LONG_NOT = LONG.replace("возвращают", "не возвращают")


def test_a_copy_is_dropped_and_the_newer_one_leads() -> None:
    wiki = [
        chunk("old", RULES * 3, title="Возврат", updated="2023-01-01"),
        chunk("new", RULES * 3, title="Возврат денег", updated="2025-01-01"),
    ]
    (passage,) = made(wiki, ["old", "new"]).passages
    assert (passage.page_id, passage.note) == ("new", None)


def test_an_earlier_edition_stands_behind_the_newer_and_says_so() -> None:
    wiki = [
        chunk("old", OTHER, title="Регламент возврата 2023"),
        chunk("new", RULES, title="Регламент возврата 2025"),
        chunk("x", "Совсем другое."),
    ]
    cut = made(wiki, ["old", "x", "new"])
    assert [(passage.page_id, passage.note) for passage in cut.passages] == [
        ("new", None),
        ("x", None),
        ("old", PassageNote("older", 1)),
    ]


def test_nearly_the_same_text_with_another_number_is_kept_and_says_so() -> None:
    wiki = [chunk("new", LONG, title="Турция"), chunk("old", LONG_10, title="Казахстан", updated="2024-01-01")]
    cut = made(wiki, ["old", "new"])
    assert [(passage.page_id, passage.note) for passage in cut.passages] == [
        ("old", PassageNote("differs", 2)),
        ("new", None),
    ]


def test_of_three_editions_each_names_the_newest() -> None:
    wiki = [chunk(year, f"{RULES} {year}", title=f"Р {year}") for year in ("2023", "2024", "2025")]
    cut = made(wiki, ["2023", "2024", "2025"])
    notes = [(passage.page_id, passage.note) for passage in cut.passages]
    assert notes == [("2025", None), ("2024", PassageNote("older", 1)), ("2023", PassageNote("older", 1))]


def test_an_edition_names_the_section_that_it_is_an_edition_of() -> None:
    wiki = [
        chunk("new#0", "Кому возвращают.", title="Р 2025", headings=("Кому",)),
        chunk("new#5", RULES, title="Р 2025", headings=("Срок",)),
        chunk("old#5", OTHER, title="Р 2023", headings=("Срок",)),
    ]
    cut = made(wiki, ["new#0", "new#5", "old#5"])
    assert [passage.note for passage in cut.passages] == [None, None, PassageNote("older", 2)]


def test_an_edition_whose_newer_one_found_no_room_says_nothing() -> None:
    wiki = [chunk("a", "а" * 50), chunk("new", RULES, title="Р 2025"), chunk("old", OTHER, title="Р 2023")]
    cut = made(wiki, ["a", "old", "new"], count=2)
    assert [(passage.page_id, passage.note) for passage in cut.passages] == [("a", None), ("new", None)]


def passage(page: str, text: str, title: str, updated: str = "", headings: tuple[str, ...] = ()) -> Passage:
    return Passage(0, page, title, (), headings, "", updated, text, (page,))


@pytest.mark.parametrize(
    ("one", "other", "twins"),
    [
        (passage("1", RULES, "Р 2023"), passage("2", OTHER, "Р 2025"), [(1, 0, "edition")]),
        (passage("1", RULES, "Р (архив)", "2022"), passage("2", OTHER, "Р", "2024"), [(1, 0, "edition")]),
        (passage("1", RULES * 2, "А", "2024"), passage("2", RULES * 2, "Б", "2023"), [(0, 1, "copy")]),
        (passage("1", RULES, "Адаптация: аналитик"), passage("2", OTHER, "Адаптация: инженер"), []),
        (passage("1", RULES, "Р 2025", headings=("Срок",)), passage("2", OTHER, "Р 2023", headings=("Кому",)), []),
        (passage("1", RULES, "Р"), passage("1", RULES, "Р"), []),
        (passage("1", LONG, "Возврат", "2024"), passage("2", LONG_10, "Возврат", "2025"), [(1, 0, "edition")]),
        (passage("1", LONG, "Возврат", "2025"), passage("2", LONG_10, "Возврат: правила", "2024"), [(0, 1, "edition")]),
        (passage("1", LONG, "Возврат", "2025"), passage("2", LONG_NOT, "Возврат", "2024"), [(0, 1, "edition")]),
        (passage("1", LONG, "Турция", "2025"), passage("2", LONG_10, "Казахстан", "2024"), [(0, 1, "differs")]),
        (passage("1", LONG + " Ещё.", "Возврат", "2025"), passage("2", LONG, "Возврат", "2024"), [(0, 1, "copy")]),
        (passage("1", RULES, "Р (архив)", "2025"), passage("2", OTHER, "Р", "2024"), [(1, 0, "edition")]),
        (passage("1", RULES, "Р v2", "2024"), passage("2", OTHER, "Р v10", "2023"), [(1, 0, "edition")]),
        (passage("1", "", "А"), passage("2", "", "Б"), []),
    ],
)
def test_copies_and_editions_are_told_from_twins_in_name_only(
    one: Passage, other: Passage, twins: list[tuple[int, int, str]]
) -> None:
    assert [(twin.newer, twin.older, twin.kind) for twin in find_twins([one, other])] == twins


def test_pages_are_fetched_once_and_all_in_one_call() -> None:
    fetched: list[list[str]] = []

    class Noting(MemoryReader):
        def chunks_of(self, page_ids: Collection[str], rights: Rights) -> dict[str, list[Chunk]]:
            fetched.append(list(page_ids))
            return super().chunks_of(page_ids, rights)

    wiki = [*parts("a", "один", "два"), chunk("b", "бэ"), *parts("c", "три", "четыре")]
    kit = kit_of(wiki)
    reader = Noting(wiki, embedder=kit.embedder, sparse=kit.sparse)
    found = [Candidate(each, 1.0) for each in wiki]
    make_passages(found, RIGHTS, reader=reader, count=len, settings=PassagesSettings(), tokens=MANY)
    assert fetched == [["a", "c"]]


def test_what_is_shown_is_numbered_without_gaps_and_notes_follow() -> None:
    wiki = [chunk("a", "а"), chunk("b", "б"), chunk("c", "в")]
    one, two, three = made(wiki, [each.id for each in wiki]).passages
    three = replace(three, note=PassageNote("older", 2))
    again = renumbered([one, two, three], [one, three])
    assert [(passage.number, passage.page_id, passage.note) for passage in again] == [
        (1, "a", None),
        (2, "c", PassageNote("older", 3)),
        (3, "b", None),
    ]


def test_what_was_judged_relevant_may_take_more_than_neighbours_fill_up() -> None:
    wiki = [*parts("a", *(f"{'а' * 199}{number}" for number in range(6))), *(chunk(name, "б" * 200) for name in "bcd")]
    by_id = {each.id: each for each in wiki}
    settings = PassagesSettings(tokens=560, relevant_tokens=1800)

    def shown(*verdicts: tuple[str, Verdict]) -> list[str]:
        found = [Candidate(by_id[name], 1.0, verdict=verdict) for name, verdict in verdicts]
        cut = make_passages(found, RIGHTS, reader=kit_of(wiki).reader, count=len, settings=settings)
        return [chunk_id for passage in cut.passages for chunk_id in passage.chunk_ids]

    assert shown(("a#2", "yes")) == ["a#2", "a#3"]
    assert shown(("b", "unanswered"), ("c", "unanswered"), ("d", "unanswered")) == ["b", "c"]
    assert shown(("b", "yes"), ("c", "yes"), ("d", "yes"), ("a#2", "yes")) == ["b", "c", "d", "a#2"]


def test_for_a_list_the_page_around_what_is_relevant_comes_too_its_own_section_first() -> None:
    wiki = [
        *parts("a", "раз", "два", "три"),
        *(chunk(f"a#{number}", f"раздел {number}", headings=(str(number),)) for number in (3, 4, 5)),
    ]
    by_id = {each.id: each for each in wiki}

    def shown(tokens: int, verdict: Verdict | None, *, wide: bool) -> list[str]:
        found = [Candidate(by_id["a#2"], 1.0, verdict=verdict)]
        settings = PassagesSettings(tokens=60, relevant_tokens=MANY)
        reader = kit_of(wiki).reader
        cut = make_passages(found, RIGHTS, reader=reader, count=len, settings=settings, tokens=tokens, wide=wide)
        return [chunk_id for passage in cut.passages for chunk_id in passage.chunk_ids]

    head = 40 + len("База знаний / Страница a / Раздел")
    assert shown(MANY, "yes", wide=True) == [f"a#{number}" for number in range(6)]
    assert shown(head + 9, "yes", wide=True) == ["a#0", "a#1", "a#2"]
    assert shown(MANY, "yes", wide=False) == ["a#2"]
    assert "a#3" not in shown(MANY, None, wide=True)
