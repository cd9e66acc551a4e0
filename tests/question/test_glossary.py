"""The company's own words: found in any form, expanded for the search, read again when edited."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from askwiki.errors import SettingsError
from askwiki.language.glossary import Glossary, GlossaryTerm, load_glossary

BOOK = GlossaryTerm("ТК", "телефонная книга: номера и должности", ("телефонка",))
DAY = GlossaryTerm("ОД", "операционный день", ("опердень",))
SERVICE = GlossaryTerm("ТО", "техническое обслуживание", (), exact=True)
GLOSSARY = Glossary([BOOK, DAY, SERVICE])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("где посмотреть ТК?", (BOOK,)),
        ("номер в телефонной книге", (BOOK,)),
        ("звоню по телефонке", (BOOK,)),
        ("В ТК-шке нет номера", (BOOK,)),
        ("в тк нет номера", (BOOK,)),
        ("телефонная станция и записная книга", ()),
        ("когда закрывают ОД, смотри телефонную книгу", (DAY, BOOK)),
        ("в операционном дне и в опердне", (DAY,)),
        ("то есть это так", ()),
        ("расписание ТО лифтов", (SERVICE,)),
        ("", ()),
        ("🙂 <b>SELECT</b>", ()),
    ],
)
def test_terms_are_found_in_any_form_in_the_order_of_the_text(text: str, found: tuple[GlossaryTerm, ...]) -> None:
    assert GLOSSARY.found(text) == found


@pytest.mark.parametrize(
    ("text", "expansions"),
    [
        ("номер из ТК", ("телефонка", "телефонная книга")),
        ("номер из телефонной книги", ("ТК", "телефонка")),
        ("просто номер", ()),
    ],
)
def test_expansions_are_the_forms_that_the_text_does_not_have(text: str, expansions: tuple[str, ...]) -> None:
    assert GLOSSARY.expansions(text) == expansions


def test_a_prompt_gets_one_line_for_each_found_term() -> None:
    assert GLOSSARY.lines("ТК и ОД") == (
        "- ТК (телефонка) — телефонная книга: номера и должности\n- ОД (опердень) — операционный день"
    )


def test_a_long_meaning_is_an_explanation_and_no_form() -> None:
    assert GlossaryTerm("X", "то чем мы пользуемся каждый день", ()).forms == ("X",)


def write(file: Path, text: str, *, stamp: int) -> None:
    file.write_text(text, encoding="utf-8")
    os.utime(file, (stamp, stamp))


def test_an_edited_file_is_read_again_and_a_broken_one_keeps_the_last_state(tmp_path: Path) -> None:
    file, clock = tmp_path / "glossary.yaml", [0.0]
    write(file, "- {term: ТК, means: телефонная книга}", stamp=1)
    glossary = load_glossary(file, clock=lambda: clock[0])
    assert [term.means for term in glossary.found("ТК")] == ["телефонная книга"]
    write(file, "- {term: ТК, means: Трудовой кодекс}", stamp=2)
    assert [term.means for term in glossary.found("ТК")] == ["телефонная книга"]
    clock[0] = 60.0
    assert [term.means for term in glossary.found("ТК")] == ["Трудовой кодекс"]
    write(file, "- {term: ТК", stamp=3)
    clock[0] = 120.0
    assert [term.means for term in glossary.found("ТК")] == ["Трудовой кодекс"]


def test_no_file_is_an_empty_glossary(tmp_path: Path) -> None:
    assert load_glossary(tmp_path / "none.yaml").found("ТК") == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("term: ТК", "must be a list"),
        ("- {term: ТК}", "entry 1: an entry needs a term and what it means"),
        ("- {term: ТК, means: книга, spelling: x}", "entry 1: unknown spelling; allowed: also, exact, means, term"),
        ("- {term: ТК, means: книга, also: x}", "entry 1: also must be a list"),
        ("- [", "cannot be read"),
    ],
)
def test_a_wrong_file_is_refused_with_the_entry(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "glossary.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=sentence):
        load_glossary(file)


@pytest.mark.parametrize("text", ["За сколько дней?", "почти готово", "Шлюз лёг", "Долг продают"])
def test_a_word_that_only_looks_alike_is_no_term(text: str) -> None:
    near = [
        GlossaryTerm("заём", "ссуда"),
        GlossaryTerm("почта", "письма"),
        GlossaryTerm("логи", "журнал"),
        GlossaryTerm("прод", "боевая среда", exact=True),
    ]
    assert Glossary(near).found(text) == ()


@pytest.mark.parametrize("text", ["- [", "term: ТК", "- {term: ТК}", "\x00"])
def test_a_file_that_is_broken_at_the_start_is_as_one_that_breaks_later(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    file, clock = tmp_path / "glossary.yaml", [0.0]
    file.write_text(text, encoding="utf-8")
    glossary = load_glossary(file, clock=lambda: clock[0], strict=False)
    assert glossary.found("ТК") == ()
    assert "glossary.yaml" in caplog.text
    file.write_text("- {term: ТК, means: Трудовой кодекс}", encoding="utf-8")
    clock[0] += 60
    assert [term.term for term in glossary.found("ТК")] == ["ТК"]
