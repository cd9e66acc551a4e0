"""The sheets for people: written, read back in every form Excel gives them, merged and compared with the judge."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from askwiki.errors import SourceError
from askwiki.evaluate.outcome import Grade, Link
from askwiki.evaluate.reports.merging import Disagreement, both_graded, disagreements, merge
from askwiki.evaluate.reports.review import COLUMNS, HumanGrade, read_sheet, write_sheet
from askwiki.evaluate.reports.review_page import review_page
from askwiki.evaluate.reports.write import write_review
from askwiki.texts import load_texts
from tests.support.outcomes import graded, outcome

TEXTS = load_texts(Path(__file__).resolve().parents[2] / "config" / "texts")


def fill(file: Path, grades: dict[str, str], *, encoding: str = "utf-8-sig", delimiter: str = ";") -> None:
    """What a person does in Excel: grades in the column ``human``, saved in some form."""
    with file.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    with file.open("w", encoding=encoding, newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, delimiter=delimiter)
        writer.writeheader()
        writer.writerows({**row, "human": grades.get(row["id"], ""), "comment": "моё мнение"} for row in rows)


def test_the_sheet_opens_in_a_russian_excel(tmp_path: Path) -> None:
    write_sheet(tmp_path / "review.csv", [outcome("q1", answer='Три "дня";\nне больше')], "ru")
    content = (tmp_path / "review.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbfid;kind;question;reference;answer;sources;judge;reason;human;comment\r\n")
    with (tmp_path / "review.csv").open(encoding="utf-8-sig", newline="") as stream:
        (row,) = csv.DictReader(stream, delimiter=";")
    assert row == {
        "id": "q1", "kind": "fact", "question": "Вопрос q1?", "reference": "Три дня.",
        "answer": 'Три "дня";\nне больше', "sources": "Перевод › Сроки https://wiki.example.com/1",
        "judge": "2", "reason": "Верно.", "human": "", "comment": "",
    }  # fmt: skip


def test_in_english_the_list_separator_is_a_comma(tmp_path: Path) -> None:
    write_sheet(tmp_path / "review.csv", [], "en")
    assert (tmp_path / "review.csv").read_text(encoding="utf-8-sig").strip() == ",".join(COLUMNS)


def test_a_cell_is_never_a_formula(tmp_path: Path) -> None:
    write_sheet(tmp_path / "review.csv", [outcome("q1", answer="=HYPERLINK(1)"), outcome("q2", answer="- раз")], "ru")
    with (tmp_path / "review.csv").open(encoding="utf-8-sig", newline="") as stream:
        assert [row["answer"] for row in csv.DictReader(stream, delimiter=";")] == ["'=HYPERLINK(1)", "'- раз"]


@pytest.mark.parametrize(
    ("encoding", "delimiter"), [("utf-8-sig", ";"), ("utf-8", ","), ("cp1251", ";"), ("utf-16", "\t")]
)
def test_every_form_that_excel_saves_is_read_back(tmp_path: Path, encoding: str, delimiter: str) -> None:
    file = tmp_path / "review.csv"
    write_sheet(file, [graded("q1", 2), graded("q2", 0), graded("q3", None)], "ru")
    fill(file, {"q1": "2", "q2": "1,0"}, encoding=encoding, delimiter=delimiter)
    sheet = read_sheet(file)
    assert sheet.grades == (
        HumanGrade("q1", 2, "моё мнение", "review.csv"),
        HumanGrade("q2", 1, "моё мнение", "review.csv"),
    )
    assert sheet.faults == ()
    assert [(each.id, each.grade, each.question) for each in sheet.outcomes] == [
        ("q1", 2, "Вопрос q1?"),
        ("q2", 0, "Вопрос q2?"),
        ("q3", None, "Вопрос q3?"),
    ]


def test_a_grade_that_is_none_is_named_and_not_counted(tmp_path: Path) -> None:
    file = tmp_path / "review.csv"
    write_sheet(file, [graded("q1", 2), graded("q2", 0)], "ru")
    fill(file, {"q1": "хорошо", "q2": "3"})
    sheet = read_sheet(file)
    assert sheet.grades == ()
    assert sheet.faults == (
        f"{file}, row 2 (q1): the grade is 'хорошо', not 0, 1 or 2.",
        f"{file}, row 3 (q2): the grade is '3', not 0, 1 or 2.",
    )


def test_what_the_page_saves_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "review.json"
    saved = [{"id": "q1", "human": 0, "comment": "не то"}, {"id": "q2", "human": True, "comment": ""}]
    file.write_text(json.dumps({"name": "run", "grades": saved}), encoding="utf-8")
    sheet = read_sheet(file)
    assert sheet.grades == (HumanGrade("q1", 0, "не то", "review.json"),)
    assert sheet.faults == (f"{file} (q2): the grade is True, not 0, 1 or 2.",)


@pytest.mark.parametrize("content", ["", "a;b\n1;2\n", "{}", '{"grades": [1]}'])
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "sheet"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(SourceError, match=r"is no review sheet|is not what the review page saves"):
        read_sheet(file)
    with pytest.raises(SourceError, match="cannot be read: No such file"):
        read_sheet(tmp_path / "none.csv")


def test_grades_of_several_people_are_merged_and_disputed_ones_wait() -> None:
    outcomes = [graded("q1", 2), graded("q2", 0), graded("q3", 1), graded("q4", None)]
    anna = [HumanGrade("q1", 2, file="anna.csv"), HumanGrade("q2", 2, "верно", "anna.csv"), HumanGrade("q3", 1)]
    ivan = [HumanGrade("q1", 2, file="ivan.csv"), HumanGrade("q3", 0, file="ivan.csv"), HumanGrade("q9", 1)]
    merged = merge([*anna, *ivan], outcomes)
    assert {name: grade.grade for name, grade in merged.grades.items()} == {"q1": 2, "q2": 2}
    assert [each.grade for each in merged.disputed["q3"]] == [1, 0]
    assert merged.unknown == ("q9",)
    assert both_graded(outcomes, merged) == ([2, 0], [2, 2])
    assert disagreements(outcomes, merged) == [Disagreement("q2", 0, "потому что", 2, "верно")]


def test_the_farthest_disagreement_comes_first() -> None:
    outcomes = [graded("q1", 1), graded("q2", 0)]
    merged = merge([HumanGrade("q1", 2), HumanGrade("q2", 2)], outcomes)
    assert [each.id for each in disagreements(outcomes, merged)] == ["q2", "q1"]


def test_a_sheet_with_grades_is_moved_aside_and_one_without_is_replaced(tmp_path: Path) -> None:
    outcomes = [graded("q1", 2)]
    write_review(tmp_path, outcomes, texts=TEXTS, language="ru")
    write_review(tmp_path, outcomes, texts=TEXTS, language="ru")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["review.csv", "review.html"]
    fill(tmp_path / "review.csv", {"q1": "0"})
    write_review(tmp_path, outcomes, texts=TEXTS, language="ru")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["review.1.csv", "review.csv", "review.html"]
    assert read_sheet(tmp_path / "review.1.csv").grades[0].grade == 0


@pytest.mark.parametrize("language", ["ru", "en"])
def test_the_page_needs_nothing_from_the_net_and_no_answer_can_break_it(language: str) -> None:
    evil = outcome(
        "q1", answer="</script><script>alert(1)</script>", links=(Link("x", "javascript:alert(1)"),), grades=()
    )
    page = review_page([evil], name="run", texts=TEXTS, language=language)
    assert "<script>alert" not in page
    assert re.findall(r"(?:src|href)=\"?https?:", page) == []
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["answers"][0]["answer"] == "</script><script>alert(1)</script>"
    assert json.loads(data[1])["answers"][0]["judge"] is None


def test_a_failed_judgement_leaves_the_judge_column_empty(tmp_path: Path) -> None:
    write_sheet(tmp_path / "review.csv", [outcome("q1", grades=(Grade(None, "The model timed out."),))], "ru")
    (read,) = read_sheet(tmp_path / "review.csv").outcomes
    assert read.grade is None
