"""The numbers of a full run, worked out by hand, and the report that shows them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from askwiki.evaluate.losses import lost_at, lost_questions, recall_by_stage
from askwiki.evaluate.outcome import Grade, Hit, Link
from askwiki.evaluate.reports.answers import answers_report
from askwiki.evaluate.reports.merging import merge
from askwiki.evaluate.reports.numbers import retrieval_report
from askwiki.evaluate.reports.parts import interval, parts_of
from askwiki.evaluate.reports.plots import GRADE_COLOURS, Bar, bars, lines, stacked
from askwiki.evaluate.reports.review import HumanGrade
from askwiki.evaluate.reports.write import read_report, say_in, write_reports
from askwiki.evaluate.statistics import wilson
from askwiki.texts import load_texts
from tests.support.outcomes import graded, hit, outcome

TEXTS = load_texts(Path(__file__).resolve().parents[2] / "config" / "texts")
NOTHING: tuple[Hit, ...] = (hit("9"),)
WRONG_LINK = (Link("Иное", "https://wiki.example.com/9"),)


def stages(found: bool, gated: bool, judged: bool, prompt: bool, cited: bool) -> dict[str, tuple[Hit, ...]]:
    names = ("found", "gated", "judged", "prompt", "cited")
    kept = zip(names, (found, gated, judged, prompt, cited), strict=True)
    return {name: (hit("1", 0),) if there else NOTHING for name, there in kept}


RUN = [
    graded("good", 2, 2, split="tuning"),
    graded("unclear", 1, 2, kind="howto", split="holdout"),
    graded("unfound", 0, 0, stages=stages(False, False, False, False, False), links=WRONG_LINK, split="holdout"),
    graded("filtered", 0, 0, stages=stages(True, True, False, False, False), refused="nothing_found", links=()),
    graded("misread", 0, None, stages=stages(True, True, True, True, False), links=WRONG_LINK),
    graded("none", 2, 2, kind="unanswerable", answerable=False, entries=0, stages={}, refused="insufficient", links=()),
    graded("invented", 0, 0, kind="unanswerable", answerable=False, entries=0, stages={}, language_kept=False),
    outcome("broken", fault="The model is down.", stages={}, grades=(), seconds={}, tokens={}, answer="", links=()),
]


def test_grades_have_wilson_intervals_overall_by_kind_and_by_split() -> None:
    report = answers_report(RUN, {}, "q.jsonl")
    zero = wilson(4, 7)
    assert report["grades"]["n"] == 7
    assert report["grades"]["0"] == {"value": zero.value, "low": zero.low, "high": zero.high, "n": 7}
    assert report["grades"]["1"]["value"] == pytest.approx(1 / 7)
    assert report["grades"]["not_0"]["value"] == pytest.approx(3 / 7)
    assert report["by_kind"]["howto"]["grades"]["1"]["value"] == 1.0
    assert report["by_kind"]["unanswerable"]["questions"] == 2
    assert report["by_split"]["holdout"]["grades"]["0"]["value"] == 0.5
    assert report["by_split"]["tuning"]["grades"]["2"]["n"] == 1
    assert report["questions"] == {"all": 8, "answerable": 6, "failed": 1}


def test_the_judge_is_measured_by_a_second_judging_and_its_failures_are_no_grades() -> None:
    assert answers_report(RUN, {}, "")["judge"]["changed"]["value"] == pytest.approx(1 / 6)
    assert answers_report(RUN, {}, "")["judge"]["failed"] == 1
    failed = graded("x", None)
    assert answers_report([failed], {}, "")["grades"]["n"] == 0


def test_recall_falls_stage_by_stage_and_each_failed_question_has_its_place() -> None:
    assert recall_by_stage(RUN) == {"found": 0.8, "gated": 0.8, "judged": 0.6, "prompt": 0.6, "cited": 0.4}
    assert lost_questions(RUN) == {
        "found": ["unfound"],
        "gated": [],
        "judged": ["filtered"],
        "prompt": [],
        "answer": ["misread", "invented"],
    }
    assert lost_at(graded("two", 0, entries=2, stages={"found": (hit("1", 0, 1),), "gated": (hit("1", 0),)})) == "gated"


def test_without_a_judge_a_question_has_failed_when_its_text_did_not_reach_the_prompt() -> None:
    fine = outcome("fine", grades=())
    lost = outcome("lost", grades=(), stages=stages(True, False, False, False, False))
    refused = outcome("refused", grades=(), refused="insufficient")
    assert lost_questions([fine, lost, refused])["gated"] == ["lost"]
    assert lost_questions([fine, lost, refused])["answer"] == ["refused"]


def test_links_are_counted_over_answers_that_are_no_refusals() -> None:
    links = answers_report(RUN, {}, "")["links"]
    assert links["with_link"]["n"] == 5
    assert links["with_link"]["value"] == 1.0
    assert links["with_right_page"] | {"low": 0, "high": 0} == {"value": 0.5, "low": 0, "high": 0, "n": 4}
    assert links["right_page"]["value"] == links["right_section"]["value"] == 0.5
    assert links["missing"] == ["unfound", "misread"]
    assert links["supported_sentences"] == 1.0


def test_refusals_are_right_wrong_or_missed() -> None:
    refusals = answers_report(RUN, {}, "")["refusals"]
    assert refusals["right_ids"] == ["none"]
    assert refusals["missed_ids"] == ["invented"]
    assert refusals["wrong_ids"] == ["filtered"]
    assert [refusals[case]["value"] for case in ("right", "missed", "wrong")] == [0.5, 0.5, 0.2]


def test_language_tokens_and_what_did_not_work_are_counted() -> None:
    run = [*RUN, outcome("slow", degraded=("The reranker is down.",), tokens={"answer": 300, "condense": 5})]
    report = answers_report(run, {}, "")
    assert report["language"]["value"] == pytest.approx(5 / 6)
    assert report["degraded"] == {"The reranker is down.": 1}
    assert report["tokens"]["answer"] == {"sum": 1000, "p50": 100.0, "p95": pytest.approx(230.0)}
    assert report["tokens"]["condense"]["sum"] == 5


def test_people_and_judge_are_compared() -> None:
    merged = merge([HumanGrade("good", 2), HumanGrade("unclear", 1), HumanGrade("unfound", 2, "годится")], RUN)
    human = answers_report(RUN, {}, "", merged)["human"]
    assert human["grades"]["2"]["value"] == pytest.approx(2 / 3)
    assert human["agreement"]["value"] == pytest.approx(2 / 3)
    assert human["weighted_kappa"]["value"] == pytest.approx(0.0)
    assert human["disagreements"] == [
        {"id": "unfound", "judge": 0, "reason": "потому что", "human": 2, "comment": "годится"}
    ]


@pytest.mark.parametrize("language", ["ru", "en"])
def test_the_report_is_written_in_three_forms_with_its_plots(tmp_path: Path, language: str) -> None:
    merged = merge([HumanGrade("good", 2), HumanGrade("unfound", 2)], RUN)
    report = answers_report(RUN, {"schema": 1}, "q.jsonl", merged)
    write_reports(tmp_path, report, texts=TEXTS, language=language)
    assert read_report(tmp_path) == json.loads(json.dumps(report))
    markdown = (tmp_path / "report.md").read_text(encoding="utf-8")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    for name in ("grades", "human", "stages", "seconds"):
        assert f"](plots/{name}.svg)" in markdown
        ElementTree.parse(tmp_path / "plots" / f"{name}.svg")
    assert html.count("<svg") == 4
    assert "http-equiv" in html
    assert TEXTS.say("report_stage_judged", language) in markdown
    assert "| unfound | 0 | потому что | 2 |  |" in markdown


def test_a_retrieval_report_has_only_what_it_measured() -> None:
    report = retrieval_report([outcome("q1")], {}, "q.jsonl")
    report["unseen"] = {"hidden": ["65620"], "missing": []}
    titles = [part.title for part in parts_of(report, say_in(TEXTS, "ru"))]
    assert titles == ["", "Поиск", "Время этапов", "Настройки"]
    assert "не видно спрашивающему — 1" in parts_of(report, say_in(TEXTS, "ru"))[0].text


def test_an_interval_reads_as_percent_and_without_observations_as_a_dash() -> None:
    assert interval({"value": 0.9, "low": 0.851, "high": 0.934, "n": 160}) == "90.0 % [85.1–93.4]"
    assert interval({"value": 0.5, "low": None, "high": None, "n": 2}, percent=False) == "0.50"
    assert interval({"value": None, "low": None, "high": None, "n": 0}) == "–"


def test_plots_are_valid_svg_and_escape_what_they_are_given() -> None:
    drawn = [
        bars("a < b", [Bar("<x>", 0.5, 0.4, 0.6), Bar("y", 0.0)], maximum=1),
        stacked("t", {"all": {"0": 0.25, "2": 0.75}}, GRADE_COLOURS),
        lines("t", ["2026-W48", "2026-W49"], {"all": [0.5, 1.0], "PAY": [None, 0.0]}),
        bars("empty", []),
    ]
    for svg in drawn:
        ElementTree.fromstring(svg)
    assert "&lt;x&gt;" in drawn[0]
    assert drawn[1].count("75%") == 1
    assert 'points="60.0,134.0 680.0,34.0"' in drawn[2]
    assert 'points="680.0,234.0"' in drawn[2]


def test_a_grade_keeps_its_reason() -> None:
    assert outcome("q").grades == (Grade(2, "Верно."),)
