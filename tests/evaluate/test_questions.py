"""Question files: reading, checking, dividing, and how gold snippets are compared with text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from askwiki.commands import eval as eval_command
from askwiki.commands.command_line import main
from askwiki.data import Page
from askwiki.errors import SourceError
from askwiki.evaluate.check import faults_of
from askwiki.evaluate.matching import normalise, same_page
from askwiki.evaluate.questions import GoldPlace, load_questions, read_questions
from askwiki.evaluate.split import divide, write_split

GOOD: dict[str, Any] = {
    "id": "q1",
    "kind": "fact",
    "question": "Сколько дней идёт перевод?",
    "answer": "Три дня.",
    "answerable": True,
    "gold": [{"page": "101", "heading": "Сроки", "snippet": "Перевод идёт **три дня**."}],
}
UNANSWERABLE: dict[str, Any] = {
    "id": "q2",
    "kind": "unanswerable",
    "question": "Кто директор?",
    "answerable": False,
    "gold": [],
}
WIKI = [Page("101", "PAY", "Перевод", ("Платежи",), "", "## Сроки\n\nПеревод\nидёт *три дня*.\n")]


def write(folder: Path, *lines: dict[str, Any] | str) -> Path:
    file = folder / "questions.jsonl"
    texts = (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    file.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return file


def test_a_question_is_read_with_history_alternatives_and_split(tmp_path: Path) -> None:
    line = {
        **GOOD,
        "history": [{"role": "user", "content": "Что такое перевод?"}, {"role": "assistant", "content": "Платёж."}],
        "split": "holdout",
        "gold": [{"page": "101", "snippet": "три", "alt": [{"page": "102", "snippet": "3"}]}],
    }
    (question,) = load_questions(write(tmp_path, line))
    assert [turn.content for turn in question.turns] == ["Что такое перевод?", "Платёж.", GOOD["question"]]
    assert question.gold[0].places == (GoldPlace("101", "три"), GoldPlace("102", "3"))
    assert (question.split, question.line) == ("holdout", 1)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "Line 1 is not valid JSON: Expecting property name enclosed in double quotes at column 2."),
        ("[]", "Line 1: must be a JSON object."),
        ({**GOOD, "id": ""}, "Line 1: id must be a text and not be empty."),
        ({**GOOD, "question": 5}, "Line 1: question must be a text and not be empty."),
        ({**GOOD, "answerable": "yes"}, "Line 1: answerable must be true or false."),
        ({**GOOD, "gold": "101"}, "Line 1: gold must be a list."),
        ({**GOOD, "gold": ["101"]}, "Line 1: every entry of gold must be an object with page and snippet."),
        ({**GOOD, "gold": [{"page": "101"}]}, "Line 1: snippet must be a text and not be empty."),
        ({**GOOD, "split": "train"}, "Line 1: split is 'train'; it must be tuning or holdout, or be left out."),
        (
            {**GOOD, "history": [{"role": "bot", "content": ""}]},
            "Line 1: every entry of history must be an object with role (user, assistant, system) and content.",
        ),
    ],
)
def test_a_fault_of_form_is_one_sentence_with_its_line(tmp_path: Path, line: Any, fault: str) -> None:
    file = write(tmp_path, line)
    assert read_questions(file) == ([], [fault])
    with pytest.raises(SourceError, match="cannot be used"):
        load_questions(file)


def test_a_file_that_is_missing_or_empty_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read: No such file"):
        load_questions(tmp_path / "none.jsonl")
    with pytest.raises(SourceError, match="holds no questions"):
        load_questions(write(tmp_path, ""))
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe{}")
    with pytest.raises(SourceError, match="not UTF-8 text"):
        load_questions(tmp_path / "bytes.jsonl")


def test_a_line_separator_inside_a_text_does_not_end_the_line(tmp_path: Path) -> None:
    (question,) = load_questions(write(tmp_path, {**GOOD, "answer": "раз\u2028два"}))
    assert question.answer == "раз\u2028два"


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ([{**GOOD, "gold": []}], "Line 1 (q1): it is answerable but names no gold page."),
        ([{**GOOD, "answer": " "}], "Line 1 (q1): it is answerable but has no reference answer."),
        ([{**GOOD, "answerable": False}], "Line 1 (q1): it is unanswerable but names gold pages."),
        ([{**GOOD, "kind": "followup"}], "Line 1 (q1): its kind is followup but it has no history."),
        (
            [{**GOOD, "gold": [{"page": "101", "snippet": "| --- | **"}]}],
            "Line 1 (q1): a snippet of 101 holds nothing but marks and white space.",
        ),
        ([GOOD, {**GOOD, "question": "Иное?"}], "Line 2: the id q1 is already that of line 1."),
        (
            [GOOD, {**GOOD, "id": "q9", "question": "сколько  дней идёт перевод"}],
            "Line 2 (q9): it asks the same as q1 in line 1.",
        ),
        (
            [{**GOOD, "split": "tuning"}, {**GOOD, "id": "q9", "question": "Иное?", "split": "holdout"}],
            "101 is asked for by q1 (tuning) and by q9 (holdout).",
        ),
    ],
)
def test_a_fault_of_content_is_one_sentence(tmp_path: Path, lines: list[dict[str, Any]], fault: str) -> None:
    questions, of_form = read_questions(write(tmp_path, *lines))
    assert of_form == []
    assert faults_of(questions) == [fault]


def test_gold_must_be_in_the_wiki(tmp_path: Path) -> None:
    absent = {**GOOD, "id": "q3", "question": "А?", "gold": [{"page": "999", "snippet": "три дня"}]}
    changed = {**GOOD, "id": "q4", "question": "Б?", "gold": [{"page": "101", "snippet": "четыре дня"}]}
    questions = load_questions(write(tmp_path, GOOD, UNANSWERABLE, absent, changed))
    assert faults_of(questions, WIKI) == [
        "Line 3 (q3): there is no page 999.",
        "Line 4 (q4): 101 does not hold the snippet «четыре дня».",
    ]


def test_check_prints_faults_alone_on_stdout_and_exits_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, GOOD, {**UNANSWERABLE, "id": "q1"})
    assert eval_command.run(options("check", str(file))) == 1
    assert capsys.readouterr().out == "Line 2: the id q1 is already that of line 1.\n"
    assert eval_command.run(options("check", str(write(tmp_path, GOOD, UNANSWERABLE)))) == 0
    assert capsys.readouterr().out == ""


def options(*words: str) -> Any:
    import argparse

    parser = argparse.ArgumentParser()
    eval_command.arguments(parser)
    return parser.parse_args(words)


@pytest.mark.parametrize(
    ("snippet", "text"),
    [
        ("три дня", "идёт **три\n   дня** всегда"),
        ("| Срок | 3 дня |", "|Срок|**3** дня|"),
        ("см. [Тарифы](https://wiki.example.com/x) банка", "см. [Тарифы](other.html) банка"),
        ("- один\n- два", "* один\n* два"),
        ("- один\n- два", "- один - два"),
        ("`ko1_ssd`", "ko1\\_ssd"),
        ("раз<br>два", "раз<br/>два"),
        ("й", "й"),  # composed against decomposed
    ],
)
def test_white_space_and_marks_do_not_hide_a_snippet(snippet: str, text: str) -> None:
    assert normalise(snippet) in normalise(text)


def test_words_and_numbers_are_compared_as_they_are() -> None:
    assert normalise("От **3** до 5 — `RF/2`") == "От3до5—RF/2"
    assert normalise("идёт два дня") not in normalise("идёт три дня")
    assert normalise("минус5") not in normalise("минус-5")


@pytest.mark.parametrize(
    ("page", "same"),
    [
        ("65601", True),
        ("Платежи / Сроки/Перевод", True),
        ("платежи/сроки/перевод", True),
        ("Perevod_65601.html", True),
        ("Перевод", False),  # the path tells near twins apart
        ("6560", False),
        ("Perevod_165601.html", False),
    ],
)
def test_a_gold_page_is_an_id_or_a_path(page: str, same: bool) -> None:
    assert same_page(page, page_id="65601", title="Перевод", path=("Платежи", "Сроки")) is same


def test_questions_that_share_a_page_stay_on_one_side(tmp_path: Path) -> None:
    def on(number: int, *pages: str) -> dict[str, Any]:
        gold = [{"page": page, "snippet": "x"} for page in pages]
        return {**GOOD, "id": f"q{number}", "question": f"{number}?", "gold": gold}

    lines = [on(1, "a", "b"), on(2, "b", "c"), on(3, "c"), *(on(10 + n, f"p{n}") for n in range(200))]
    file = write(tmp_path, *lines)
    divided = divide(load_questions(file), 0.4)
    assert len({question.split for question in divided[:3]}) == 1
    assert sum(question.split == "holdout" for question in divided[3:]) == 82
    assert [q.split for q in divide(load_questions(file)[50:], 0.4)] == [q.split for q in divided[50:]]
    assert faults_of(divided) == []


def test_the_split_is_kept_in_the_file_and_nothing_else_changes(tmp_path: Path) -> None:
    line = {**GOOD, "note": "от редактора"}
    file, target = write(tmp_path, line, {**UNANSWERABLE, "split": "tuning"}), tmp_path / "divided.jsonl"
    write_split(file, divide(load_questions(file), 1.0), target)
    assert [json.loads(text) for text in target.read_text(encoding="utf-8").splitlines()] == [
        {**line, "split": "holdout"},
        {**UNANSWERABLE, "split": "tuning"},
    ]


@pytest.mark.parametrize(
    "order",
    [("check", "FILE", "--source", "SOURCE"), ("check", "--source", "SOURCE", "FILE")],
    ids=["behind", "between"],
)
def test_options_may_stand_behind_the_words_or_between_them(
    tmp_path: Path, order: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wiki").mkdir()
    (tmp_path / "wiki" / "101").with_suffix(".md").write_text("# Перевод\n\nПеревод идёт три дня.\n", encoding="utf-8")
    file = write(tmp_path, {**GOOD, "gold": [{"page": "101.md", "snippet": "пять дней"}]})
    filled = {"FILE": str(file), "SOURCE": f"markdown:{tmp_path / 'wiki'}"}
    assert (
        main("askwiki", "askwiki.commands", {"eval": "measure"}, ["eval", *(filled.get(word, word) for word in order)])
        == 1
    )
    assert capsys.readouterr().out == "Line 1 (q1): 101.md does not hold the snippet «пять дней».\n"


def test_what_no_command_knows_is_still_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main("askwiki", "askwiki.commands", {"eval": "measure"}, ["eval", "check", str(tmp_path / "q"), "--sauce", "x"])
